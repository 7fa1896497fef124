package usage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// entry says what a claim does with its devices, and since when.
func (c *counter) entry(claim *resourcev1.ResourceClaim) Claim {
	out := Claim{Ref: inspect.RefOf(claim), State: Held}
	switch {
	case claim.Status.Allocation == nil:
		out.State = Waiting
		c.refused(&out)
	case c.idle[out.Ref]:
		out.State = Idle
		out.Since, out.Pod = IdleSince(c.snapshot, out.Ref)
	}
	return out
}

// refused notes of a claim for which a pod waits that the scheduler has refused.
func (c *counter) refused(claim *Claim) {
	for _, ref := range c.snapshot.PodsOf(claim.Ref) {
		pod, ok := c.snapshot.Pod(ref)
		if !ok || pod.Spec.NodeName != "" || inspect.Ended(pod) {
			continue
		}
		since, refused := RefusedSince(pod)
		if !refused {
			continue
		}
		if first := claim.State != Refused; first || !since.IsZero() && (claim.Since.IsZero() || since.Before(claim.Since)) {
			claim.State, claim.Since, claim.Pod = Refused, since, ref
		}
	}
}

// RefusedSince returns since when the scheduler says that a pod fits nowhere, or gives up on it. The time is
// zero if that is not known.
func RefusedSince(pod *corev1.Pod) (since time.Time, refused bool) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		refuses := c.Reason == corev1.PodReasonUnschedulable || c.Reason == corev1.PodReasonSchedulerError
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && refuses {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// IdleSince returns since when an idle claim is idle: since the last of its pods has ended, and which that
// is. The time is zero if there are none, or of one of them it is not known when.
func IdleSince(s *inspect.Snapshot, claim inspect.ClaimRef) (since time.Time, last inspect.PodRef) {
	for _, ref := range s.PodsOf(claim) {
		var at time.Time
		if pod, ok := s.Pod(ref); ok {
			at = EndOf(pod)
		}
		if at.IsZero() {
			return time.Time{}, inspect.PodRef{}
		}
		if at.After(since) {
			since, last = at, ref
		}
	}
	return since, last
}

// EndOf returns when the containers of a pod that has ended did so, as far as the pod tells: that of the last
// one, or when the pod was no longer ready. It is zero if the pod has not ended, or does not tell.
func EndOf(pod *corev1.Pod) time.Time {
	if !inspect.Ended(pod) {
		return time.Time{}
	}
	var at time.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if (c.Type == corev1.PodReady || c.Type == corev1.ContainersReady) && c.Status == corev1.ConditionFalse && c.LastTransitionTime.After(at) {
			at = c.LastTransitionTime.Time
		}
	}
	return at
}
