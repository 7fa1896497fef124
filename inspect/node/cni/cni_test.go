package cni

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/containernetworking/cni/libcni"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// node is a directory with configurations and one with plugins.
type node struct{ dir, bin string }

// installed has the configurations of projects under the names that they have on nodes, and the plugins that
// these need.
func installed(t *testing.T, files ...string) node {
	t.Helper()
	n := node{t.TempDir(), t.TempDir()}
	for _, file := range files {
		name, content, written := strings.Cut(file, "=")
		source, named := strings.CutPrefix(content, "@")
		if !written || named {
			data, err := os.ReadFile(filepath.Join("testdata", "real", cmp.Or(source, name)))
			if err != nil {
				t.Fatal(err)
			}
			content = string(data)
		}
		path := filepath.Join(n.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n.install(t, "bridge", "host-local", "loopback", "portmap", "ptp", "bandwidth", "flannel", "aws-cni", "egress-cni", "tuning", "cilium-cni", "calico", "calico-ipam", "multus", "multus-shim", "ovn-k8s-cni-overlay")
	return n
}

func (n node) install(t *testing.T, plugins ...string) {
	t.Helper()
	for _, p := range plugins {
		if err := os.WriteFile(filepath.Join(n.bin, p), []byte("#!/bin/sh\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// said is a view in words.
func said(v *View) string {
	var b strings.Builder
	for i := range v.Files {
		f := &v.Files[i]
		mark := "-"
		if f.Used {
			mark = "+"
		}
		var chain []string
		for j := range f.Chain {
			p := &f.Chain[j]
			text := p.Type
			if len(p.Capabilities) > 0 {
				text += fmt.Sprint(p.Capabilities)
			}
			if p.Path == "" {
				text += "!"
			}
			if !p.Inline {
				text += "'"
			}
			if p.IPAM != "" {
				text += "/" + p.IPAM
				if p.IPAMPath == "" {
					text += "!"
				}
			}
			if len(p.Delegates) > 0 {
				text += fmt.Sprint(">", p.Delegates)
			}
			chain = append(chain, text)
		}
		fmt.Fprintf(&b, "%s %s %s %s %s: %s\n", mark, f.Name, f.Network, f.Version, strings.Join(chain, ","), f.Why)
	}
	if len(v.Ignored) > 0 {
		fmt.Fprintf(&b, "ignored %v\n", v.Ignored)
	}
	if v.Error != "" {
		fmt.Fprintf(&b, "error: %s\n", v.Error)
	}
	return b.String()
}

// The configurations that projects write, as files of testdata/real under the names that they have on nodes.
const (
	cilium        = "05-cilium.conflist"
	calico        = "10-calico.conflist"
	ovn           = "10-ovn-kubernetes.conf"
	multus        = "00-multus.conf=@00-multus-thin.conf"
	newMultus     = "00-multus.conflist=@00-multus-thin.conflist"
	thickMultus   = "00-multus.conf=@00-multus-thick.conf"
	ciliumPortmap = "05-cilium.conflist=@05-cilium-portmap.conflist"
)

// TestRead checks which file each runtime takes, and why not the others.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		opts  Options
		want  string
	}{
		"nothing": {nil, Options{Runtime: Containerd}, "error: there is no network configuration in DIR\n"},
		"containerd takes the first": {
			[]string{cilium, "10-flannel.conflist", "10-aws.conflist", "100-crio-bridge.conflist.cilium_bak=x"}, Options{Runtime: Containerd},
			"+ 05-cilium.conflist cilium 1.0.0 cilium-cni: it is the first by name\n" +
				"- 10-aws.conflist aws-cni 0.4.0 aws-cni[io.kubernetes.cri.pod-annotations],egress-cni/host-local,portmap[portMappings]: it is not the first by name\n" +
				"- 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: it is not the first by name\n" +
				"ignored [100-crio-bridge.conflist.cilium_bak]\n",
		},
		"Multus comes first": {
			[]string{multus, calico}, Options{Runtime: Containerd},
			"+ 00-multus.conf multus-cni-network 0.3.1 multus[bandwidth portMappings]>[k8s-pod-network]: it is the first by name\n" +
				"- 10-calico.conflist k8s-pod-network 0.3.1 calico/calico-ipam,portmap[portMappings],bandwidth[bandwidth]: it is not the first by name\n",
		},
		"Multus for Cilium, with what it wrote before": {
			[]string{thickMultus, newMultus, cilium}, Options{Runtime: CRIO},
			"+ 00-multus.conf multus-cni-network 0.3.1 multus-shim[bandwidth portMappings]>[/host/etc/cni/net.d/10-calico.conflist]: it is the first that can be used\n" +
				"- 00-multus.conflist multus-cni-network 1.0.0 multus>[cilium]: the network has the name of that of 00-multus.conf\n" +
				"- 05-cilium.conflist cilium 1.0.0 cilium-cni: it is not the first that can be used; pods can ask for it by its name\n",
		},
		"Cilium with portmap": {
			[]string{ciliumPortmap}, Options{Runtime: Containerd},
			"+ 05-cilium.conflist portmap 1.0.0 cilium-cni,portmap[portMappings]: it is the first by name\n",
		},
		"OVN-Kubernetes": {
			[]string{ovn}, Options{Runtime: CRIO},
			"+ 10-ovn-kubernetes.conf ovn-kubernetes 0.4.0 ovn-k8s-cni-overlay: it is the first that can be used\n",
		},
		"the example of the specification": {
			[]string{"10-spec-dbnet.conflist"}, Options{Runtime: CRIO},
			"+ 10-spec-dbnet.conflist dbnet 1.1.0 bridge/host-local,tuning[mac],portmap[portMappings]: it is the first that can be used\n",
		},
		"a plugin for addresses that is not installed": {
			[]string{`10-x.conflist={"cniVersion":"1.0.0","name":"x","plugins":[{"type":"bridge","ipam":{"type":"whereabouts"}}]}`}, Options{Runtime: CRIO},
			"+ 10-x.conflist x 1.0.0 bridge/whereabouts!: it is the first that can be used\n",
		},
		"containerd takes two": {
			[]string{"10-flannel.conflist", calico, ovn}, Options{Runtime: Containerd, MaxNetworks: 2},
			"+ 10-calico.conflist k8s-pod-network 0.3.1 calico/calico-ipam,portmap[portMappings],bandwidth[bandwidth]: it is the first by name\n" +
				"+ 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: it is number 2 by name, of 2 that are used\n" +
				"- 10-ovn-kubernetes.conf ovn-kubernetes 0.4.0 ovn-k8s-cni-overlay: it is not among the first 2 by name\n",
		},
		"containerd stops at a broken file": {
			[]string{"01-broken.conflist={", "10-flannel.conflist"}, Options{Runtime: Containerd},
			"- 01-broken.conflist   : it is broken\n" +
				"- 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: an earlier file is broken, at which containerd stops\n" +
				"error: 01-broken.conflist is broken, and containerd does not pass over it: error parsing configuration list: unexpected end of JSON input\n",
		},
		"CRI-O passes over a broken file": {
			[]string{"01-broken.conflist={", "10-flannel.conflist", "99-loopback.conflist"}, Options{Runtime: CRIO},
			"- 01-broken.conflist   : it is broken, so CRI-O passes over it\n" +
				"+ 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: it is the first that can be used\n" +
				"- 99-loopback.conflist loopback 1.0.0 loopback: it is not the first that can be used; pods can ask for it by its name\n",
		},
		"CRI-O passes over what is not installed": {
			[]string{`05-x.conflist={"cniVersion":"1.0.0","name":"x","plugins":[{"type":"absent"}]}`, "10-crio-bridge.conflist"}, Options{Runtime: CRIO},
			"- 05-x.conflist x 1.0.0 absent!: plugins are not installed, so CRI-O passes over it: absent\n" +
				"+ 10-crio-bridge.conflist crio 1.0.0 bridge/host-local: it is the first that can be used\n",
		},
		"containerd does not ask whether it is installed": {
			[]string{`05-x.conflist={"cniVersion":"1.0.0","name":"x","plugins":[{"type":"absent"},{"type":"../evil"}]}`, "10-crio-bridge.conflist"}, Options{Runtime: Containerd},
			"+ 05-x.conflist x 1.0.0 absent!,../evil!: it is the first by name\n" +
				"- 10-crio-bridge.conflist crio 1.0.0 bridge/host-local: it is not the first by name\n" +
				"error: 05-x.conflist needs plugins that are not installed: absent, ../evil\n",
		},
		"CRI-O is told a name": {
			[]string{"10-flannel.conflist", "10-crio-bridge.conflist"}, Options{Runtime: CRIO, DefaultNetwork: "cbr0"},
			"- 10-crio-bridge.conflist crio 1.0.0 bridge/host-local: cni_default_network is cbr0\n" +
				"+ 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: cni_default_network names it\n",
		},
		"CRI-O is told a name that is not there": {
			[]string{"10-flannel.conflist"}, Options{Runtime: CRIO, DefaultNetwork: "cbr1"},
			"- 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: cni_default_network is cbr1\n" +
				"error: there is no usable network cbr1, which cni_default_network names\n",
		},
		"a list in a .conf": {
			[]string{`10-x.conf={"cniVersion":"1.0.0","name":"x","plugins":[{"type":"bridge"}]}`}, Options{Runtime: Containerd},
			"- 10-x.conf   : it is broken\nerror: 10-x.conf is broken, and containerd does not pass over it: error parsing configuration: missing 'type'\n",
		},
		"a plugin that only has IPAM": {
			[]string{"90-dranet-whereabouts.conf", "30-basic-ptp.json", "20-chained-ptp-bandwidth.conflist"}, Options{Runtime: CRIO},
			"+ 20-chained-ptp-bandwidth.conflist chained-ptp-bandwidth 0.3.1 ptp/host-local,bandwidth: it is the first that can be used\n" +
				"- 30-basic-ptp.json basic-ptp 0.3.0 ptp/host-local: it is not the first that can be used; pods can ask for it by its name\n" +
				"- 90-dranet-whereabouts.conf   : it is broken, so CRI-O passes over it\n",
		},
		"the specification 1.1": {
			[]string{
				`10-db.conflist={"cniVersion":"0.4.0","cniVersions":["0.4.0","1.1.0","9.9.9"],"name":"dbnet","disableCheck":true,"disableGC":"true"}`,
				`dbnet/10-bridge.conf={"type":"bridge"}`, `dbnet/20-tuning.conf={"type":"tuning","capabilities":{"mac":true,"ips":false}}`, `dbnet/30-ignored.json={"type":"x"}`,
			},
			Options{Runtime: Containerd},
			"+ 10-db.conflist dbnet 1.1.0 bridge',tuning[mac]': it is the first by name\n",
		},
		"only what stands in the file": {
			[]string{`10-db.conflist={"cniVersion":"1.1.0","name":"dbnet","loadOnlyInlinedPlugins":true,"plugins":[{"type":"bridge"}]}`, `dbnet/20-tuning.conf={"type":"tuning"}`},
			Options{Runtime: Containerd},
			"+ 10-db.conflist dbnet 1.1.0 bridge: it is the first by name\n",
		},
		"no plugins at all": {
			[]string{`10-db.conflist={"cniVersion":"1.1.0","name":"dbnet"}`}, Options{Runtime: CRIO},
			"- 10-db.conflist dbnet 1.1.0 : it is broken, so CRI-O passes over it\nerror: none of the files can be used\n",
		},
		"a name that leads out of the directory": {
			[]string{`10-db.conflist={"cniVersion":"1.1.0","name":"../..","plugins":[{"type":"bridge"}]}`}, Options{Runtime: Containerd},
			"+ 10-db.conflist ../.. 1.1.0 bridge: it is the first by name\n" +
				"error: the network of 10-db.conflist has no name that is allowed (\"../..\"), so that no pod can join it\n",
		},
		"without a name, for containerd": {
			[]string{`10-x.conf={"cniVersion":"1.0.0","type":"bridge"}`}, Options{Runtime: Containerd},
			"+ 10-x.conf  1.0.0 bridge: it is the first by name\nerror: the network of 10-x.conf has no name that is allowed (\"\"), so that no pod can join it\n",
		},
		"without a name, for CRI-O": {
			[]string{`10-x.conf={"cniVersion":"1.0.0","type":"bridge"}`, `20-y.conf={"cniVersion":"1.0.0","type":"tuning"}`}, Options{Runtime: CRIO},
			"+ 10-x.conf 10-x.conf 1.0.0 bridge: it is the first that can be used\n- 20-y.conf 20-y.conf 1.0.0 tuning: it is not the first that can be used; pods can ask for it by its name\n",
		},
		"a list without a name takes the directory itself": {
			[]string{`10-x.conflist={"cniVersion":"1.0.0","name":"","plugins":[{"type":"bridge"}]}`, `20-y.conf={"cniVersion":"1.0.0","name":"y","type":"tuning"}`}, Options{Runtime: CRIO},
			"+ 10-x.conflist 10-x.conflist 1.0.0 bridge,tuning': it is the first that can be used\n- 20-y.conf y 1.0.0 tuning: it is not the first that can be used; pods can ask for it by its name\n",
		},
		"an unknown runtime": {
			[]string{"10-flannel.conflist"}, Options{},
			"+ 10-flannel.conflist cbr0 1.0.0 flannel,portmap[portMappings]: it is the first by name\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := installed(t, test.files...)
			opts := test.opts
			opts.Dir, opts.BinDirs = n.dir, []string{"/nowhere", n.bin}
			v, err := Read(opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(said(v), n.dir, "DIR"); got != test.want {
				t.Errorf("\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestReadsAsTheLibrary compares what is read of each real list with what the CNI project's own functions
// load of it.
func TestReadsAsTheLibrary(t *testing.T) {
	n := installed(t, "10-flannel.conflist", "10-crio-bridge.conflist", "99-loopback.conflist", "20-chained-ptp-bandwidth.conflist", "10-aws.conflist", calico, ciliumPortmap, newMultus, "10-spec-dbnet.conflist")
	v, err := Read(Options{Dir: n.dir, BinDirs: []string{n.bin}, Runtime: Containerd})
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Files {
		f := &v.Files[i]
		list, err := libcni.NetworkConfFromFile(filepath.Join(n.dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, p := range list.Plugins {
			types = append(types, p.Network.Type)
		}
		var ours []string
		for _, p := range f.Chain {
			ours = append(ours, p.Type)
		}
		if list.Name != f.Network || list.CNIVersion != f.Version || !slices.Equal(types, ours) {
			t.Errorf("%s: %s %s %v, want %s %s %v", f.Name, f.Network, f.Version, ours, list.Name, list.CNIVersion, types)
		}
	}
}

// TestOddFiles checks that nothing in the directory makes reading hang, run out of memory or fail.
func TestOddFiles(t *testing.T) {
	n := installed(t, "10-flannel.conflist")
	if err := os.Symlink("/dev/zero", filepath.Join(n.dir, "00-endless.conflist")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nowhere", filepath.Join(n.dir, "01-dangling.conf")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(n.dir, "02-directory.conf"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.dir, "03-large.conflist"), make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := Read(Options{Dir: n.dir, BinDirs: []string{n.bin}, Runtime: CRIO})
	if err != nil {
		t.Fatal(err)
	}
	if used := v.Used(); len(used) != 1 || used[0].Name != "10-flannel.conflist" {
		t.Errorf("%s", said(v))
	}
	for name, want := range map[string]string{"00-endless.conflist": "no regular file", "01-dangling.conf": "no such file", "03-large.conflist": "larger than 1 MiB"} {
		if !slices.ContainsFunc(v.Files, func(f File) bool { return f.Name == name && strings.Contains(f.Broken, want) }) {
			t.Errorf("%s: %q is missing in %s", name, want, said(v))
		}
	}
	if _, err := Read(Options{Dir: filepath.Join(n.dir, "10-flannel.conflist")}); err == nil {
		t.Error("a file is no directory")
	}
}

// TestNeeds checks that what pods ask for is compared with what the chain in use declares.
func TestNeeds(t *testing.T) {
	pod := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
		change(p)
		return p
	}
	port := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	pods := []*corev1.Pod{
		pod("plain", func(*corev1.Pod) {}), pod("port", port),
		pod("host", func(p *corev1.Pod) { port(p); p.Spec.HostNetwork = true }),
		pod("ended", func(p *corev1.Pod) { port(p); p.Status.Phase = corev1.PodFailed }),
		pod("slow", func(p *corev1.Pod) { p.Annotations = map[string]string{"kubernetes.io/egress-bandwidth": "1M"} }),
	}
	for file, want := range map[string]string{
		calico:                "",
		cilium:                "portMappings [ml/port] bandwidth [ml/slow] ",
		"10-flannel.conflist": "bandwidth [ml/slow] ",
	} {
		n := installed(t, file)
		v, err := Read(Options{Dir: n.dir, BinDirs: []string{n.bin}, Runtime: Containerd})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, need := range v.Needs(pods) {
			got += fmt.Sprint(need.Capability, " ", need.Pods, " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", v.Files[0].Name, got, want)
		}
	}
}

// TestRemovedFlags reads arguments of kubelets as they stand in files and in the command line.
func TestRemovedFlags(t *testing.T) {
	for text, want := range map[string]string{
		`KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock --pod-infra-container-image=x"`: "",
		`KUBELET_KUBEADM_ARGS="--network-plugin=cni --cni-bin-dir=/opt/cni/bin --v=2"`:                                             "--network-plugin --cni-bin-dir ",
		"KUBELET_EXTRA_ARGS=--network-plugin=kubenet --network-plugin kubenet":                                                     "--network-plugin ",
		"/usr/bin/kubelet --config x network-plugin cni-bin-dir=/x":                                                                "",
	} {
		got := ""
		for _, f := range RemovedFlags(text) {
			if !strings.Contains(f.Successor, "1.24") {
				t.Errorf("%s: %q", f.Flag, f.Successor)
			}
			got += f.Flag + " "
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestRuntimeOf reads what Nodes say of their runtimes.
func TestRuntimeOf(t *testing.T) {
	for text, want := range map[string]Runtime{"containerd://2.1.4": Containerd, "cri-o://1.34.0": CRIO, "docker://20.10": Unknown, "": Unknown} {
		if got := RuntimeOf(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
