package devices

import (
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// New makes the view.
func New() screen.Screen {
	return listing.New(listing.Config[row]{
		Noun: "devices", Build: build, Columns: columns, Groupings: groupings, Grouped: true,
		Resources: []inspect.Resource{inspect.Slices}, None: "no driver has published devices: there are no ResourceSlices",
		Key:   func(r *row) string { return r.ref.Name },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.extra() },
		Panel: func(r *row, w *screen.World, _, _ int) (styled.Line, []styled.Line) { return nil, r.panel(w) },
	})
}
