package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Why claims of a list are pending. The allocator is asked, once for all claims that want the same, with
// a bound on the work; claims beyond it get what their state and their pods tell.

const (
	// maxAsked is how many different wishes a list asks the allocator about.
	maxAsked = 200
	// maxAskedNodes bounds their number times that of the nodes: about ten seconds on one core.
	maxAskedNodes = 500_000
	// minAsked are asked about however many nodes there are.
	minAsked = 10
)

// explainPending fills in the reasons of the claims of a list.
func explainPending(ctx context.Context, s *inspect.Snapshot, list *output.List) error {
	wishes := map[string]int{} // spec -> index into asked
	var asked []*resourcev1.ResourceClaim
	limit := max(minAsked, min(maxAsked, maxAskedNodes/max(1, len(s.Nodes()))))
	wishOf := make(map[*output.Claim]int)
	for _, item := range list.Items {
		c := item.(*output.Claim)
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: c.Namespace, Name: c.Name})
		if !ok || inspect.StateOf(claim) != inspect.ClaimPending {
			continue
		}
		key, err := json.Marshal([]any{claim.Namespace, claim.Spec}) // the namespace decides about admin access
		if err != nil {
			return fmt.Errorf("reading the spec of claim %s/%s: %w", c.Namespace, c.Name, err)
		}
		at, known := wishes[string(key)]
		if !known {
			if len(asked) == limit {
				continue
			}
			at = len(asked)
			wishes[string(key)], asked = at, append(asked, claim)
		}
		wishOf[c] = at
	}
	cluster := allocator.NewCluster(s, allocator.Options{})
	answers := make([]*explain.Explanation, len(asked))
	err := allocator.Parallel(len(asked), func(i int) error {
		var err error
		answers[i], err = explain.ClaimObject(ctx, cluster, asked[i], explain.Options{})
		return err
	})
	if err != nil {
		return err
	}
	for _, item := range list.Items {
		c := item.(*output.Claim)
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: c.Namespace, Name: c.Name})
		if !ok {
			continue
		}
		var e *explain.Explanation
		if at, ok := wishOf[c]; ok {
			e = answers[at]
		}
		c.Reason = reasonFor(s, claim, e)
	}
	return nil
}

// reasonFor says in one line why a claim has no devices or what else it waits for. e is the answer of
// the allocator to a claim that wants the same, or nil.
func reasonFor(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, e *explain.Explanation) string {
	switch inspect.StateOf(claim) {
	case inspect.ClaimDeleting:
		if n := len(claim.Status.ReservedFor); n > 0 {
			return fmt.Sprintf("deletion waits for %d consumers", n)
		}
		return "deletion waits for finalizers"
	case inspect.ClaimPending:
	default:
		return ""
	}
	if e != nil && (e.Verdict == explain.Unsatisfiable || e.Verdict == explain.Invalid) {
		return whyNot(e)
	}
	if text := waitsFor(s, claim); text != "" || e == nil {
		return text
	}
	if e.Verdict == explain.Allocatable {
		return fmt.Sprintf("it can be allocated on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
	}
	return withoutSubject(e)
}

// whyNot is the reason on the nodes that come nearest.
func whyNot(e *explain.Explanation) string {
	if e.Verdict == explain.Invalid {
		return "it " + withoutSubject(e)
	}
	var nearest *explain.Group
	for i := range e.Groups {
		if g := &e.Groups[i]; len(g.Reasons) > 0 && (nearest == nil || g.Near > nearest.Near) {
			nearest = g
		}
	}
	if nearest == nil {
		return withoutSubject(e)
	}
	r := nearest.Reasons[0]
	if r.Request != "" && !strings.HasPrefix(r.Message, "request "+r.Request) {
		return r.Request + ": " + r.Message
	}
	return r.Message
}

// withoutSubject is the message of an answer without the name of the claim, with which it begins.
func withoutSubject(e *explain.Explanation) string {
	text := strings.TrimPrefix(e.Message, e.Subject.Namespace+"/"+e.Subject.Name)
	return strings.TrimLeft(text, ": ")
}

// waitsFor is what a pending claim waits for as far as its pods tell.
func waitsFor(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	pods := s.PodsOf(inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name})
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
