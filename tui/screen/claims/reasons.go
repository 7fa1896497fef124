package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Why claims are pending is worked out in the background, a bit at a time, so that the first reasons show
// at once however many claims there are. Claims that want the same are asked about once.

// batch is how long the background works before it lets others have their turn.
const batch = 20 * time.Millisecond

// reason is why a claim has no devices or what it waits for. It is not written after it was made: rows share
// it.
type reason struct {
	text    string // safe to show
	verdict explain.Verdict
	// tooLong says that it was not worked out.
	tooLong bool
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

// survey is the work on the reasons of the claims of one snapshot.
type survey struct {
	reasons map[inspect.ClaimRef]*reason // never written after it was handed out
	// pending are the claims that are still to be looked at.
	pending []*resourcev1.ResourceClaim
	asked   map[string]*explain.Explanation // by what is wanted
	// budget is how long they may take.
	budget *timebudget.Budget
	// about is the world whose claims they are.
	about *screen.World
}

// newSurvey lists the claims of a snapshot that need a reason. The reasons that are known from before stand
// until they are replaced. Claims that took too long before come last.
func newSurvey(w *screen.World, before map[inspect.ClaimRef]*reason) survey {
	var last []*resourcev1.ResourceClaim
	s := survey{reasons: map[inspect.ClaimRef]*reason{}, asked: map[string]*explain.Explanation{}, budget: &timebudget.Budget{}, about: w}
	for _, claim := range w.Snapshot.Objects().Claims {
		ref := inspect.RefOf(claim)
		switch inspect.StateOf(claim) {
		case inspect.ClaimPending:
			r, known := before[ref]
			if known {
				s.reasons[ref] = r
			}
			if known && r.tooLong {
				last = append(last, claim)
			} else {
				s.pending = append(s.pending, claim)
			}
		case inspect.ClaimDeleting:
			s.reasons[ref] = &reason{text: inspect.Sanitize(question.Brief(w.Snapshot, claim, nil))}
		}
	}
	s.pending = append(s.pending, last...)
	return s
}

// proceed looks at as many claims as a batch has time for, at least one, and returns what is known then.
func (s survey) proceed(ctx context.Context) (survey, error) {
	s.reasons = maps.Clone(s.reasons)
	for end := time.Now().Add(batch); len(s.pending) > 0 && time.Now().Before(end); {
		claim := s.pending[0]
		e, err := s.ask(ctx, claim)
		if err != nil {
			return s, err
		}
		s.pending = s.pending[1:]
		ref := inspect.RefOf(claim)
		if e == nil {
			s.reasons[ref] = &reason{text: notWorkedOut, verdict: explain.Unknown, tooLong: true}
			continue
		}
		r := &reason{text: inspect.Sanitize(question.Brief(s.about.Snapshot, claim, e)), verdict: e.Verdict}
		if e.Verdict == explain.Allocatable {
			r.possible = fmt.Sprintf("it can be allocated on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
			if err := s.heedPod(ctx, ref, r); err != nil {
				return s, err
			}
		}
		s.reasons[ref] = r
	}
	return s, nil
}

// heedPod takes back that what is supposed helps a claim, if the pod that waits for it can go nowhere all the
// same: devices are free on a node that is drained, too.
func (s survey) heedPod(ctx context.Context, ref inspect.ClaimRef, r *reason) error {
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
func (s survey) ask(ctx context.Context, claim *resourcev1.ResourceClaim) (*explain.Explanation, error) {
	key, err := json.Marshal([]any{claim.Namespace, claim.Spec, claim.Annotations[inspect.NewerKey]}) // the namespace decides about admin access
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
