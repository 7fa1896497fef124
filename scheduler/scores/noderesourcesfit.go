package scores

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// resources are those by which nodes are compared. Each counts the same.
var resources = [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// load is what there is of resources, and what is taken.
type load struct{ allocatable, taken [len(resources)]int64 }

// prepareNodeResourcesFit is the plugin NodeResourcesFit: the larger the part of CPU and memory that would be
// left, the better, unless the profile has another strategy.
func prepareNodeResourcesFit(s *Scorer) (part, []filters.Doubt) {
	if doubts := s.unknownLoad(filters.NodeResourcesFit); len(doubts) > 0 {
		return nil, doubts
	}
	pod := s.index.FilledOf(s.pod)
	type reads struct {
		pod     filters.Filled
		profile *schedulerconfig.Profile
	}
	strategy := strategyOf(s.profile.Strategy())
	return newLocal(s, reads{pod, s.profile}, func(n filters.Node) int64 {
		l, there := loadOf(n), s.index.FilledOn(n)
		l.taken = [...]int64{there.CPU + pod.CPU, there.Memory + pod.Memory}
		return strategy.score(l)
	}, nil), nil
}

func loadOf(n filters.Node) load {
	var l load
	for i, r := range resources {
		l.allocatable[i], l.taken[i] = n.Allocatable(r), n.Used(r)
	}
	return l
}

// strategy is how NodeResourcesFit compares nodes.
type strategy struct {
	weights [len(resources)]int64
	// of is what one resource gives, of which so much would be taken.
	of func(taken, all int64) int64
	// shaped: what gives nothing does not count, and the mean is rounded, not cut.
	shaped bool
}

// strategyOf is a strategy by CPU and memory. That of nil is the default.
func strategyOf(given *configv1.ScoringStrategy) strategy {
	out := strategy{weights: [...]int64{1, 1}, of: leastAllocated}
	if given == nil {
		return out
	}
	for i, resource := range resources {
		at := slices.IndexFunc(given.Resources, func(r configv1.ResourceSpec) bool { return r.Name == string(resource) })
		if out.weights[i] = 0; at >= 0 {
			out.weights[i] = given.Resources[at].Weight
		}
	}
	switch given.Type {
	case configv1.MostAllocated:
		out.of = func(taken, all int64) int64 { return min(taken, all) * most / all }
	case configv1.RequestedToCapacityRatio:
		out.shaped = true
		out.of = func(taken, all int64) int64 {
			return along(given.RequestedToCapacityRatio.Shape, min(taken, all)*100/all)
		}
	case configv1.LeastAllocated:
	}
	return out
}

// score is the mean of what the resources give that the node has.
func (s strategy) score(l load) int64 {
	var sum, weights int64
	for i, all := range l.allocatable {
		if all == 0 {
			continue
		}
		if points := s.of(l.taken[i], all); points > 0 || !s.shaped {
			sum += points * s.weights[i]
			weights += s.weights[i]
		}
	}
	switch {
	case weights == 0:
		return 0
	case s.shaped:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// leastAllocated is what is left of a resource, in hundredths, rounded down.
func leastAllocated(taken, all int64) int64 { return max(0, all-taken) * most / all }

// along is what a shape gives to a utilization in percent, on lines between its points.
func along(shape []configv1.UtilizationShapePoint, utilization int64) int64 {
	const scale = most / 10 // points of a shape are up to 10
	for i, point := range shape {
		if at := int64(point.Utilization); utilization <= at {
			if i == 0 {
				return int64(point.Score) * scale
			}
			before := shape[i-1]
			from, start := int64(before.Score)*scale, int64(before.Utilization)
			return from + (int64(point.Score)*scale-from)*(utilization-start)/(at-start)
		}
	}
	return int64(shape[len(shape)-1].Score) * scale
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
