package cel

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// keys are the keys of the mode: those that do something while text is typed, or the others.
func (s *Screen) keys() screen.Keys {
	mend := func(w *screen.World) tea.Cmd {
		s.ed.replace(s.tried.suggestion())
		s.impact.usage = nil
		return s.tried.try(w, s.ed.Text(), s.class)
	}
	move := func(lines func() int) func(*screen.World) tea.Cmd {
		return screen.Then(func() { s.list.table.Move(lines()) })
	}
	next, previous := move(func() int { return 1 }), move(func() int { return -1 })
	down, up := move(func() int { return s.list.table.Page() }), move(func() int { return -s.list.table.Page() })
	complete := screen.Then(func() {
		if s.tried.lab != nil {
			s.ed.complete(s.tried.lab.completer)
		}
	})
	copyIt := func(*screen.World) tea.Cmd { return screen.Send(screen.Copy{Text: s.copyText()}) }
	var mendOff, textOff, useOff string
	if s.tried.suggestion() == "" {
		mendOff = "there is nothing to correct"
	}
	if a := s.tried.answer; a == nil || a.trial.Check.Scheduler != nil || a.text != s.ed.Text() {
		useOff = "the selector does not compile"
	}
	if s.ed.Text() == "" {
		textOff, useOff = "there is no selector", "there is no selector"
	}
	if s.editing {
		return screen.Keys{
			{Name: "complete", Press: []string{"tab", "ctrl+space"}, Show: "Tab", Short: "complete", Help: "complete, or propose what can stand here", Do: complete},
			{Name: "instead", Press: []string{"ctrl+r"}, Show: "^R", Short: "instead", Help: "take the corrected form", Off: mendOff, Do: mend},
			{Name: "load", Press: []string{"ctrl+o"}, Show: "^O", Short: "load", Help: "load a selector", Do: s.openLoad},
			{Name: "use in claim", Press: []string{"ctrl+t"}, Show: "^T", Short: "use", Help: "try it in a claim", Off: useOff, Do: s.openUse},
			{Name: "copy as YAML", Press: []string{"ctrl+y"}, Show: "^Y", Short: "copy", Help: "copy as YAML", Off: textOff, Do: copyIt},
			{Name: "behind class", Press: []string{"ctrl+g"}, Show: "^G", Short: "class", Help: "try on the devices of a class only", Do: s.openClasses},
			{Name: "next device", Press: []string{"ctrl+n"}, Help: "next device", Do: next},
			{Name: "previous device", Press: []string{"ctrl+p"}, Help: "previous device", Do: previous},
			{Name: "next page", Press: []string{"pgdown"}, Help: "a page down", Do: down},
			{Name: "previous page", Press: []string{"pgup"}, Help: "a page up", Do: up},
			{Name: "stop editing", Press: []string{"esc"}, Show: "Esc", Short: "done", Help: "stop editing", Do: screen.Then(s.leave)},
		}
	}
	return screen.Keys{
		{Name: "edit", Press: []string{"i"}, Short: "edit", Help: "edit the selector; Esc ends it", Do: screen.Then(func() { s.editing = true })},
		{Name: "instead", Press: []string{"r"}, Short: "instead", Help: "take the corrected form that is proposed", Off: mendOff, Do: mend},
		{Name: "load", Press: []string{"l"}, Short: "load", Help: "load a selector from a class, a claim, or what was typed before", Do: s.openLoad},
		{Name: "use in claim", Press: []string{"u"}, Short: "use", Help: "on how many nodes a claim could be allocated with this selector", Off: useOff, Do: s.openUse},
		{Name: "copy as YAML", Press: []string{"Y"}, Short: "copy", Help: "copy the selector as YAML, ready to paste", Off: textOff, Do: copyIt},
		{Name: "behind class", Press: []string{"b"}, Short: "class", Help: "try on the devices of a class only, as a request of that class does, or on all", Do: s.openClasses},
		{Name: "all devices", Press: []string{"x"}, Help: "which devices are listed: those that match, those on which it fails, all", Do: screen.Then(s.list.another)},
		{Name: "next device", Press: []string{"j", "down"}, Help: "next device", Do: next},
		{Name: "previous device", Press: []string{"k", "up"}, Help: "previous device", Do: previous},
		{Name: "next page", Press: []string{"pgdown", "ctrl+f"}, Help: "a page down", Do: down},
		{Name: "previous page", Press: []string{"pgup", "ctrl+b"}, Help: "a page up", Do: up},
		{Name: "first", Press: []string{"g", "home"}, Help: "the first device", Do: screen.Then(func() { s.list.table.MoveTo(0) })},
		{Name: "last", Press: []string{"G", "end"}, Help: "the last device", Do: screen.Then(func() { s.list.table.MoveTo(s.list.table.Len() - 1) })},
	}
}
