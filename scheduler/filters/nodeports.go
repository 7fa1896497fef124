package filters

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// anyAddress is the address of all networks of a node.
const anyAddress = "0.0.0.0"

// hostPorts are the ports of its node that a pod takes, with protocol and address filled in. Init containers
// that end give theirs back before the scheduler would know. In the host's network every port of a container
// is one of the node, as the API server makes it.
func hostPorts(pod *corev1.Pod) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	add := func(c *corev1.Container) {
		for _, port := range c.Ports {
			if port.HostPort == 0 && pod.Spec.HostNetwork {
				port.HostPort = port.ContainerPort
			}
			if port.HostPort > 0 {
				port.Protocol, port.HostIP = cmp.Or(port.Protocol, corev1.ProtocolTCP), cmp.Or(port.HostIP, anyAddress)
				out = append(out, port)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; isSidecar(c) {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return out
}

// samePort reports whether two pods cannot both have such a port.
func samePort(a, b corev1.ContainerPort) bool {
	return a.HostPort == b.HostPort && a.Protocol == b.Protocol && (a.HostIP == b.HostIP || a.HostIP == anyAddress || b.HostIP == anyAddress)
}

// prepareNodePorts is the plugin NodePorts: a port of a node is for one pod.
func prepareNodePorts(p *Prepared) (check, Outcome) {
	wanted := hostPorts(p.Pod)
	if len(wanted) == 0 {
		return nil, Outcome{}
	}
	return nodePorts{wanted, p.unknownPods(NodePorts, "one may have a port of the node that the pod wants"), p.trial}, Outcome{}
}

type nodePorts struct {
	wanted  []corev1.ContainerPort
	unknown Outcome
	trial   *trial
}

// frees reports whether a port of a pod is taken to be free: one that was taken away has it, too.
func (t *trial) frees(pod *podInfo, port corev1.ContainerPort) bool {
	if t == nil || pod.Spec.NodeName == "" || slices.Contains(t.lower, pod.Pod) {
		return false
	}
	return slices.ContainsFunc(t.lower, func(other *corev1.Pod) bool {
		return slices.ContainsFunc(hostPorts(other), func(o corev1.ContainerPort) bool {
			return o.HostPort == port.HostPort && o.Protocol == port.Protocol && o.HostIP == port.HostIP
		})
	})
}

func (c nodePorts) on(n *nodeInfo) Outcome {
	var out Outcome
	for i := range c.wanted {
		if r := c.taken(n, &c.wanted[i]); r != nil && !slices.ContainsFunc(out.Refusals, func(other Refusal) bool { return other.Key == r.Key }) {
			out.and(refuse(*r))
		}
	}
	if len(out.Refusals) > 0 {
		return out
	}
	return c.unknown
}

// taken is a refusal if pods on a node have a port. It is nil if none has.
func (c nodePorts) taken(n *nodeInfo, port *corev1.ContainerPort) *Refusal {
	var in []inspect.PodRef
	for _, pod := range n.pods {
		if slices.ContainsFunc(pod.ports, func(other corev1.ContainerPort) bool { return samePort(*port, other) && !c.trial.frees(pod, other) }) {
			in = append(in, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	if len(in) == 0 {
		return nil
	}
	name := fmt.Sprintf("%d/%s", port.HostPort, port.Protocol)
	if port.HostIP != anyAddress {
		name = port.HostIP + ":" + name
	}
	return &Refusal{
		Plugin: NodePorts, Code: PortInUse, Key: name, Port: port, Pods: in,
		Message: fmt.Sprintf("the pod wants port %s of the node, which pod %s/%s has", name, in[0].Namespace, in[0].Name),
	}
}
