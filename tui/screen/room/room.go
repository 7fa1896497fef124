package room

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/moves"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that room can be made for.
var Kinds = []screen.Kind{screen.Claim, screen.Pod}

// patience is how old the answer may become while nobody presses keys: it takes seconds in a large cluster.
const patience = 10 * time.Second

// New makes the page about a claim or a pod.
func New(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[*explain.Moves]{
		Ref: ref, Patience: patience,
		Ask:      func(ctx context.Context, w *screen.World) (*explain.Moves, error) { return ask(ctx, w, ref) },
		Lines:    lines,
		Supposes: moved,
	})
}

func ask(ctx context.Context, w *screen.World, ref screen.Ref) (*explain.Moves, error) {
	object, _, ok := screen.Find(w, ref)
	if !ok {
		return nil, fmt.Errorf("%s %s is gone", ref.Kind, ref)
	}
	m, err := moves.MakeRoom(ctx, w.Cluster(), object)
	if err == nil && len(w.Supposed) == 0 { // of what is only supposed no command would be true
		remedy.AddMoves(w.Snapshot, m, remedy.Asked{Flags: w.Asked.Flags, Demo: w.Asked.Demo})
	}
	return m, err
}

func lines(m *explain.Moves, o reading.Layout) []styled.Line {
	return plans.MovesLines(m, o.Options())
}

// moved are the pods that have to move, each of which is supposed to be evicted.
func moved(m *explain.Moves) []screen.Change {
	if m == nil {
		return nil
	}
	return words.Each(m.Moves, func(m explain.Move) screen.Change {
		return screen.Change{Kind: screen.EvictPod, Ref: screen.Ref{Kind: screen.Pod, Namespace: m.Pod.Namespace, Name: m.Pod.Name}}
	})
}
