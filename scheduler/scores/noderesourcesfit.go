package scores

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// usual are the resources by which nodes are compared unless a profile names others. Each counts the same.
var usual = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// load is what there is of resources, and what is taken, of each at most [schedulerconfig.MostScored].
type load struct {
	allocatable, taken [schedulerconfig.MostScored]int64
}

// amounts are how much a pod asks for of resources.
type amounts [schedulerconfig.MostScored]int64

// prepareNodeResourcesFit is the plugin NodeResourcesFit: the larger the part of CPU and memory that would be
// left, the better, unless the profile has another strategy.
func prepareNodeResourcesFit(s *Scorer) (part, []filters.Doubt) {
	strategy := strategyOf(s.profile.Strategy())
	pod := s.index.FilledOf(s.pod)
	var asked amounts
	for i, r := range strategy.resources {
		switch r {
		case corev1.ResourceCPU:
			asked[i] = pod.CPU
		case corev1.ResourceMemory:
			asked[i] = pod.Memory
		default:
			asked[i] = s.index.AskedToFit(s.pod, r)
		}
	}
	if doubts := s.unknownLoad(filters.NodeResourcesFit, strategy.resources, asked); len(doubts) > 0 {
		return nil, doubts
	}
	type reads struct {
		pod     amounts
		profile *schedulerconfig.Profile
		devices *inspect.Snapshot
	}
	counted := s.countedOf(strategy.resources, asked)
	cpu, memory := slices.Index(counted.resources, corev1.ResourceCPU), slices.Index(counted.resources, corev1.ResourceMemory)
	return newLocal(s, reads{asked, s.profile, counted.devices}, func(n filters.Node) int64 {
		l, there := s.loadOf(n, counted), s.index.FilledOn(n)
		if cpu >= 0 {
			l.taken[cpu] = there.CPU
		}
		if memory >= 0 {
			l.taken[memory] = there.Memory
		}
		for i := range counted.resources {
			l.taken[i] += asked[i]
		}
		return strategy.score(l)
	}, nil), nil
}

// counting are the resources that count for a pod, and "" for the others.
type counting struct {
	resources []corev1.ResourceName
	// classes provide them where no device plugin does.
	classes []*resourcev1.DeviceClass
	// devices is the snapshot if there are such classes: what claims hold on a node may change with the pods
	// of another one.
	devices *inspect.Snapshot
}

// countedOf are the resources that count for a pod that asks for so much of them: what is neither CPU, memory
// nor ephemeral storage counts only for pods that ask for it.
func (s *Scorer) countedOf(resources []corev1.ResourceName, asked amounts) counting {
	out := counting{resources: slices.Clone(resources), classes: make([]*resourcev1.DeviceClass, len(resources))}
	for i, r := range out.resources {
		if asked[i] == 0 && r != corev1.ResourceCPU && r != corev1.ResourceMemory && r != corev1.ResourceEphemeralStorage {
			out.resources[i] = ""
		} else if out.classes[i] = s.snapshot().ClassOfExtendedResource(r); out.classes[i] != nil {
			out.devices = s.snapshot()
		}
	}
	return out
}

// loadOf is the load of a node without a pod, by the resources that count for it.
func (s *Scorer) loadOf(n filters.Node, of counting) load {
	var l load
	for i, r := range of.resources {
		if r == "" {
			continue
		}
		l.allocatable[i], l.taken[i] = n.Allocatable(r), n.Used(r)
		if l.allocatable[i] == 0 && of.classes[i] != nil {
			l.allocatable[i], l.taken[i] = s.options.Devices(of.classes[i], n.Object())
		}
	}
	return l
}

// strategy is how NodeResourcesFit compares nodes.
type strategy struct {
	resources []corev1.ResourceName
	weights   []int64
	// of is what one resource gives, of which so much would be taken.
	of func(taken, all int64) int64
	// shaped: what gives nothing does not count, and the mean is rounded, not cut.
	shaped bool
}

// strategyOf is a strategy as it is given. That of nil is the default.
func strategyOf(given *configv1.ScoringStrategy) strategy {
	out := strategy{resources: usual, weights: []int64{1, 1}, of: leastAllocated}
	if given == nil {
		return out
	}
	out.resources, out.weights = nil, nil
	for _, r := range given.Resources {
		out.resources, out.weights = append(out.resources, corev1.ResourceName(r.Name)), append(out.weights, r.Weight)
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
	for i, weight := range s.weights {
		all := l.allocatable[i]
		if all == 0 {
			continue
		}
		if points := s.of(l.taken[i], all); points > 0 || !s.shaped {
			sum += points * weight
			weights += weight
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
func (s *Scorer) unknownLoad(of filters.Plugin, resources []corev1.ResourceName, asked amounts) []filters.Doubt {
	out := s.index.Unseen(of, "others may take something of the nodes")
	for i, r := range resources {
		if asked[i] > 0 && inspect.IsExtendedResource(r) && !s.devicesKnown(of, r) {
			out = append(out, filters.Doubt{Plugin: of, Resource: inspect.Classes, Key: "extended", Message: "how much of " + string(r) + " devices give is not known when nodes are compared"})
		}
	}
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

// devicesKnown reports whether it is known how many devices serve as an extended resource. Before 1.37 it is
// not modelled how they count. Up to 1.38.0-beta.0 kube-scheduler crashes where
// NodeResourcesBalancedAllocation has to read a selector of a class.
func (s *Scorer) devicesKnown(of filters.Plugin, r corev1.ResourceName) bool {
	x := s.snapshot()
	class := x.ClassOfExtendedResource(r)
	if class == nil {
		return !x.Features().Enabled(inspect.GateExtendedResource) || !x.Health(inspect.Classes).Partial()
	}
	implicit := string(r) == resourcev1.ResourceDeviceClassPrefix+class.Name
	return s.options.Devices != nil && !x.Release().Modelled().Before(37, 0) && !x.Health(inspect.Slices).Partial() && !x.Health(inspect.Claims).Partial() &&
		(of != NodeResourcesBalancedAllocation || len(class.Spec.Selectors) == 0) && (!implicit || class.Spec.ExtendedResourceName == nil)
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
