package cni

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/containernetworking/cni/libcni"
)

// Where runtimes look unless they are configured otherwise.
const (
	DefaultDir    = "/etc/cni/net.d"
	DefaultBinDir = "/opt/cni/bin"
)

// maxFile is how large a file may be, in bytes. Those of real networks have a few thousand.
const maxFile = 1 << 20

// Runtime is a container runtime.
type Runtime string

// The runtimes that are told apart.
const (
	Containerd Runtime = "containerd"
	CRIO       Runtime = "cri-o"
	Unknown    Runtime = ""
)

// RuntimeOf reads status.nodeInfo.containerRuntimeVersion of a Node, such as "containerd://2.1.4".
func RuntimeOf(version string) Runtime {
	switch name, _, _ := strings.Cut(version, "://"); name {
	case "containerd":
		return Containerd
	case "cri-o":
		return CRIO
	}
	return Unknown
}

// Options say where to look, and how the runtime is configured.
type Options struct {
	// Dir is the directory with configurations; "" means DefaultDir. BinDirs are those with plugins; none
	// means DefaultBinDir.
	Dir     string
	BinDirs []string
	Runtime Runtime
	// MaxNetworks is containerd's max_conf_num: how many files it takes. 0 stands for 1, which is its
	// default, and a negative number for all.
	MaxNetworks int
	// DefaultNetwork is CRI-O's cni_default_network.
	DefaultNetwork string
}

// View is what there is of network configurations on a node.
type View struct {
	Options
	// Files are those that the runtime looks at, in its order.
	Files []File
	// Ignored are the names of other files in the directory, such as backups, sorted.
	Ignored []string
	// Error is why pods get no network, or "".
	Error string
}

// File is a network configuration.
type File struct {
	// Name is that of the file in the directory.
	Name string `json:"name"`
	// Network is the name of the network, and Version the version of the specification that is used: the
	// highest of those that the file offers and the library knows.
	Network string `json:"network"`
	Version string `json:"version"`
	// Single says that it is the configuration of one plugin, as only older versions of the specification
	// have it.
	Single bool `json:"-"`
	// DisableCheck and DisableGC: the network does without these verbs of the specification.
	DisableCheck, DisableGC bool `json:"-"`
	// Used says that the runtime uses it. Why says why not, or why it does.
	Used bool   `json:"used"`
	Why  string `json:"why"`
	// Broken is why it cannot be used, or "".
	Broken string `json:"broken,omitempty"`
	// Chain are the plugins in the order in which they are run.
	Chain []Plugin `json:"plugins"`
}

// Plugin is a plugin of a chain.
type Plugin struct {
	Type string `json:"type"`
	// Capabilities are those that its configuration declares, sorted: the runtime hands it what pods want of
	// them.
	Capabilities []string `json:"capabilities"`
	// Path is the file that would be run. It is empty if there is none in the directories.
	Path string `json:"path"`
	// IPAM is the type of the plugin that gives it addresses, or "", and IPAMPath the file that it would run.
	// That is empty if there is none in the directories.
	IPAM     string `json:"ipam,omitempty"`
	IPAMPath string `json:"ipamPath,omitempty"`
	// Delegates are the networks that Multus hands pods on to: their names, or the files that describe them.
	Delegates []string `json:"delegates,omitempty"`
	// Inline says that it stands in the file itself, and not in the directory of the network (specification
	// 1.1).
	Inline bool `json:"-"`
}

// Has reports whether the plugin declares a capability.
func (p *Plugin) Has(capability string) bool { return slices.Contains(p.Capabilities, capability) }

