package cel

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// command is a key with what it does.
type command struct {
	keymap.Key
	run func(w *screen.World) tea.Cmd
}

// Keys implements screen.Screen.
func (s *Screen) Keys() keymap.Map {
	if s.mode == choosing {
		return nil // a menu shows its own keys
	}
	var keys keymap.Map
	for _, c := range s.commands() {
		keys = append(keys, c.Key)
	}
	return keys
}

// find returns the command of a keystroke if it is there and works, else nil.
func find(commands []command, press string) *command {
	for i := range commands {
		if (keymap.Map{commands[i].Key}).Action(press) != "" {
			return &commands[i]
		}
	}
	return nil
}

// commands are the keys of the mode: those that do something while text is typed, or the others.
func (s *Screen) commands() []command {
	mend := func(w *screen.World) tea.Cmd {
		s.ed.replace(s.tried.suggestion())
		s.impact.usage = nil
		return s.tried.try(w, s.ed.Text(), s.class)
	}
	stay := func(f func()) func(*screen.World) tea.Cmd { // of what moves the cursor, or changes what is shown
		return func(*screen.World) tea.Cmd { f(); return nil }
	}
	move := func(lines func() int) func(*screen.World) tea.Cmd { return stay(func() { s.list.table.Move(lines()) }) }
	next, previous := move(func() int { return 1 }), move(func() int { return -1 })
	down, up := move(func() int { return s.list.table.Page() }), move(func() int { return -s.list.table.Page() })
	complete := func() {
		if s.tried.lab != nil {
			s.ed.complete(s.tried.lab.completer)
		}
	}
	copyIt := func(*screen.World) tea.Cmd { return screen.Send(screen.Copy{Text: s.CopyText()}) }
	switchPane := stay(func() { s.layout.pane = (s.layout.pane + 1) % panes })
	var mendOff, textOff, useOff, paneOff string
	if s.tried.suggestion() == "" {
		mendOff = "there is nothing to correct"
	}
	if a := s.tried.answer; a == nil || a.trial.Check.Scheduler != nil || a.text != s.ed.Text() {
		useOff = "the selector does not compile"
	}
	if s.ed.Text() == "" {
		textOff, useOff = "there is no selector", "there is no selector"
	}
	if !s.layout.narrow {
		paneOff = "there is room for both"
	}
	type key = keymap.Key
	if s.mode == editing {
		return []command{
			{key{Action: "complete", Press: []string{"tab", "ctrl+space"}, Show: "Tab", Short: "complete", Help: "complete, or propose what can stand here"}, stay(complete)},
			{key{Action: "instead", Press: []string{"ctrl+r"}, Show: "^R", Short: "instead", Help: "take the corrected form", Off: mendOff}, mend},
			{key{Action: "load", Press: []string{"ctrl+o"}, Show: "^O", Short: "load", Help: "load a selector"}, s.openLoad},
			{key{Action: "use in claim", Press: []string{"ctrl+t"}, Show: "^T", Short: "use", Help: "try it in a claim", Off: useOff}, s.openUse},
			{key{Action: "copy as YAML", Press: []string{"ctrl+y"}, Show: "^Y", Short: "copy", Help: "copy as YAML", Off: textOff}, copyIt},
			{key{Action: "behind class", Press: []string{"ctrl+g"}, Show: "^G", Short: "class", Help: "try on the devices of a class only"}, s.openClasses},
			{key{Action: "terms or devices", Press: []string{"ctrl+v"}, Show: "^V", Help: "terms or devices", Off: paneOff}, switchPane},
			{key{Action: "next device", Press: []string{"ctrl+n"}, Help: "next device"}, next},
			{key{Action: "previous device", Press: []string{"ctrl+p"}, Help: "previous device"}, previous},
			{key{Action: "next page", Press: []string{"pgdown"}, Help: "a page down"}, down},
			{key{Action: "previous page", Press: []string{"pgup"}, Help: "a page up"}, up},
			{key{Action: "stop editing", Press: []string{"esc"}, Show: "Esc", Short: "done", Help: "stop editing"}, stay(s.leave)},
		}
	}
	return []command{
		{key{Action: "edit", Press: []string{"i"}, Short: "edit", Help: "edit the selector; Esc ends it"}, stay(func() { s.mode = editing })},
		{key{Action: "instead", Press: []string{"r"}, Short: "instead", Help: "take the corrected form that is proposed", Off: mendOff}, mend},
		{key{Action: "load", Press: []string{"l"}, Short: "load", Help: "load a selector from a class, a claim, or what was typed before"}, s.openLoad},
		{key{Action: "use in claim", Press: []string{"u"}, Short: "use", Help: "on how many nodes a claim could be allocated with this selector", Off: useOff}, s.openUse},
		{key{Action: "copy as YAML", Press: []string{"Y"}, Short: "copy", Help: "copy the selector as YAML, ready to paste", Off: textOff}, copyIt},
		{key{Action: "behind class", Press: []string{"b"}, Short: "class", Help: "try on the devices of a class only, as a request of that class does, or on all"}, s.openClasses},
		{key{Action: "all devices", Press: []string{"x"}, Help: "which devices are listed: those that match, those on which it fails, all"},
			func(w *screen.World) tea.Cmd { return s.list.another(w) }},
		{key{Action: "terms or devices", Press: []string{"v"}, Help: "the terms of the selected device or, where there is no room for both, the devices", Off: paneOff}, switchPane},
		{key{Action: "next device", Press: []string{"j", "down"}, Help: "next device"}, next},
		{key{Action: "previous device", Press: []string{"k", "up"}, Help: "previous device"}, previous},
		{key{Action: "next page", Press: []string{"pgdown", "ctrl+f"}, Help: "a page down"}, down},
		{key{Action: "previous page", Press: []string{"pgup", "ctrl+b"}, Help: "a page up"}, up},
		{key{Action: "first", Press: []string{"g", "home"}, Help: "the first device"}, stay(func() { s.list.table.MoveTo(0) })},
		{key{Action: "last", Press: []string{"G", "end"}, Help: "the last device"}, stay(func() { s.list.table.MoveTo(s.list.table.Len() - 1) })},
	}
}
