package network

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocni "github.com/containerd/go-cni"
	"github.com/cri-o/ocicni/pkg/ocicni"
	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"

	"github.com/kubectl-dra/kubectl-dra/inspect/node/cni"
)

var seed = flag.Uint64("seed", 37, "makes other directories")

// plugin answers with the versions that it supports, as all plugins do, and does nothing else.
const plugin = `#!/bin/sh
echo '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}'
`

// TestRuntimes has random directories, of which containerd and CRI-O must load what is said.
func TestRuntimes(t *testing.T) {
	logrus.SetOutput(io.Discard)
	bin := t.TempDir()
	for _, name := range []string{"bridge", "tuning", "portmap"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(plugin), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	count := 150
	if os.Getenv("KUBECTL_DRA_TESTS") == "all" {
		count = 2000
	}
	r := rand.New(rand.NewPCG(*seed, *seed))
	outcomes := map[string]int{}
	for i := range count {
		dir := t.TempDir()
		written := randomFiles(t, r, dir)
		most := r.IntN(4)
		ours, theirs := ourContainerd(t, dir, bin, most), containerd(t, dir, bin, most)
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%d: containerd with max_conf_num %d (-containerd +ours):\n%s\n%s", i, most, diff, written)
		}
		outcomes["containerd "+fmt.Sprint(min(len(theirs), 2))]++
		named := []string{"", "", "n1", "n2"}[r.IntN(4)]
		ours, theirs = ourCRIO(t, dir, bin, named), crio(t, dir, bin, named)
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%d: CRI-O with cni_default_network %q (-CRI-O +ours):\n%s\n%s", i, named, diff, written)
		}
		outcomes["CRI-O "+fmt.Sprint(min(len(theirs), 1))]++
	}
	t.Log(outcomes)
	for _, what := range []string{"containerd 0", "containerd 1", "containerd 2", "CRI-O 0", "CRI-O 1"} {
		if outcomes[what] < count/20 {
			t.Errorf("only %d of %d directories have the outcome %s", outcomes[what], count, what)
		}
	}
}

// randomFiles writes network configurations, good and bad ones, and returns them.
func randomFiles(t *testing.T, r *rand.Rand, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"00-a.conf", "05-b.conflist", "10-c.json", "20-d.conflist", "30-e.conf", "50-f.conflist", "60-g.conflist.bak"} {
		if r.IntN(2) == 0 {
			continue
		}
		content := randomFile(t, r, strings.HasSuffix(name, "list") == (r.IntN(10) > 0))
		fmt.Fprintln(&all, name, content)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(3) == 0 {
		separate := filepath.Join(dir, "n1")
		if err := os.Mkdir(separate, 0o700); err != nil {
			t.Fatal(err)
		}
		content := []string{`{"type":"tuning"}`, `{"type":"absent"}`, `{`}[min(r.IntN(6), 2)]
		fmt.Fprintln(&all, "n1/10-t.conf", content)
		if err := os.WriteFile(filepath.Join(separate, "10-t.conf"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func randomFile(t *testing.T, r *rand.Rand, list bool) string {
	t.Helper()
	pick := func(from ...any) any { return from[r.IntN(len(from))] }
	if r.IntN(12) == 0 {
		return pick("", "{", "[]", "null", `{"name":"n1","plugins":{}}`).(string)
	}
	one := func() map[string]any {
		out := map[string]any{"type": pick("bridge", "bridge", "bridge", "tuning", "portmap", "absent")}
		switch r.IntN(12) {
		case 0:
			delete(out, "type")
		case 1:
			out["capabilities"] = pick(map[string]any{"portMappings": true}, map[string]any{"mac": "yes"})
		}
		return out
	}
	out := one()
	if list {
		var plugins []any
		for range r.IntN(8) % 3 {
			plugins = append(plugins, one())
		}
		out = map[string]any{"plugins": plugins}
		if r.IntN(8) == 0 {
			delete(out, "plugins")
		}
		if r.IntN(4) == 0 {
			out["loadOnlyInlinedPlugins"] = pick(true, false, "true", "maybe", 3)
		}
		if r.IntN(6) == 0 {
			out["cniVersions"] = pick([]any{"0.4.0", "1.1.0"}, []any{"1.0.0"}, []any{}, []any{"x"}, []any{3})
		}
		for _, flag := range []string{"disableCheck", "disableGC"} {
			if r.IntN(10) == 0 {
				out[flag] = pick(true, "false", "no", 1)
			}
		}
	}
	if r.IntN(12) > 0 {
		out["cniVersion"] = pick("0.3.1", "0.4.0", "1.0.0", "1.0.0", "1.1.0", "")
	}
	if r.IntN(12) > 0 {
		out["name"] = pick("n1", "n1", "n2", "n3", "n4", "", 3)
	}
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// said is a network with its plugins.
func said(name, version string, plugins []string) string {
	return strings.Join(append([]string{name, version}, plugins...), " ")
}

// ourNetworks are the networks in use according to us.
func ourNetworks(t *testing.T, o cni.Options) []string {
	t.Helper()
	v, err := cni.Read(o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range v.Used() {
		var plugins []string
		for _, p := range f.Chain {
			plugins = append(plugins, p.Type)
		}
		out = append(out, said(f.Network, f.Version, plugins))
	}
	return out
}

func ourContainerd(t *testing.T, dir, bin string, most int) []string {
	t.Helper()
	if most == 0 {
		most = -1 // all
	}
	return ourNetworks(t, cni.Options{Dir: dir, BinDirs: []string{bin}, Runtime: cni.Containerd, MaxNetworks: most})
}

// containerd are the networks that containerd has loaded.
func containerd(t *testing.T, dir, bin string, most int) []string {
	t.Helper()
	library, err := gocni.New(gocni.WithPluginConfDir(dir), gocni.WithPluginDir([]string{bin}), gocni.WithPluginMaxConfNum(most))
	if err != nil {
		t.Fatal(err)
	}
	if err := library.Load(gocni.WithDefaultConf); err != nil {
		return nil
	}
	var out []string
	for _, n := range library.GetConfig().Networks {
		var plugins []string
		for _, p := range n.Config.Plugins {
			plugins = append(plugins, p.Network.Type)
		}
		out = append(out, said(n.Config.Name, n.Config.CNIVersion, plugins))
	}
	return out
}

func ourCRIO(t *testing.T, dir, bin, named string) []string {
	t.Helper()
	var out []string
	for _, n := range ourNetworks(t, cni.Options{Dir: dir, BinDirs: []string{bin}, Runtime: cni.CRIO, DefaultNetwork: named}) {
		out = append(out, strings.SplitN(n, " ", 2)[0])
	}
	return out
}

// crio is the name of the network that pods get from CRI-O.
func crio(t *testing.T, dir, bin, named string) []string {
	t.Helper()
	library, err := ocicni.InitCNINoInotify(named, dir, t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = library.Shutdown() }()
	if err := library.Status(); err != nil {
		return nil // there is no default network
	}
	return slices.DeleteFunc([]string{library.GetDefaultNetworkName()}, func(s string) bool { return s == "" })
}
