package storage

import (
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// New makes the view.
func New() screen.Screen {
	return listing.New(listing.Config[row]{
		Noun: "capacities", Build: build, Columns: columns, Groupings: groupings, Grouped: true,
		Resources: []inspect.Resource{inspect.StorageCapacities}, Namespaced: "storage capacities",
		None:  "no CSIStorageCapacity: no CSI driver publishes how much storage it has left",
		Key:   func(r *row) string { return r.ref.String() },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.name },
		Panel: func(r *row, _ *screen.World, width, _ int) (styled.Line, []styled.Line) {
			return styled.Text(styled.Strong, r.class), r.panel(width)
		},
	})
}
