package devices

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Screen is the view.
type Screen struct{ list *listing.List[row] }

// New makes the view.
func New() *Screen {
	return &Screen{listing.New(listing.Config[row]{
		Noun: "devices", Build: build, Columns: columns, Groupings: groupings, Grouped: true, Empty: whyEmpty,
		Key:   func(r *row) string { return r.ref.Name },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.extra() },
	})}
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd { return s.list.Update(w, msg) }

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	body := func(height int) string { return s.list.View(w, width, height) }
	r := s.list.Row()
	if r == nil {
		return body(height)
	}
	return widget.Split(w.Theme, body, nil, r.panel(w), width, height)
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string { return s.list.Plain(w, width) }

// Keys implements screen.Screen.
func (s *Screen) Keys() keymap.Map { return s.list.Keys() }

// Selection implements screen.Screen.
func (s *Screen) Selection() screen.Ref { return s.list.Selection() }

// Status implements screen.Screen.
func (s *Screen) Status() string { return s.list.Status() }

// FilterText implements screen.Filterer.
func (s *Screen) FilterText() string { return s.list.FilterText() }

// Unsettled implements screen.Settler.
func (s *Screen) Unsettled() bool { return s.list.Unsettled() }
