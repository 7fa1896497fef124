package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
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

// notWorkedOut stands for the reason of a claim that would hold up all others.
const notWorkedOut = "not worked out: its selectors take too long to evaluate; ask with kubectl dra explain"

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
	tooLong := make([]bool, len(asked))
	var budget timebudget.Budget
	err := allocator.Parallel(len(asked), func(i int) error {
		err := budget.Ask(ctx, func(ctx context.Context) (err error) {
			answers[i], err = explain.ClaimObject(ctx, cluster, asked[i], explain.Options{})
			return err
		})
		if errors.Is(err, timebudget.ErrTooLong) {
			answers[i], tooLong[i], err = nil, true, nil
		}
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
		if at, ok := wishOf[c]; ok && tooLong[at] {
			c.Reason = notWorkedOut
			continue
		}
		c.Reason = explain.Brief(s, claim, e)
	}
	return nil
}
