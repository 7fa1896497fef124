package question

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Brief says in one line why a claim has no devices or what else it waits for; it is empty for a claim that
// waits for nothing. e is the answer about a claim that wants the same, or nil when nobody asked: then
// Brief says what the objects alone tell. The text is not sanitised.
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
	if text := heldUpBy(s, claim); text != "" || e == nil {
		return text
	}
	if e.Verdict == explain.Allocatable {
		return fmt.Sprintf("it can be allocated on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
	}
	return e.Predicate
}

// nearestReason is the reason on the nodes that come nearest; when to publish a pool is all that is missing, that.
func nearestReason(e *explain.Explanation) string {
	if e.Verdict == explain.Invalid {
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

// heldUpBy is what a pending claim waits for as far as its pods tell.
func heldUpBy(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	pods := s.PodsOf(inspect.RefOf(claim))
	if len(pods) == 0 {
		if s.Health(inspect.Pods).Complete() {
			return "no pod uses it"
		}
		return ""
	}
	pod, ok := s.Pod(pods[0])
	if !ok {
		return ""
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		return fmt.Sprintf("pod %s is gated by %s", pod.Name, pod.Spec.SchedulingGates[0].Name)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == "PodScheduled" && condition.Status == "False" && condition.Message != "" {
			return strings.Join(strings.Fields(condition.Message), " ")
		}
	}
	return ""
}
