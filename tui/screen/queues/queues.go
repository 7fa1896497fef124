package queues

import (
	"cmp"
	"context"
	"slices"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// New makes the view.
func New() screen.Screen {
	return listing.New(listing.Config[row]{
		Noun: "queues", Build: build, Columns: columns,
		Resources: []inspect.Resource{inspect.ClusterQueues}, Namespaced: "queues", None: "there are no queues of Kueue",
		Key: func(r *row) string { return r.Name },
		Ref: func(r *row) screen.Ref { return screen.Ref{Kind: screen.ClusterQueue, Name: r.Name} },
		Groupings: []listing.Grouping[row]{{Name: "cohort", Of: func(r *row) string {
			return cmp.Or(inspect.Sanitize(r.Cohort), "no cohort")
		}}},
		Extra: (*row).extra,
		Panel: func(r *row, _ *screen.World, width, _ int) (styled.Line, []styled.Line) {
			return r.title(), r.panel(width)
		},
		Aside: (*row).aside,
	})
}

// build makes the rows: those first in which somebody waits. Of a namespace they are the queues that it may
// use.
func build(ctx context.Context, w *screen.World) ([]row, error) {
	var rows []row
	q := admission.NewQueues(w.Snapshot)
	for _, queue := range w.Snapshot.Around().ClusterQueues {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if w.Namespace == "" || slices.ContainsFunc(w.Snapshot.Around().LocalQueues, func(l *kueuev1beta2.LocalQueue) bool {
			return l.Namespace == w.Namespace && string(l.Spec.ClusterQueue) == queue.Name
		}) {
			rows = append(rows, rowOf(q.ClusterQueue(queue)))
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(len(b.Waiting), len(a.Waiting)), words.CompareNames(a.Name, b.Name))
	})
	return rows, nil
}