// Read looks at the directory as the runtime does. The error says that the directory could not be read; that
// it is empty or does not exist is told in the View.
func Read(opts Options) (*View, error) {
	if opts.Dir == "" {
		opts.Dir = DefaultDir
	}
	if len(opts.BinDirs) == 0 {
		opts.BinDirs = []string{DefaultBinDir}
	}
	v := &View{Options: opts}
	paths, err := libcni.ConfFiles(opts.Dir, []string{".conf", ".conflist", ".json"})
	if err != nil {
		return nil, fmt.Errorf("reading the directory of CNI configurations: %w", err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		v.Files = append(v.Files, v.load(path))
	}
	v.ignored(paths)
	v.choose()
	return v, nil
}

// ignored notes the files that no runtime looks at. paths are the others, sorted.
func (v *View) ignored(paths []string) {
	entries, err := os.ReadDir(v.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if _, looked := slices.BinarySearch(paths, filepath.Join(v.Dir, e.Name())); !looked && !e.IsDir() {
			v.Ignored = append(v.Ignored, e.Name())
		}
	}
}

// load reads a file.
func (v *View) load(path string) File {
	f := File{Name: filepath.Base(path), Chain: []Plugin{}, Single: filepath.Ext(path) != ".conflist"}
	if err := v.parse(path, &f); err != nil {
		f.Broken = err.Error()
	}
	return f
}

func (v *View) parse(path string, f *File) error {
	data, err := readBounded(path)
	if err != nil {
		return err
	}
	if f.Single {
		conf, err := libcni.NetworkPluginConfFromBytes(data)
		if err != nil {
			return err
		}
		f.Network, f.Version = conf.Network.Name, conf.Network.CNIVersion
		f.Chain = []Plugin{v.plugin(conf, true)}
		return nil
	}
	list, err := libcni.NetworkConfFromBytes(data)
	if err != nil {
		return err
	}
	f.Network, f.Version, f.DisableCheck, f.DisableGC = list.Name, list.CNIVersion, list.DisableCheck, list.DisableGC
	for _, p := range list.Plugins {
		f.Chain = append(f.Chain, v.plugin(p, true))
	}
	if !list.LoadOnlyInlinedPlugins {
		if err := v.separate(list.Name, f); err != nil {
			return err
		}
	}
	if len(f.Chain) == 0 {
		return errors.New("no plugins: neither in the file nor in the directory of the network")
	}
	return nil
}

// separate adds the plugins of the directory that has the name of the network. For a network without a name
// the library takes the directory of the file itself.
func (v *View) separate(network string, f *File) error {
	if network != "" && network != filepath.Base(network) || network == ".." {
		return nil // no name of a directory
	}
	paths, err := libcni.ConfFiles(filepath.Join(v.Dir, network), []string{".conf"})
	if err != nil {
		return fmt.Errorf("reading the plugins of network %s: %w", network, err)
	}
	for _, path := range paths {
		data, err := readBounded(path)
		if err != nil {
			return err
		}
		conf, err := libcni.NetworkPluginConfFromBytes(data)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		f.Chain = append(f.Chain, v.plugin(conf, false))
	}
	return nil
}

// readBounded reads a file of a size that it may have. A pipe is not waited for.
func readBounded(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return data, err
}

// plugin looks at the configuration of a plugin.
func (v *View) plugin(conf *libcni.PluginConfig, inline bool) Plugin {
	p := Plugin{Type: conf.Network.Type, Capabilities: []string{}, Inline: inline, IPAM: conf.Network.IPAM.Type}
	for name, on := range conf.Network.Capabilities {
		if on {
			p.Capabilities = append(p.Capabilities, name)
		}
	}
	slices.Sort(p.Capabilities)
	p.Path, p.IPAMPath = v.find(p.Type), v.find(p.IPAM)
	if p.Type == "multus" || p.Type == "multus-shim" {
		p.Delegates = delegatesOf(conf.Bytes)
	}
	return p
}

// find looks for a plugin as the library does, which runs nothing outside of the directories.
func (v *View) find(name string) string {
	if name == "" || name != filepath.Base(name) {
		return ""
	}
	for _, dir := range v.BinDirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// delegatesOf are the networks that Multus calls: the thin plugin has them in its configuration, the thick
// one has the file of the first or what its daemon knows.
func delegatesOf(data []byte) []string {
	var conf struct {
		ClusterNetwork string
		Delegates      []struct{ Name, Type string }
	}
	if json.Unmarshal(data, &conf) != nil {
		return nil
	}
	var out []string
	if conf.ClusterNetwork != "" {
		out = append(out, conf.ClusterNetwork)
	}
	for _, d := range conf.Delegates {
		if name := cmp.Or(d.Name, d.Type); name != "" {
			out = append(out, name)
		}
	}
	return out
}
