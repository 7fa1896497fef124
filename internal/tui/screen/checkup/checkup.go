package checkup

import (
	"context"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// patience is how old the answer may become while nobody presses keys: it takes seconds in a large cluster.
const patience = 10 * time.Second

// New makes the view.
func New() screen.Screen {
	return reading.New(reading.Config[*checkup.Report]{
		Ask: func(ctx context.Context, w *screen.World) (*checkup.Report, error) {
			return checkup.Run(ctx, w.Snapshot, checkup.Options{Severity: checkup.Note, Namespace: w.Namespace, Cluster: w.Cluster()})
		},
		Lines: lines, View: true, Patience: patience,
		More: "notes, evidence and every finding",
	})
}

// lines lays a report out. Each subject is a link to the object at fault.
func lines(r *checkup.Report, o reading.Layout) []styled.Line {
	if !o.Verbose {
		r = r.AtLeast(checkup.Warning)
	}
	return r.Lines(checkup.Layout{Width: o.Width, All: o.Verbose, Link: link})
}

// link is the link to an object, or "" if there is no page about it.
func link(o inspect.ObjectRef) string {
	kind := screen.Kind(o.Kind)
	switch kind {
	case screen.Claim, screen.Template, screen.Pod, screen.Node, screen.Class, screen.TaintRule, screen.Namespace, screen.PriorityLevel, screen.FlowSchema:
		return screen.Ref{Kind: kind, Namespace: o.Namespace, Name: o.Name}.Link()
	}
	return ""
}
