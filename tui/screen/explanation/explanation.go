package explanation

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that can be explained.
var Kinds = []screen.Kind{screen.Claim, screen.Pod, screen.Template}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[*explain.Explanation]{
		Ref: ref, More: "every node, and what becomes of the devices on it",
		Ask: func(ctx context.Context, w *screen.World) (*explain.Explanation, error) { return ask(ctx, w, ref) },
		Lines: func(e *explain.Explanation, o reading.Layout) []styled.Line {
			return text.Lines(e, text.Options{Width: min(o.Width, 120), Verbose: o.Verbose})
		},
	})
}

func ask(ctx context.Context, w *screen.World, ref screen.Ref) (*explain.Explanation, error) {
	switch ref.Kind {
	case screen.Claim:
		return question.Claim(ctx, w.Cluster(), inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}, question.Options{})
	case screen.Pod:
		return question.Pod(ctx, w.Cluster(), inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name}, question.Options{})
	case screen.Template:
		return question.Template(ctx, w.Cluster(), ref.Namespace, ref.Name, question.Options{})
	}
	return nil, fmt.Errorf("a %s cannot be explained", ref.Kind)
}
