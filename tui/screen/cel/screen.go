package cel

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Screen is the view.
type Screen struct {
	// editing says that the text gets the keys; otherwise the devices do, and the keys that mean the same
	// everywhere.
	editing bool
	ed      textArea
	tried   trying
	list    deviceList
	// source is what the text was loaded from.
	source source
	// class is the class that the selector is used with: only its devices are tried. If it is empty, all are.
	class string
	// wanted is an object whose selectors are to be loaded when the world is known.
	wanted screen.Ref

	layout layout
}

// New makes the view.
func New() *Screen {
	s := &Screen{ed: textArea{width: 80}, list: deviceList{table: widget.NewTable(columns)}}
	s.ed.Cells = cells
	return s
}

// State implements screen.Screen. What can be done depends on how the text has fared. A device of the list
// has a name, a node and a driver, and no columns that a filter could compare.
func (s *Screen) State() screen.State {
	unsettled := s.tried.of(s.ed.Text(), s.class) == nil && (s.tried.labs.Running() || s.tried.run.Running())
	state := screen.State{
		Keys: s.keys(), Typing: s.editing, Unsettled: unsettled, Header: true, CopyText: s.copyText,
		Filters: true, Filter: s.list.words, FilterHint: "words of device, pool, node, driver · !word",
	}
	if id, ok := s.list.selected(); ok {
		state.Selection = screen.DeviceRef(id)
	}
	if s.tried.lab != nil {
		state.Status = bench.DeviceCount(len(s.tried.lab.devices))
		if s.list.words != "" && s.list.rows != nil {
			state.Status = fmt.Sprintf("%d of %s", s.list.rows.Len(), state.Status)
		}
	}
	return state
}

func (s *Screen) copyText() string { return editor.YAML(s.ed.Text()) }

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.Shown, screen.Changed:
		return tea.Batch(s.tried.read(w, s.class), s.loadWanted(w))
	case screen.Hidden:
		s.leave()
		return nil
	case screen.Type:
		s.editing = true
		return nil
	case screen.Filter:
		if s.list.words = msg.Text; msg.Text == "" {
			s.list.rows = nil // from the beginning
		}
		s.list.fill(false)
		return nil
	case screen.Selected:
		s.wanted = msg.Ref
		return s.loadWanted(w)
	case tea.KeyPressMsg:
		return s.pressEditor(w, msg)
	case tea.PasteMsg:
		s.ed.Insert(msg.Content)
		return s.changed(w, false)
	case tea.MouseClickMsg:
		s.click(msg)
		return nil
	case tea.MouseWheelMsg:
		s.list.table.Wheel(widget.WheelRows(msg))
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
			try = s.tried.try(w, s.ed.Text())
		}
		return tea.Batch(try, s.tried.read(w, s.class))
	}
	if r, ok := s.tried.run.Take(msg); ok {
		if r.Err != nil {
			return nil
		}
		s.tried.answer = r.Value
		if r.Value.compiles() {
			s.list.show(r.Value)
		}
	}
	return nil
}

// leave stops editing.
func (s *Screen) leave() {
	s.editing = false
	s.ed.popup.close()
}

// pressEditor handles a key while text is typed.
func (s *Screen) pressEditor(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	if cmd, done := s.popupKeys().Do(w, k.Keystroke()); done {
		return cmd
	}
	before := s.ed.Text()
	if cmd, done := s.keys().Do(w, k.String()); done {
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
	s.ed.popup.close()
	if propose && s.tried.lab != nil {
		s.ed.popup.propose(s.tried.lab.completer, &s.ed.Editor, false)
	}
	if a := s.tried.answer; a != nil && a.text == s.ed.Text() && !s.tried.run.Running() {
		return nil
	}
	return s.tried.try(w, s.ed.Text())
}

func (s *Screen) click(msg tea.MouseClickMsg) {
	switch {
	case msg.Y > 0 && msg.Y <= s.layout.editor:
		s.editing = true
		s.ed.click(msg.X, msg.Y-1)
	case msg.Y >= s.layout.table && msg.X < s.layout.tableWidth:
		s.editing = false
		s.list.table.Click(msg.X, msg.Y-s.layout.table)
	}
}
