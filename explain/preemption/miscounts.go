package preemption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// claimsMiscounted reports whether the scheduler may count wrongly which pods have a claim that serves only
// one (ReadWriteOncePod): it takes each claim to have one user, counts each volume of a pod that it takes
// away, and does not look at namespaces.
func (d *decision) claimsMiscounted(o *filters.Outcome, lower []*corev1.Pod) bool {
	users := 0
	for i := range o.Refusals {
		r := &o.Refusals[i]
		if r.Plugin != filters.VolumeRestrictions || r.Object.Kind != "PersistentVolumeClaim" {
			continue
		}
		users += len(r.Pods)
		mounts := func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == r.Object.Name
		}
		if slices.ContainsFunc(lower, func(pod *corev1.Pod) bool {
			return pod.Namespace != d.Pod.Namespace && slices.ContainsFunc(pod.Spec.Volumes, mounts)
		}) {
			return true
		}
	}
	return users > 1
}

// portsMiscounted reports whether the scheduler may take a port to be free that another pod has as well: it
// does not count how many have it. That does not happen unless pods come to a node without the scheduler.
func portsMiscounted(o *filters.Outcome) bool {
	return slices.ContainsFunc(o.Refusals, func(r filters.Refusal) bool { return r.Code == filters.PortInUse && len(r.Pods) > 1 })
}

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

// spreadMiscounted reports whether the scheduler may count wrongly how many pods are where: when it takes
// pods away it subtracts also those that it has not counted, because they are being deleted or the selector
// is empty.
func (d *decision) spreadMiscounted(lower []*corev1.Pod) bool {
	leaving := slices.ContainsFunc(lower, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil && pod.Namespace == d.Pod.Namespace })
	defaults, _, _ := d.snapshot.DefaultSpread(d.Pod)
	return leaving && len(defaults) > 0 || slices.ContainsFunc(d.Pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		s := c.LabelSelector
		empty := s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && (leaving || empty)
	})
}
