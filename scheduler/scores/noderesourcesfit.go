package scores

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// resources are those by which nodes are compared. Each counts the same.
var resources = [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// load is what there is of resources, and what is taken.
type load struct{ allocatable, taken [len(resources)]int64 }

// prepareNodeResourcesFit is the plugin NodeResourcesFit (LeastAllocated): the larger the part of CPU and
// memory that would be left, the better.
func prepareNodeResourcesFit(s *Scorer) (part, []filters.Doubt) {
	if doubts := s.unknownLoad(filters.NodeResourcesFit); len(doubts) > 0 {
		return nil, doubts
	}
	pod := filters.FilledOf(s.pod)
	return newLocal(s, pod, func(n filters.Node) int64 {
		l, there := loadOf(n), s.index.FilledOn(n)
		l.taken = [...]int64{there.CPU + pod.CPU, there.Memory + pod.Memory}
		return leastAllocated(l)
	}, nil), nil
}

func loadOf(n filters.Node) load {
	var l load
	for i, r := range resources {
		l.allocatable[i], l.taken[i] = n.Allocatable(r), n.Used(r)
	}
	return l
}

// leastAllocated is the mean of what is left of the resources that the node has, in hundredths. Each part is
// rounded down.
func leastAllocated(l load) int64 {
	var sum, known int64
	for i, all := range l.allocatable {
		if all == 0 {
			continue
		}
		known++
		if l.taken[i] <= all {
			sum += (all - l.taken[i]) * most / all
		}
	}
	if known == 0 {
		return 0
	}
	return sum / known
}

// unknownLoad is a doubt if it is not known what there is on nodes, or what pods take of it.
func (s *Scorer) unknownLoad(of filters.Plugin) []filters.Doubt {
	out := s.index.Unseen(of, "others may take something of the nodes")
	if s.index.DevicesTakeResources(s.pod) {
		out = append(out, filters.Doubt{Plugin: of, Resource: inspect.Slices, Key: "devices", Message: "devices may take CPU or memory of the node besides what the pod requests (feature gate DRANodeAllocatableResources)"})
	}
	if s.snapshot().ServerVersion() != "" {
		return out
	}
	if s.silent {
		out = append(out, filters.Doubt{Plugin: of, Resource: inspect.Nodes, Key: "allocatable", Message: "a node does not say how much CPU and memory it has"})
	}
	return out
}

// anySilent reports whether there is a node that does not say how much it has of the resources by which nodes
// are compared.
func (s *Scorer) anySilent() bool {
	silent := func(n filters.Node) bool { return !n.Lists(corev1.ResourceCPU) || !n.Lists(corev1.ResourceMemory) }
	if s.like != nil && !s.like.silent {
		return slices.ContainsFunc(s.changed, func(i int) bool { return silent(s.nodes[i]) })
	}
	return slices.ContainsFunc(s.nodes, silent)
}
