package cni

import (
	"fmt"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/utils"
)

// choose marks the files that the runtime uses, and says of all others why it does not.
func (v *View) choose() {
	if len(v.Files) == 0 {
		v.Error = "there is no network configuration in " + v.Dir
		return
	}
	switch v.Runtime {
	case CRIO:
		v.chooseGood()
	case Containerd:
		v.chooseFirst("containerd")
	default:
		v.chooseFirst("containerd, which it is assumed to be,")
	}
	if used := v.Used(); v.Error == "" && len(used) > 0 {
		for _, f := range used {
			if utils.ValidateNetworkName(f.Network) != nil {
				v.Error = fmt.Sprintf("the network of %s has no name that is allowed (%q), so that no pod can join it", f.Name, f.Network)
				return
			}
			if missing := f.Missing(); len(missing) > 0 {
				v.Error = fmt.Sprintf("%s needs plugins that are not installed: %s", f.Name, strings.Join(missing, ", "))
				return
			}
		}
	}
}

// Used are the files in use, in the order of the networks.
func (v *View) Used() []*File {
	var out []*File
	for i := range v.Files {
		if v.Files[i].Used {
			out = append(out, &v.Files[i])
		}
	}
	return out
}

// Missing are the types of plugins of the chain that are not installed, each once.
func (f *File) Missing() []string {
	var out []string
	for i := range f.Chain {
		if p := &f.Chain[i]; p.Path == "" && !slices.Contains(out, p.Type) {
			out = append(out, p.Type)
		}
	}
	return out
}

// chooseFirst chooses as containerd does: the first files, and none if one of them is broken.
func (v *View) chooseFirst(runtime string) {
	wanted := v.MaxNetworks
	switch {
	case wanted == 0:
		wanted = 1
	case wanted < 0:
		wanted = len(v.Files)
	}
	for i := range v.Files {
		f := &v.Files[i]
		switch {
		case v.Error != "":
			f.Why = "an earlier file is broken, at which containerd stops"
		case i >= wanted && wanted == 1:
			f.Why = "it is not the first by name"
		case i >= wanted:
			f.Why = fmt.Sprintf("it is not among the first %d by name", wanted)
		case f.Broken != "":
			f.Why = "it is broken"
			v.Error = fmt.Sprintf("%s is broken, and %s does not pass over it: %s", f.Name, runtime, f.Broken)
		default:
			f.Used, f.Why = true, "it is the first by name"
			if i > 0 {
				f.Why = fmt.Sprintf("it is number %d by name, of %d that are used", i+1, wanted)
			}
		}
	}
	if v.Error != "" { // it loads all or nothing
		for i := range v.Files {
			if f := &v.Files[i]; f.Used {
				f.Used, f.Why = false, "another file is broken, and containerd takes all or none"
			}
		}
	}
}

// chooseGood chooses as CRI-O does: the network that is named, or the first whose file and plugins are all
// right.
func (v *View) chooseGood() {
	seen := map[string]string{}
	chosen := false
	for i := range v.Files {
		f := &v.Files[i]
		if f.Network == "" && f.Broken == "" {
			f.Network = f.Name // so does CRI-O
		}
		missing := f.Missing()
		switch {
		case f.Broken != "":
			f.Why = "it is broken, so CRI-O passes over it"
		case len(missing) > 0:
			f.Why = "plugins are not installed, so CRI-O passes over it: " + strings.Join(missing, ", ")
		case seen[f.Network] != "":
			f.Why = "the network has the name of that of " + seen[f.Network]
		case v.DefaultNetwork != "" && f.Network != v.DefaultNetwork:
			f.Why = "cni_default_network is " + v.DefaultNetwork
		case chosen:
			f.Why = "it is not the first that can be used; pods can ask for it by its name"
		case v.DefaultNetwork != "":
			f.Used, f.Why = true, "cni_default_network names it"
		default:
			f.Used, f.Why = true, "it is the first that can be used"
		}
		if f.Broken == "" && len(missing) == 0 && seen[f.Network] == "" {
			seen[f.Network] = f.Name
		}
		chosen = chosen || f.Used
	}
	switch {
	case chosen:
	case v.DefaultNetwork != "":
		v.Error = fmt.Sprintf("there is no usable network %s, which cni_default_network names", v.DefaultNetwork)
	default:
		v.Error = "none of the files can be used"
	}
}
