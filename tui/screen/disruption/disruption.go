package disruption

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// patience is how old the answer may become while nobody presses keys: it takes seconds in a large cluster.
const patience = 10 * time.Second

// answer is what becomes of a cluster: what it has now, what it would have if it were left alone, and what it
// has then.
type answer struct {
	disruption       *explain.Disruption
	now, alone, then tally
}

// New makes the page about objects, all of which go together.
func New(page screen.Page, refs []screen.Ref) screen.Screen {
	return reading.New(reading.Config[*answer]{
		Ref: refs[0], Patience: patience, More: "every pod, and the devices of every claim",
		Ask:   func(ctx context.Context, w *screen.World) (*answer, error) { return ask(ctx, w, page, refs) },
		Lines: lines, Working: working,
		Supposes: func(*answer) []screen.Change {
			return words.Each(refs, func(ref screen.Ref) screen.Change { return screen.Change{Kind: screen.ChangeKind(page), Ref: ref} })
		},
	})
}

// slow is how many nodes make an answer take longer than a moment.
const slow = 500

// working says what takes so long in a large cluster.
func working(w *screen.World) string {
	n := len(w.Snapshot.Objects().Nodes)
	if n < slow {
		return ""
	}
	return fmt.Sprintf("Where each pod can go that has to leave, and each that waits already, is being worked out on %d nodes, "+
		"with this and without it. With hundreds of pods that takes minutes. Keys work meanwhile, and Esc gives it up.", n)
}

func ask(ctx context.Context, w *screen.World, page screen.Page, refs []screen.Ref) (*answer, error) {
	event, err := eventOf(w, page, refs)
	if err != nil {
		return nil, err
	}
	a, err := disruption.PlayOut(ctx, w.Cluster(), event)
	if err != nil {
		return nil, err
	}
	waiting, _ := plan.Waiting(w.Snapshot, everyPod)
	now := w.Inventory()
	return &answer{
		disruption: a.Disruption,
		now:        tallyOf(w.Snapshot, now, len(waiting)),
		alone:      tallyOf(a.Without, a.Without.Inventory(), a.Waiting),
		then:       tallyOf(a.With, a.With.Inventory(), len(a.Replay.Pending)),
	}, nil
}

func lines(a *answer, o reading.Layout) []styled.Line {
	told := plans.DisruptionLines(a.disruption, o.Options())
	return append(append(compared(a, o.Width), nil), told...)
}
