package preemption

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// keptAway reports whether a pod that waits for room on the node keeps the pod away by its anti-affinity. It
// does not go. Once all pods on nodes that have such rules are gone, our filters take the scheduler not to
// ask those that wait any more; but on trial it does not ask its PreFilter again, which would say so.
func (d *decision) keptAway(o *filters.Outcome) bool {
	return slices.ContainsFunc(o.Refusals, func(r filters.Refusal) bool {
		return r.Code == filters.PodAntiAffinity && slices.ContainsFunc(r.Pods, func(ref inspect.PodRef) bool {
			pod, ok := d.snapshot.Pod(ref)
			return ok && pod.Spec.NodeName == ""
		})
	})
}
