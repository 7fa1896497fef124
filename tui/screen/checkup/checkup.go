package checkup

import (
	"context"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// patience is how old the answer may become while nobody presses keys: it takes seconds in a large cluster.
const patience = 10 * time.Second

// New makes the view.
func New() screen.Screen {
	return reading.New(reading.Config[found]{
		Ask: func(ctx context.Context, w *screen.World) (found, error) {
			report, err := checkup.Run(ctx, w.Snapshot, checkup.Options{Severity: checkup.Note, Namespace: w.Namespace, Cluster: w.Cluster()})
			if err != nil {
				return found{}, err
			}
			return found{report, poolsOf(report, w.Snapshot)}, nil
		},
		Lines: lines, View: true, Patience: patience,
		More: "notes, evidence and every finding",
	})
}

// found is a report, and the pools of the slices that it is about, by the names of these.
type found struct {
	report *checkup.Report
	pools  map[string]screen.Ref
}

// poolsOf finds the pools of the slices that a report names: a slice has no page, but what is wrong with one
// is wrong with its pool.
func poolsOf(r *checkup.Report, s *inspect.Snapshot) map[string]screen.Ref {
	pools := map[string]screen.Ref{}
	for _, f := range r.Findings {
		for _, o := range f.Objects {
			if o.Kind == slice {
				pools[o.Name] = screen.Ref{}
			}
		}
	}
	for _, s := range s.Objects().Slices {
		if _, named := pools[s.Name]; named {
			pools[s.Name] = screen.PoolRef(inspect.PoolID{Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name})
		}
	}
	return pools
}

// slice is the kind of slices in a report.
const slice = "ResourceSlice"

// lines lays a report out. Each subject is a link to the object at fault.
func lines(f found, o reading.Layout) []styled.Line {
	r := f.report
	if !o.Verbose {
		r = r.AtLeast(checkup.Warning)
	}
	layout := checkup.Layout{Width: o.Width, All: o.Verbose, Link: f.link}
	if !o.Copied {
		layout.More = reading.MoreKey
	}
	return r.Lines(layout)
}

// link is the link to an object, or "" if there is no page about it.
func (f found) link(o inspect.ObjectRef) string {
	kind := screen.Kind(o.Kind)
	switch kind {
	case screen.Claim, screen.Template, screen.Pod, screen.Node, screen.Class, screen.TaintRule, screen.Namespace, screen.PriorityLevel:
		return screen.Ref{Kind: kind, Namespace: o.Namespace, Name: o.Name}.Link()
	case slice:
		if ref := f.pools[o.Name]; ref.Kind != screen.None {
			return ref.Link()
		}
	}
	return ""
}
