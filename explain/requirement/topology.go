package requirement

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator/filters"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var (
	spreadKind      = Kind{name: explain.SpreadRequired, Importance: 4, list: listSpread}
	podAffinityKind = Kind{name: explain.PodAffinityRequired, Importance: 4, list: listPodAffinity}
	repelledKind    = Kind{name: explain.RepelledBy, Importance: 8, OfOthers: true, list: listRepelling}
	volumeKind      = Kind{name: explain.VolumeRequired, Importance: 5, list: listVolumes}
)

// droppable is a requirement of the pod that is given up by dropping it.
type droppable struct {
	onPod
	message string
}

func (r droppable) Propose(_ context.Context, _ *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	return []Change{{Kind: explain.DropConstraint, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostDrop, Key: r.edit.Key(), Message: r.message}}, nil
}

func (r droppable) Combine(context.Context, *Combination, int) (Part, error) {
	return Part{explain.DropConstraint, r.edit.Key(), r.message}, nil
}

func listSpread(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.SpreadConstraint) {
		key := s.Q.Pod.Spec.TopologySpreadConstraints[r.Index].TopologyKey
		out = append(out, droppable{onPod{
			ofPod(explain.SpreadRequired, &r, fmt.Sprintf("spec.topologySpreadConstraints[%d]", r.Index), "the pods are to be spread over "+key, r.Message),
			whatif.SpreadEdit{Index: r.Index}, 3, CostDrop,
		}, "make the spread over " + key + " a wish (ScheduleAnyway)"})
	}
	return out
}

func listPodAffinity(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.PodAffinity, filters.PodAntiAffinity) {
		if r.Index < 0 {
			continue // it is that of another pod
		}
		anti := r.Code == filters.PodAntiAffinity
		list, what := "podAffinity", "affinity to other pods"
		if anti {
			list, what = "podAntiAffinity", "anti-affinity to other pods"
		}
		out = append(out, droppable{onPod{
			ofPod(explain.PodAffinityRequired, &r, fmt.Sprintf("spec.affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", list, r.Index),
				"the pod's "+what, r.Message),
			whatif.PodAffinityEdit{Anti: anti, Index: r.Index}, 3, CostDrop,
		}, fmt.Sprintf("drop term %d of the pod's %s", r.Index+1, what)})
	}
	return out
}

// listRepelling lists the pods whose own anti-affinity keeps the pod away.
func listRepelling(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.PodAntiAffinity) {
		if r.Index >= 0 {
			continue
		}
		out = append(out, plain{onPod{
			ofPod(explain.RepelledBy, &r, podsPath(r.Pods), r.Message, ""), whatif.EndPodsEdit{Pods: r.Pods}, 3, costRelease,
		}})
	}
	return out
}

func podsPath(pods []inspect.PodRef) string {
	if len(pods) == 1 {
		return "pod " + pods[0].String()
	}
	return "spec.affinity.podAntiAffinity of other pods"
}

func listVolumes(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.VolumeCapacity, filters.VolumeNode, filters.VolumeOutOfZone, filters.VolumeLimit, filters.VolumeInUse, filters.VolumeUnbound) {
		names := whatif.VolumesOf(s.Q.Pod, r.Object.Kind, r.Object.Name)
		path := "spec.volumes"
		if r.Object.Kind != "" {
			path = fmt.Sprintf("%s %s", r.Object.Kind, r.Object.Name)
		}
		out = append(out, plain{onPod{
			ofPod(explain.VolumeRequired, &r, path, r.Message, ""), whatif.DropVolumesEdit{Volumes: names}, OutOfReach, CostDrop,
		}})
	}
	return out
}
