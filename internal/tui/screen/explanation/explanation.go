package explanation

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// Kinds are the kinds of objects that can be explained.
var Kinds = []screen.Kind{screen.Claim, screen.Pod, screen.Template}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[*explain.Explanation]{
		Ref: ref, More: "every node, and what becomes of the devices on it",
		Ask: func(ctx context.Context, w *screen.World) (*explain.Explanation, error) {
			subject := explain.Subject{Kind: string(ref.Kind), Namespace: ref.Namespace, Name: ref.Name}
			return question.Named(ctx, w.Cluster(), subject, w.Question())
		},
		Lines: func(e *explain.Explanation, o reading.Layout) []styled.Line {
			return text.Lines(e, text.Options{Width: min(o.Width, 120), Verbose: o.Verbose})
		},
	})
}
