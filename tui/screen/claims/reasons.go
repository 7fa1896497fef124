package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// reason is why a claim has no devices or what it waits for. It is not written after it was made: rows share
// it.
type reason struct {
	text    string // safe to show
	verdict explain.Verdict
	// possible says where it can be allocated, if it can be, whatever else it waits for.
	possible string
	// refused says that devices are free as is supposed, and why the pod that waits for them can go nowhere
	// all the same.
	refused string
}

// stuck reports whether the claim cannot be allocated as things are.
func (r *reason) stuck() bool {
	return r != nil && (r.verdict == explain.Unsatisfiable || r.verdict == explain.Invalid)
}

// saying is the same reason in other words.
func (r *reason) saying(text string) *reason {
	other := *r
	other.text = text
	return &other
}

// refusing is the reason of a claim that stays stuck because its pod is refused.
func (r *reason) refusing() *reason {
	other := r.saying(r.refused)
	other.verdict = explain.Unsatisfiable
	return other
}

// survey is the work on the reasons of the claims of one world. Claims that want the same are asked about
// once.
type survey struct {
	about *screen.World
	asked map[string]*explain.Explanation // by what is wanted
	// budget is how long they may take.
	budget timebudget.Budget
}

// reasonsOf returns the reasons of the claims of a world that need one. After each claim it lets others have
// their turn.
func reasonsOf(ctx context.Context, w *screen.World) (map[inspect.ClaimRef]*reason, error) {
	s := &survey{about: w, asked: map[string]*explain.Explanation{}}
	reasons := map[inspect.ClaimRef]*reason{}
	for _, claim := range w.Snapshot.Objects().Claims {
		switch inspect.StateOf(claim) {
		case inspect.ClaimPending:
			r, err := screen.InTurn(ctx, func(ctx context.Context) (*reason, error) { return s.reason(ctx, claim) })
			if err != nil {
				return nil, err
			}
			reasons[inspect.RefOf(claim)] = r
		case inspect.ClaimDeleting:
			reasons[inspect.RefOf(claim)] = &reason{text: inspect.Sanitize(question.Brief(w.Snapshot, claim, nil))}
		}
	}
	return reasons, nil
}

// reason is why a claim is pending.
func (s *survey) reason(ctx context.Context, claim *resourcev1.ResourceClaim) (*reason, error) {
	e, err := s.ask(ctx, claim)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return &reason{text: notWorkedOut, verdict: explain.Unknown}, nil
	}
	r := &reason{text: inspect.Sanitize(question.Brief(s.about.Snapshot, claim, e)), verdict: e.Verdict}
	if e.Verdict == explain.Allocatable {
		r.possible = fmt.Sprintf("it can be allocated on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
		err = s.heedPod(ctx, inspect.RefOf(claim), r)
	}
	return r, err
}

// heedPod takes back that what is supposed helps a claim, if the pod that waits for it can go nowhere all the
// same: devices are free on a node that is drained, too.
func (s *survey) heedPod(ctx context.Context, ref inspect.ClaimRef, r *reason) error {
	if len(s.about.Supposed) == 0 {
		return nil
	}
	for _, name := range s.about.Snapshot.PodsOf(ref) {
		pod, ok := s.about.Snapshot.Pod(name)
		if !ok || pod.Spec.NodeName != "" {
			continue
		}
		var e *explain.Explanation
		err := s.budget.Ask(ctx, func(ctx context.Context) (err error) {
			e, err = question.Refusal(ctx, s.about.Cluster(), pod, s.about.Question())
			return err
		})
		switch {
		case errors.Is(err, timebudget.ErrTooLong):
			r.possible = ""
		case err != nil:
			return err
		case e.Verdict != explain.Allocatable:
			r.possible = ""
			r.refused = inspect.Sanitize(fmt.Sprintf("devices are free, but pod %s %s", name.Name, e.Predicate))
		}
		return nil
	}
	return nil
}

// helped counts the claims that are stuck as things are, and would not be as is supposed.
func helped(actual, supposed map[inspect.ClaimRef]*reason) int {
	n := 0
	for ref, r := range supposed {
		if r.possible != "" && actual[ref].stuck() {
			n++
		}
	}
	return n
}

// notWorkedOut stands for the reason of a claim that would hold up all others.
const notWorkedOut = "not worked out: it takes too long; e asks about it alone"

// ask asks about a claim, or about one that wants the same. nil: it takes too long.
func (s *survey) ask(ctx context.Context, claim *resourcev1.ResourceClaim) (*explain.Explanation, error) {
	key, err := json.Marshal([]any{claim.Namespace, claim.Spec}) // the namespace decides about admin access
	if err != nil {
		return nil, fmt.Errorf("reading the spec of claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	if e, ok := s.asked[string(key)]; ok {
		return e, nil
	}
	opts := s.about.Question()
	opts.ReasonOnly = true
	var e *explain.Explanation
	err = s.budget.Ask(ctx, func(ctx context.Context) (err error) {
		e, err = question.ClaimObject(ctx, s.about.Cluster(), claim, opts)
		return err
	})
	if errors.Is(err, timebudget.ErrTooLong) {
		e, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.asked[string(key)] = e
	return e, nil
}
