package filters

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Requests returns what a pod that is on no node asks of one, sorted by resource.
func (x *Index) Requests(pod *corev1.Pod) []Amount { return x.rules.asked(pod) }

// Left returns how much of a resource is left on a node. It is negative if the pods there take more than
// there is, and 0 on a node that is not known.
func (x *Index) Left(node inspect.NodeName, resource corev1.ResourceName) int64 {
	n := x.node(string(node))
	if n == nil {
		return 0
	}
	return n.left(resource)
}

func (n *nodeInfo) left(resource corev1.ResourceName) int64 {
	if resource == corev1.ResourcePods {
		return n.allowed - int64(len(n.pods))
	}
	return n.allocatable.of(resource) - n.used.of(resource)
}

// Allocatable returns how much of a resource the pods on a node can take together.
func (x *Index) Allocatable(node inspect.NodeName, resource corev1.ResourceName) int64 {
	n := x.node(string(node))
	switch {
	case n == nil:
		return 0
	case resource == corev1.ResourcePods:
		return n.allowed
	}
	return n.allocatable.of(resource)
}

// Occupant is a pod on a node, and what it takes of it.
type Occupant struct {
	*corev1.Pod
	Requests []Amount // sorted by resource
}

// Occupants returns the pods on a node, sorted by namespace and name.
func (x *Index) Occupants(node inspect.NodeName) []Occupant {
	n := x.node(string(node))
	if n == nil {
		return nil
	}
	out := make([]Occupant, len(n.pods))
	for i, pod := range n.pods {
		out[i] = Occupant{Pod: pod.Pod, Requests: pod.requests}
	}
	return out
}
