package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// spot is a place that was left: a view, the pages above it, and what the cursor was at.
type spot struct {
	view  int
	pages []page
	ref   screen.Ref
}

// longestTrail is how many places are remembered.
const longestTrail = 50

// leaveTrail remembers the place that is left for a view, so that Esc comes back to it.
func (m *model) leaveTrail(view int) {
	if view == m.current && len(m.pages) == 0 {
		return
	}
	here := spot{view: m.current, pages: m.pages}
	if len(m.pages) == 0 {
		here.ref = m.top().Selection()
	}
	m.trail = append(m.trail, here)
	m.trail = m.trail[max(0, len(m.trail)-longestTrail):]
}

// goBack returns to the place that was left last.
func (m *model) goBack() tea.Cmd {
	n := len(m.trail)
	if n == 0 {
		return nil
	}
	last := m.trail[n-1]
	m.trail = m.trail[:n-1]
	cmd := m.show(func() {
		m.current, m.pages = last.view, last.pages
		m.openView()
	})
	if last.ref.Kind == screen.None {
		return cmd
	}
	return tea.Batch(cmd, m.update(m.top(), screen.Selected{Ref: last.ref}))
}

// switchTo shows a view as its number, or a click on its title, does: a new beginning, from which nothing leads back.
func (m *model) switchTo(view string) tea.Cmd {
	cmd := m.goTo(screen.Go{View: view})
	m.trail = nil
	return cmd
}
