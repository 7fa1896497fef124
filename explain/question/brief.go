package question

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Brief says in one line why a claim has no devices, or what else it waits for. It is "" if the claim waits
// for nothing. e is the explanation of a claim that asks for the same. If it is nil, Brief says what the
// objects alone tell. The text is not sanitised.
func Brief(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, e *explain.Explanation) string {
	switch inspect.StateOf(claim) {
	case inspect.ClaimDeleting:
		if n := len(claim.Status.ReservedFor); n > 0 {
			return "deletion waits for " + words.Count(n, "consumer")
		}
		return "deletion waits for finalizers"
	case inspect.ClaimPending:
	default:
		return ""
	}
	if e != nil && (e.Verdict == explain.Unsatisfiable || e.Verdict == explain.Invalid) {
		return nearestReason(e)
	}
	if text := podsTell(s, claim); text != "" || e == nil {
		return text
	}
	if e.Verdict == explain.Allocatable && len(s.PodsOf(inspect.RefOf(claim))) > 0 {
		return "waiting for the scheduler"
	}
	return e.Predicate
}

// nearestReason is the first reason of the nodes that come nearest. If it would be enough that a pool is
// complete and valid, it is what is wrong with the pool.
func nearestReason(e *explain.Explanation) string {
	switch {
	case e.Brief != "":
		return e.Brief
	case e.Verdict == explain.Invalid:
		return "it " + e.Predicate
	}
	if e.Conflict != nil {
		for i := range e.Conflict.Requirements {
			if r := &e.Conflict.Requirements[i]; r.Kind == explain.PoolRequired && r.Alone {
				return r.Message
			}
		}
	}
	var nearest *explain.Group
	for i := range e.Groups {
		if g := &e.Groups[i]; len(g.Reasons) > 0 && (nearest == nil || g.Score > nearest.Score) {
			nearest = g
		}
	}
	if nearest == nil {
		return e.Predicate
	}
	r := nearest.Reasons[0]
	if r.Request != "" && !r.NamesRequest {
		return r.Request + ": " + r.Message
	}
	return r.Message
}

// podsTell is what a pending claim waits for as far as its pods tell. It is "" if they do not.
func podsTell(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	pods := s.PodsOf(inspect.RefOf(claim))
	if len(pods) == 0 {
		if s.Health(inspect.Pods).Complete() {
			return "no pod uses it"
		}
		return ""
	}
	at := slices.IndexFunc(pods, func(ref inspect.PodRef) bool {
		pod, ok := s.Pod(ref)
		return !ok || !inspect.Ended(pod)
	})
	if at < 0 {
		return "its pods have ended"
	}
	pod, ok := s.Pod(pods[at])
	if !ok {
		return ""
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		return fmt.Sprintf("pod %s is gated by %s", pod.Name, pod.Spec.SchedulingGates[0].Name)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == "PodScheduled" && condition.Status == "False" && condition.Message != "" {
			return words.OneLine(withoutPreemption(condition.Message))
		}
	}
	return ""
}
