package cel

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// keys are the keys of the mode: those that do something while text is typed, or the others.
func (s *Screen) keys() screen.Keys {
	// press are the keystrokes of the mode; a key that has none in it is left out.
	press := func(typing, otherwise string, more ...string) []string {
		if s.editing {
			otherwise, more = typing, nil
		}
		if otherwise == "" {
			return nil
		}
		return append([]string{otherwise}, more...)
	}
	show := func(typing string) string {
		if s.editing {
			return typing
		}
		return ""
	}
	move := func(rows func() int) func(*screen.World) tea.Cmd {
		return screen.Then(func() { s.list.table.Move(rows()) })
	}
	complete := screen.Then(func() {
		if s.tried.lab != nil {
			s.ed.complete(s.tried.lab.completer)
		}
	})
	copyIt := func(*screen.World) tea.Cmd { return screen.Send(screen.Copy{Text: s.copyText()}) }
	copyOff := ""
	if s.ed.Text() == "" {
		copyOff = "there is no selector"
	}
	keys := screen.Keys{
		{Name: "edit", Press: press("", "i"), Short: "edit", Help: "edit the selector; Esc ends it", Do: screen.Then(func() { s.editing = true })},
		{Name: "complete", Press: press("tab", ""), Show: "Tab", Short: "complete", Help: "complete, or propose what can stand here", Do: complete},
		{Name: "load", Press: press("ctrl+o", "l"), Show: show("^O"), Short: "load", Help: "load a selector from a class, a claim or a template", Do: s.openLoad},
		{Name: "copy as YAML", Press: press("ctrl+y", "Y"), Show: show("^Y"), Short: "copy", Help: "copy the selector as YAML, ready to paste", Off: copyOff, Do: copyIt},
		{Name: "behind class", Press: press("ctrl+g", "b"), Show: show("^G"), Short: "class", Help: "try on the devices of a class only, as a request of that class does, or on all", Do: s.openClasses},
		{Name: "next device", Press: press("ctrl+n", "j", "down"), Help: "next device", Do: move(func() int { return 1 })},
		{Name: "previous device", Press: press("ctrl+p", "k", "up"), Help: "previous device", Do: move(func() int { return -1 })},
		{Name: "next page", Press: press("pgdown", "pgdown", "ctrl+f"), Help: "a page down", Do: move(func() int { return s.list.table.Page() })},
		{Name: "previous page", Press: press("pgup", "pgup", "ctrl+b"), Help: "a page up", Do: move(func() int { return -s.list.table.Page() })},
		{Name: "first", Press: press("", "g", "home"), Help: "the first device", Do: screen.Then(func() { s.list.table.MoveTo(0) })},
		{Name: "last", Press: press("", "G", "end"), Help: "the last device", Do: screen.Then(func() { s.list.table.MoveTo(s.list.table.Len() - 1) })},
		{Name: "stop editing", Press: press("esc", ""), Show: "Esc", Short: "done", Help: "stop editing", Do: screen.Then(s.leave)},
	}
	return slices.DeleteFunc(keys, func(k screen.Key) bool { return k.Press == nil })
}
