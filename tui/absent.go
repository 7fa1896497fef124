package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// absent stands for a view that this version does not have yet.
type absent struct{ title string }

func (a *absent) Update(*screen.World, tea.Msg) tea.Cmd     { return nil }
func (a *absent) View(w *screen.World, width, _ int) string { return a.Plain(w, width) }
func (a *absent) Plain(*screen.World, int) string {
	return "  The view " + a.title + " is not built yet."
}
func (a *absent) Keys() keymap.Map      { return nil }
func (a *absent) Selection() screen.Ref { return screen.Ref{} }
func (a *absent) Status() string        { return "" }
