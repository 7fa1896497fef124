package cel

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// mode says who gets the keys.
type mode uint8

const (
	browsing mode = iota // the devices, and the keys that mean the same everywhere
	editing
	choosing // a menu
)

// Screen is the view.
type Screen struct {
	mode  mode
	ed    textArea
	tried trying
	list  deviceList
	menu  *menu // nil unless one is open
	lists screen.Job[[]entry]
	// source is what the text was loaded from.
	source source
	// class is the class that the selector is used with: only its devices are tried. If it is empty, all are.
	class string
	// wanted is an object whose selectors are to be loaded when the world is known.
	wanted screen.Ref

	impact impact
	layout layout
}

// What the root finds out by asking.
var _ interface {
	screen.Screen
	screen.TextInput
	screen.Pending
	screen.HasHeader
	screen.CopyTexter
	screen.Filterer
} = (*Screen)(nil)

// New makes the view.
func New() *Screen {
	s := &Screen{ed: textArea{width: 80}, tried: trying{pause: pause}, list: deviceList{table: widget.NewTable(columns)}}
	s.ed.Cells = cells
	return s
}

// Typing implements screen.TextInput.
func (s *Screen) Typing() bool { return s.mode != browsing }

// Unsettled implements screen.Pending: what can be done depends on how the text has fared.
func (s *Screen) Unsettled() bool {
	return s.list.narrowing.Running() || !s.tried.settled(s.ed.Text(), s.class)
}

// HasHeader implements screen.HasHeader.
func (s *Screen) HasHeader() {}

// FilterText implements screen.Filterer.
func (s *Screen) FilterText() string { return s.list.words }

// FilterHint implements screen.FilterHinter: a device of the list has a name, a node and a driver, and no columns that are compared.
func (s *Screen) FilterHint() string { return "words of device, pool, node, driver · !word" }

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.Shown, screen.Changed:
		return tea.Batch(s.tried.read(w, s.class), s.loadWanted(w))
	case screen.Hidden:
		s.menu = nil
		s.leave()
		return nil
	case screen.Type:
		s.mode = editing
		return nil
	case screen.Filter:
		return s.list.narrowTo(w, msg.Text)
	case screen.Selected:
		s.wanted = msg.Ref
		return s.loadWanted(w)
	case tea.KeyPressMsg:
		return s.press(w, msg)
	case tea.PasteMsg:
		if s.mode == choosing {
			s.menu.Insert(msg.Content)
			return nil
		}
		s.ed.Insert(msg.Content)
		return s.changed(w, false)
	case tea.MouseClickMsg:
		s.click(msg)
		return nil
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			s.list.table.Wheel(-3)
		case tea.MouseWheelDown:
			s.list.table.Wheel(3)
		}
		return nil
	}
	return s.take(w, msg)
}

// take takes in results of work in the background.
func (s *Screen) take(w *screen.World, msg tea.Msg) tea.Cmd {
	if r, ok := s.tried.labs.Take(msg); ok {
		var try tea.Cmd
		if r.Err == nil {
			s.tried.lab = r.Value
			try = s.tried.try(w, s.ed.Text(), s.class)
		}
		return tea.Batch(try, s.tried.read(w, s.class))
	}
	r, ok := s.tried.preview.Take(msg)
	if !ok {
		r, ok = s.tried.fullRun.Take(msg)
	}
	if ok {
		if r.Err != nil {
			return nil
		}
		var shown tea.Cmd
		if r.Value.trial.Check.Scheduler == nil {
			shown = s.list.show(w, r.Value)
		}
		return tea.Batch(shown, s.tried.takeAnswer(w, r.Value))
	}
	if s.list.take(msg) {
		return nil
	}
	if r, ok := s.tried.advice.Take(msg); ok {
		if r.Err == nil && r.Value.text == s.ed.Text() {
			s.tried.findings, s.tried.advised = r.Value.findings, inQuestion(s.ed.Text(), s.class)
		}
		return nil
	}
	if r, ok := s.lists.Take(msg); ok {
		if s.menu != nil && r.Err == nil {
			s.menu.Fill(r.Value)
		}
		return nil
	}
	s.impact.take(msg)
	return nil
}

// leave stops editing and remembers the text.
func (s *Screen) leave() {
	s.mode = browsing
	s.ed.popup.close()
	s.ed.remember()
}

func (s *Screen) press(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	switch s.mode {
	case editing:
		return s.pressEditor(w, k)
	case choosing:
		m := s.menu
		did := m.Press(k)
		if did == widget.MenuStays {
			return nil
		}
		s.mode, s.menu = m.back, nil
		if chosen, ok := m.Chosen(); ok && did == widget.MenuTaken {
			return m.done(w, &chosen)
		}
		return nil
	case browsing:
	}
	if c := find(s.commands(), k.String()); c != nil {
		return c.run(w)
	}
	return nil
}

// pressEditor handles a key while text is typed.
func (s *Screen) pressEditor(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	if handled, taken := s.ed.popup.press(&s.ed.Editor, k.Keystroke()); taken {
		return s.changed(w, true)
	} else if handled {
		return nil
	}
	before := s.ed.Text()
	if c := find(s.commands(), k.String()); c != nil {
		cmd := c.run(w)
		if before != s.ed.Text() {
			return tea.Batch(cmd, s.changed(w, false))
		}
		return cmd
	}
	switch k.Keystroke() {
	case "up":
		s.ed.vertical(-1)
		return nil
	case "down":
		s.ed.vertical(1)
		return nil
	}
	if !s.ed.Press(k) {
		return nil
	}
	if before == s.ed.Text() {
		s.ed.popup.close()
		return nil
	}
	return s.changed(w, true)
}

// changed follows a change of the text.
func (s *Screen) changed(w *screen.World, propose bool) tea.Cmd {
	s.impact.usage = nil
	s.ed.popup.close()
	if propose && s.tried.lab != nil {
		s.ed.popup.propose(s.tried.lab.completer, &s.ed.Editor, false)
	}
	if a := s.tried.answer; a != nil && a.text == s.ed.Text() && !s.tried.preview.Running() {
		return nil
	}
	return s.tried.try(w, s.ed.Text(), s.class)
}

// CopyText implements screen.CopyTexter.
func (s *Screen) CopyText() string { return editor.YAML(s.ed.Text()) }

// Selection implements screen.Screen.
func (s *Screen) Selection() screen.Ref {
	id, ok := s.list.selected()
	if !ok {
		return screen.Ref{}
	}
	return screen.Ref{Kind: screen.Device, Name: id.String()}
}

// Status implements screen.Screen.
func (s *Screen) Status() string {
	if s.tried.lab == nil {
		return ""
	}
	all := devices(len(s.tried.lab.devices))
	if s.list.words != "" && s.list.rows != nil {
		return fmt.Sprintf("%d of %s", s.list.rows.Len(), all)
	}
	return all
}

func (s *Screen) click(msg tea.MouseClickMsg) {
	switch {
	case s.mode == choosing:
	case msg.Y > 0 && msg.Y <= s.layout.editor:
		s.mode = editing
		s.ed.click(msg.X, msg.Y-1)
	case msg.Y >= s.layout.table && msg.X < s.layout.tableWidth:
		s.mode = browsing
		s.list.table.Click(msg.X, msg.Y-s.layout.table)
	}
}
