package storage

import (
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Screen is the view.
type Screen struct {
	*listing.List[row]
}

// New makes the view.
func New() *Screen {
	return &Screen{listing.New(listing.Config[row]{
		Noun: "capacities", Build: build, Columns: columns, Groupings: groupings, Grouped: true,
		Key:   func(r *row) string { return r.ref.String() },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.name },
		Empty: whyEmpty,
	})}
}

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	body := func(height int) string { return s.List.View(w, width, height) }
	r := s.Row()
	if r == nil {
		return body(height)
	}
	return widget.Split(w.Theme, body, styled.Text(styled.Strong, r.class), r.panel(width), width, height)
}
