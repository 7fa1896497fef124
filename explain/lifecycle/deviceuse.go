package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// OfDevice is what is reported of a device that a claim holds: its health by the pods of the claim, and what
// the driver says in the status of the claim. The zero Health, and no Conditions, say that nothing is
// reported.
func OfDevice(s *inspect.Snapshot, ref inspect.ClaimRef, id inspect.DeviceID) explain.DeviceState {
	state := explain.DeviceState{Claim: ref, ID: id}
	claim, ok := s.Claim(ref)
	if !ok || claim.Status.Allocation == nil {
		return state
	}
	var reports []health
	for _, pod := range podsOf(s, ref) {
		reports = append(reports, healthIn(pod, []*resourcev1.ResourceClaim{claim})...)
	}
	for i := range claim.Status.Allocation.Devices.Results {
		if r := &claim.Status.Allocation.Devices.Results[i]; inspect.DeviceOf(r) == id {
			report(&state, claim, r, reports)
		}
	}
	return state
}

// podsOf are the pods of a claim that could be read.
func podsOf(s *inspect.Snapshot, ref inspect.ClaimRef) []*corev1.Pod {
	var out []*corev1.Pod
	for _, name := range s.PodsOf(ref) {
		if pod, ok := s.Pod(name); ok {
			out = append(out, pod)
		}
	}
	return out
}

// Known says how well the time is known since when a claim holds its devices.
type Known uint8

// The ways in which it is known.
const (
	// NotKnown says that nothing tells.
	NotKnown Known = iota
	// Exactly is the time at which the scheduler wrote that it allocated the claim.
	Exactly
	// AtLeast is when the first of its pods that are still there was scheduled: it holds its devices since
	// then, or for longer.
	AtLeast
	// AtMost is when the claim was created, before which it cannot have held anything.
	AtMost
)

// HeldSince returns since when a claim holds its devices. The scheduler writes the time only where binding
// conditions are enabled.
func HeldSince(s *inspect.Snapshot, ref inspect.ClaimRef) (time.Time, Known) {
	claim, ok := s.Claim(ref)
	if !ok || claim.Status.Allocation == nil {
		return time.Time{}, NotKnown
	}
	if at := claim.Status.Allocation.AllocationTimestamp; at != nil {
		return at.Time, Exactly
	}
	var first time.Time
	for _, pod := range podsOf(s, ref) {
		at := transition(pod, corev1.PodScheduled)
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	switch {
	case !first.IsZero():
		return first, AtLeast
	case !claim.CreationTimestamp.IsZero():
		return claim.CreationTimestamp.Time, AtMost
	}
	return time.Time{}, NotKnown
}
