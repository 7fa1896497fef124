package cni

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The capabilities that pods need plugins for (CONVENTIONS.md of the CNI project), and what asks for them.
const (
	PortMappings = "portMappings"
	Bandwidth    = "bandwidth"
)

// bandwidthAnnotations are what limits the bandwidth of a pod.
var bandwidthAnnotations = []string{"kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth"}

// Need is a capability that pods of a node ask for and no plugin of the chain declares.
type Need struct {
	Capability string `json:"capability"`
	// Pods are those that ask for it, sorted.
	Pods []inspect.PodRef `json:"pods"`
	// Message says what that means.
	Message string `json:"message"`
}

// Needs compares what pods of the node ask for with what the chain in use declares. Networks that are built
// on eBPF may do it by themselves, without a plugin that declares it: so a need is what is not declared, and
// not what does not work.
func (v *View) Needs(pods []*corev1.Pod) []Need {
	used := v.Used()
	if len(used) == 0 {
		return nil
	}
	chain := used[0].Chain
	var out []Need
	add := func(capability, message string, wants func(*corev1.Pod) bool) {
		if slices.ContainsFunc(chain, func(p Plugin) bool { return p.Has(capability) }) {
			return
		}
		var who []inspect.PodRef
		for _, pod := range pods {
			if !inspect.Ended(pod) && !pod.Spec.HostNetwork && wants(pod) {
				who = append(who, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
			}
		}
		if len(who) == 0 {
			return
		}
		slices.SortFunc(who, func(a, b inspect.PodRef) int { return strings.Compare(a.String(), b.String()) })
		out = append(out, Need{capability, who, fmt.Sprintf(message, used[0].Name)})
	}
	add(PortMappings, "no plugin in the chain of %s declares portMappings, so ports of the host are mapped only if the network does it by itself, as those built on eBPF do", wantsPort)
	add(Bandwidth, "no plugin in the chain of %s declares bandwidth, so the limits in annotations hold only if the network does it by itself, as those built on eBPF do", wantsBandwidth)
	return out
}

func wantsPort(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
	})
}

func wantsBandwidth(pod *corev1.Pod) bool {
	return slices.ContainsFunc(bandwidthAnnotations, func(key string) bool { return pod.Annotations[key] != "" })
}

// removedFlags are flags of the kubelet that are gone, and what stands for them now.
var removedFlags = map[string]string{
	"network-plugin":     "removed in Kubernetes 1.24: the container runtime sets up networks by itself, from its directory of CNI configurations",
	"network-plugin-mtu": "removed in Kubernetes 1.24: the MTU stands in the CNI configuration of the network",
	"cni-conf-dir":       "removed in Kubernetes 1.24: containerd has conf_dir (in plugins.'io.containerd.cri.v1.runtime'.cni), CRI-O network_dir in [crio.network]",
	"cni-bin-dir":        "removed in Kubernetes 1.24: containerd has bin_dirs, formerly bin_dir (in plugins.'io.containerd.cri.v1.runtime'.cni), CRI-O plugin_dirs in [crio.network]",
	"cni-cache-dir":      "removed in Kubernetes 1.24: the container runtime keeps what CNI caches",
}

// RemovedFlag is a flag that a kubelet no longer knows: with it, it does not start.
type RemovedFlag struct{ Flag, Successor string }

// RemovedFlags returns the flags in the arguments of a kubelet, as in /var/lib/kubelet/kubeadm-flags.env,
// that are removed, in the order in which they are written.
func RemovedFlags(arguments string) []RemovedFlag {
	var out []RemovedFlag
	for _, word := range strings.FieldsFunc(arguments, func(r rune) bool { return strings.ContainsRune(" \t\n\"'", r) }) {
		name, dashed := strings.CutPrefix(word, "--")
		if at := strings.Index(word, "=--"); !dashed && at >= 0 { // KUBELET_KUBEADM_ARGS=--a=b
			name, dashed = word[at+3:], true
		}
		name, _, _ = strings.Cut(name, "=")
		successor, removed := removedFlags[name]
		if f := (RemovedFlag{"--" + name, successor}); dashed && removed && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// Interface is a network interface that a DRA driver has put into pods.
type Interface struct {
	Claim  inspect.ClaimRef `json:"claim"`
	Device inspect.DeviceID `json:"device"`
	// Name is that of the interface, Addresses are its IP addresses with their prefixes, and Hardware is its
	// MAC address. Each may be empty.
	Name      string   `json:"name"`
	Addresses []string `json:"addresses"`
	Hardware  string   `json:"hardware,omitempty"`
	// Pods are those that use it, sorted.
	Pods []inspect.PodRef `json:"pods"`
}

// Interfaces returns the network interfaces that drivers report of claims whose pods run on a node, in the
// order of the claims.
func Interfaces(s *inspect.Snapshot, node string) []Interface {
	var out []Interface
	for _, claim := range s.Objects().Claims {
		for i := range claim.Status.Devices {
			d := &claim.Status.Devices[i]
			if d.NetworkData == nil {
				continue
			}
			found := Interface{
				Claim: inspect.RefOf(claim), Device: inspect.DeviceID{Driver: d.Driver, Pool: d.Pool, Device: d.Device},
				Name: d.NetworkData.InterfaceName, Addresses: append([]string{}, d.NetworkData.IPs...), Hardware: d.NetworkData.HardwareAddress,
			}
			for _, ref := range s.PodsOf(found.Claim) {
				if pod, ok := s.Pod(ref); ok && pod.Spec.NodeName == node && !inspect.Ended(pod) {
					found.Pods = append(found.Pods, ref)
				}
			}
			if len(found.Pods) > 0 {
				out = append(out, found)
			}
		}
	}
	return out
}
