package get

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Why claims of a list are pending. The allocator is asked, once for all claims that want the same, with
// a bound on the work; claims beyond it get what their state and their pods tell.

const (
	// maxQuestions is how many different questions a list asks the allocator.
	maxQuestions = 200
	// maxQuestionsTimesNodes bounds their number times that of the nodes: about ten seconds on one core.
	maxQuestionsTimesNodes = 500_000
	// minQuestions are asked about however many nodes there are.
	minQuestions = 10
)

// notWorkedOut stands for the reason of a claim that would hold up all others.
const notWorkedOut = "not worked out: it takes too long; ask with kubectl dra explain"

// explainPending fills in the reasons of the claims of a list.
func explainPending(ctx context.Context, s *inspect.Snapshot, list *output.List) error {
	questions, err := pendingQuestionsOf(s, list)
	if err != nil {
		return err
	}
	if err := questions.answer(ctx, s); err != nil {
		return err
	}
	for _, item := range list.Items {
		c := item.(*output.Claim)
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: c.Namespace, Name: c.Name})
		if !ok {
			continue
		}
		var e *explain.Explanation
		if at, ok := questions.of[c]; ok {
			if questions.tooLong[at] {
				c.Reason = notWorkedOut
				continue
			}
			e = questions.answers[at]
		}
		c.Reason = question.Brief(s, claim, e)
	}
	return nil
}

// pendingQuestions are what the allocator is asked about the claims of a list: one question for all claims
// that want the same.
type pendingQuestions struct {
	asked   []*resourcev1.ResourceClaim
	of      map[*output.Claim]int // the index of a claim's question; claims beyond the bound have none
	answers []*explain.Explanation
	tooLong []bool
}

func pendingQuestionsOf(s *inspect.Snapshot, list *output.List) (*pendingQuestions, error) {
	q := &pendingQuestions{of: map[*output.Claim]int{}}
	indexes := map[string]int{} // by namespace and spec
	limit := max(minQuestions, min(maxQuestions, maxQuestionsTimesNodes/max(1, len(s.Nodes()))))
	for _, item := range list.Items {
		c := item.(*output.Claim)
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: c.Namespace, Name: c.Name})
		if !ok || inspect.StateOf(claim) != inspect.ClaimPending {
			continue
		}
		key, err := json.Marshal([]any{claim.Namespace, claim.Spec, claim.Annotations[inspect.NewerKey]}) // the namespace decides about admin access
		if err != nil {
			return nil, fmt.Errorf("reading the spec of claim %s/%s: %w", c.Namespace, c.Name, err)
		}
		at, known := indexes[string(key)]
		if !known {
			if len(q.asked) == limit {
				continue
			}
			at = len(q.asked)
			indexes[string(key)], q.asked = at, append(q.asked, claim)
		}
		q.of[c] = at
	}
	return q, nil
}

// answer asks the allocator. A question that would hold up all others has no answer: it took too long.
func (q *pendingQuestions) answer(ctx context.Context, s *inspect.Snapshot) error {
	cluster := scheduler.NewCluster(s, scheduler.Options{})
	q.answers, q.tooLong = make([]*explain.Explanation, len(q.asked)), make([]bool, len(q.asked))
	var budget timebudget.Budget
	return allocator.Parallel(len(q.asked), func(i int) error {
		err := budget.Ask(ctx, func(ctx context.Context) (err error) {
			q.answers[i], err = question.ClaimObject(ctx, cluster, q.asked[i], question.Options{ReasonOnly: true})
			return err
		})
		if errors.Is(err, timebudget.ErrTooLong) {
			q.answers[i], q.tooLong[i], err = nil, true, nil
		}
		return err
	})
}
