package requirement

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var (
	spreadKind      = Kind{name: explain.SpreadRequired, Importance: 4, list: listSpread}
	podAffinityKind = Kind{name: explain.PodAffinityRequired, Importance: 4, list: listPodAffinity}
	repelledKind    = Kind{name: explain.RepelledBy, Importance: 8, OfOthers: true, list: listRepelling}
	volumeKind      = Kind{name: explain.VolumeRequired, Importance: 5, list: listVolumes}
)

// spreadRequirement is a spread constraint. It is given up by making it a wish.
type spreadRequirement struct {
	droppable
	node  inspect.NodeName
	index int
}

// spreadRefusals are what spread constraints have against the node. A node that the pod may not use need not
// be one that a constraint counts. Were it one, the constraint could refuse it, so there are all constraints
// then.
func (s *site) spreadRefusals() []filters.Refusal {
	found := s.refusals(filters.SpreadConstraint)
	if len(s.refusals(filters.NodeMismatch, filters.NodeTainted, filters.Unschedulable)) > 0 {
		if defaults, _, _ := s.Q.Cluster.Snapshot().DefaultSpread(s.Q.Pod); len(defaults) > 0 && len(found) == 0 {
			found = append(found, filters.Refusal{Plugin: filters.PodTopologySpread, Index: -1})
		}
		for i, c := range s.Q.Pod.Spec.TopologySpreadConstraints {
			refuses := slices.ContainsFunc(found, func(r filters.Refusal) bool { return r.Index == i })
			if !refuses && c.WhenUnsatisfiable == corev1.DoNotSchedule {
				found = append(found, filters.Refusal{Plugin: filters.PodTopologySpread, Index: i})
			}
		}
	}
	return found
}

func listSpread(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.spreadRefusals() {
		if r.Index < 0 {
			return append(out, spreadRequirement{dropping(
				ofPod(explain.SpreadRequired, &r, "spec.topologySpreadConstraints", "the profile of kube-scheduler spreads pods without constraints", r.Message),
				whatif.SpreadEdit{Index: -1}, 3, CostDrop, explain.DropConstraint,
				"make the spread a preference: give the pod topologySpreadConstraints of its own (whenUnsatisfiable: ScheduleAnyway)",
			), nodeName(s.Sandbox), -1})
		}
		key := s.Q.Pod.Spec.TopologySpreadConstraints[r.Index].TopologyKey
		out = append(out, spreadRequirement{dropping(
			ofPod(explain.SpreadRequired, &r, fmt.Sprintf("spec.topologySpreadConstraints[%d]", r.Index),
				"the pods are to be spread over "+key, r.Message),
			whatif.SpreadEdit{Index: r.Index}, 3, CostDrop, explain.DropConstraint,
			"make the spread over "+key+" a preference (whenUnsatisfiable: ScheduleAnyway)",
		), nodeName(s.Sandbox), r.Index})
	}
	return out
}

// Clarify says what the constraint has against the node once it is one that the pod may use.
func (r spreadRequirement) Clarify(ctx context.Context, b *whatif.Sandbox, relaxed []whatif.Edit) string {
	if r.Actual != "" {
		return r.Actual
	}
	for _, refusal := range b.Draft(ctx, relaxed).RefusalsOn(r.node) {
		if refusal.Code == filters.SpreadConstraint && max(refusal.Index, -1) == r.index {
			return refusal.Message
		}
	}
	return ""
}

// spreads reports whether a spread constraint is listed that counts only nodes which the pod's node selector
// and node affinity select, so that these decide about it although the node has what they want.
func (s *site) spreads() bool {
	return slices.ContainsFunc(s.spreadRefusals(), func(r filters.Refusal) bool {
		if r.Index < 0 {
			return true
		}
		policy := s.Q.Pod.Spec.TopologySpreadConstraints[r.Index].NodeAffinityPolicy
		return policy == nil || *policy == corev1.NodeInclusionPolicyHonor
	})
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
		out = append(out, dropping(
			ofPod(explain.PodAffinityRequired, &r, fmt.Sprintf("spec.affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", list, r.Index),
				"the pod's "+what, r.Message),
			whatif.PodAffinityEdit{Anti: anti, Index: r.Index}, 3, CostDrop, explain.DropConstraint,
			fmt.Sprintf("drop term %d of the pod's %s", r.Index+1, what),
		))
	}
	return out
}

// listRepelling lists the pods whose own anti-affinity keeps the pod away. To end them is for the search for
// pods to end.
func listRepelling(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.PodAntiAffinity) {
		if r.Index >= 0 {
			continue
		}
		out = append(out, relaxable[whatif.Edit]{
			ofPod(explain.RepelledBy, &r, podsPath(r.Pods), r.Message, ""), whatif.AroundEdit{Change: suppose.NotRepelling{Pods: r.Pods}}, 3, costRelease,
		})
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
	seen := map[string]bool{} // a volume is refused once, whatever else there is against it
	for _, r := range s.refusals(filters.VolumeCapacity, filters.VolumeNode, filters.VolumeOutOfZone, filters.VolumeLimit, filters.VolumeInUse, filters.VolumeUnbound) {
		var edit whatif.Edit = whatif.DropVolumesEdit{Volumes: suppose.VolumesOf(s.Q.Pod, r.Object.Kind, r.Object.Name)}
		path := "spec.volumes"
		switch {
		case r.Code == filters.VolumeLimit:
			edit, path = whatif.AroundEdit{Change: suppose.ManyVolumes{Node: nodeName(s.Sandbox)}}, "CSINode "+s.Node.Name
		case r.Object.Kind != "":
			path = fmt.Sprintf("%s %s", r.Object.Kind, r.Object.Name)
		}
		if key := edit.Key(); !seen[key] {
			seen[key] = true
			out = append(out, relaxable[whatif.Edit]{
				ofPod(explain.VolumeRequired, &r, path, r.Message, ""), edit, OutOfReach, CostDrop,
			})
		}
	}
	return out
}
