package cel

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
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
	mode    mode
	ed      editorState
	popup   popup
	menu    *menu
	history []string
	// source is what the text was loaded from.
	source source
	// class is the class that the selector is used with: only its devices are tried. If it is empty, all are.
	class string

	benches screen.Job[*lab]
	preview screen.Job[*answer]
	fullRun screen.Job[*answer]
	advice  screen.Job[advice]
	impact  screen.Job[usage]
	lists   screen.Job[[]entry]

	lab *lab
	// answer is the newest, lastValid the newest of a text that compiles.
	answer, lastValid *answer
	findings          []bench.Finding
	advised           string // what the findings are about, as inQuestion tells
	usage             *usage
	// wanted is an object whose selectors are to be loaded when the world is known.
	wanted screen.Ref

	table      *widget.Table
	rows       *deviceRows // of the table
	listFilter listFilter
	// words narrow the list, as the user typed them; which devices they let pass is worked out in the background.
	words     string
	narrowing screen.Job[*narrowed]
	pane      pane
	pause     time.Duration // before advice
	narrow    bool          // there is room for one pane only
	// width of the editor when last drawn, which up and down need, and where else things were drawn.
	width int
	zones zones
}

// zones are where things are: the number of lines of the editor, and the first line and the width of the
// table.
type zones struct{ editor, table, tableWidth int }

// editorState is the editor as it was last laid out.
type editorState struct {
	widget.Editor
	top int // the first line that is shown
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
	s := &Screen{table: widget.NewTable(columns), width: 80, pause: pause}
	s.ed.Cells = cells
	return s
}

// Typing implements screen.TextInput.
func (s *Screen) Typing() bool { return s.mode != browsing }

// Unsettled implements screen.Pending: what can be done depends on how the text has fared.
func (s *Screen) Unsettled() bool {
	if s.benches.Running() && (s.lab == nil || s.lab.class != s.class) {
		return true
	}
	if s.narrowing.Running() {
		return true
	}
	return s.advised != s.inQuestion() && (s.preview.Running() || s.fullRun.Running() || s.advice.Running())
}

// inQuestion tells texts, each tried on the devices of a class, apart.
func (s *Screen) inQuestion() string { return s.class + "\x00" + s.ed.Text() }

// HasHeader implements screen.HasHeader.
func (s *Screen) HasHeader() {}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.Shown, screen.Changed:
		return tea.Batch(s.read(w), s.loadWanted(w))
	case screen.Hidden:
		s.leave()
		return nil
	case screen.Type:
		s.mode = editing
		return nil
	case screen.Filter:
		return s.narrowTo(w, msg.Text)
	case screen.Selected:
		s.wanted = msg.Ref
		return s.loadWanted(w)
	case tea.KeyPressMsg:
		return s.press(w, msg)
	case tea.PasteMsg:
		return s.paste(w, msg.Content)
	case tea.MouseClickMsg:
		s.click(msg)
		return nil
	case tea.MouseWheelMsg:
		s.wheel(msg)
		return nil
	}
	cmd, _ := s.take(w, msg)
	return cmd
}

// leave stops editing and remembers the text.
func (s *Screen) leave() {
	s.mode, s.menu = browsing, nil
	s.popup.close()
	s.remember()
}

func (s *Screen) press(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	switch s.mode {
	case choosing:
		return s.pressMenu(w, k)
	case editing:
		return s.pressEditor(w, k)
	case browsing:
	}
	action := s.Keys().Action(k.String())
	if action == "" {
		return nil
	}
	return s.do(w, action)
}

// The actions.
const (
	edit       keymap.Action = "edit"
	stop       keymap.Action = "stop editing"
	complete   keymap.Action = "complete"
	mend       keymap.Action = "instead"
	load       keymap.Action = "load"
	useIt      keymap.Action = "use in claim"
	behind     keymap.Action = "behind class"
	copyYAML   keymap.Action = "copy as YAML"
	showOthers keymap.Action = "all devices"
	switchPane keymap.Action = "terms or devices"
	nextDevice keymap.Action = "next device"
	prevDevice keymap.Action = "previous device"
	nextPage   keymap.Action = "next page"
	prevPage   keymap.Action = "previous page"
	first      keymap.Action = "first"
	last       keymap.Action = "last"
)

// Keys implements screen.Screen.
func (s *Screen) Keys() keymap.Map {
	if s.mode == choosing {
		return nil // a menu shows its own keys
	}
	if s.mode != browsing {
		return s.editingKeys()
	}
	return keymap.Map{
		{Action: edit, Press: []string{"i"}, Short: "edit", Help: "edit the selector; Esc ends it"},
		{Action: mend, Press: []string{"r"}, Short: "instead", Help: "take the corrected form that is proposed", Off: s.mendOff()},
		{Action: load, Press: []string{"l"}, Short: "load", Help: "load a selector from a class, a claim, or what was typed before"},
		{Action: useIt, Press: []string{"u"}, Short: "use", Help: "on how many nodes a claim could be allocated with this selector", Off: s.useOff()},
		{Action: copyYAML, Press: []string{"Y"}, Short: "copy", Help: "copy the selector as YAML, ready to paste", Off: s.copyOff()},
		{Action: behind, Press: []string{"b"}, Short: "class", Help: "try on the devices of a class only, as a request of that class does, or on all"},
		{Action: showOthers, Press: []string{"x"}, Help: "which devices are listed: those that match, those on which it fails, all"},
		{Action: switchPane, Press: []string{"v"}, Help: "the terms of the selected device or, where there is no room for both, the devices", Off: s.paneOff()},
		{Action: nextDevice, Press: []string{"j", "down"}, Help: "next device"},
		{Action: prevDevice, Press: []string{"k", "up"}, Help: "previous device"},
		{Action: nextPage, Press: []string{"pgdown", "ctrl+f"}, Help: "a page down"},
		{Action: prevPage, Press: []string{"pgup", "ctrl+b"}, Help: "a page up"},
		{Action: first, Press: []string{"g", "home"}, Help: "the first device"},
		{Action: last, Press: []string{"G", "end"}, Help: "the last device"},
	}
}

// editingKeys are those that do something while text is typed.
func (s *Screen) editingKeys() keymap.Map {
	return keymap.Map{
		{Action: complete, Press: []string{"tab", "ctrl+space"}, Show: "Tab", Short: "complete", Help: "complete, or propose what can stand here"},
		{Action: mend, Press: []string{"ctrl+r"}, Show: "^R", Short: "instead", Help: "take the corrected form", Off: s.mendOff()},
		{Action: load, Press: []string{"ctrl+o"}, Show: "^O", Short: "load", Help: "load a selector"},
		{Action: useIt, Press: []string{"ctrl+t"}, Show: "^T", Short: "use", Help: "try it in a claim", Off: s.useOff()},
		{Action: copyYAML, Press: []string{"ctrl+y"}, Show: "^Y", Short: "copy", Help: "copy as YAML", Off: s.copyOff()},
		{Action: behind, Press: []string{"ctrl+g"}, Show: "^G", Short: "class", Help: "try on the devices of a class only"},
		{Action: switchPane, Press: []string{"ctrl+v"}, Show: "^V", Help: "terms or devices", Off: s.paneOff()},
		{Action: nextDevice, Press: []string{"ctrl+n"}, Help: "next device"},
		{Action: prevDevice, Press: []string{"ctrl+p"}, Help: "previous device"},
		{Action: nextPage, Press: []string{"pgdown"}, Help: "a page down"},
		{Action: prevPage, Press: []string{"pgup"}, Help: "a page up"},
		{Action: stop, Press: []string{"esc"}, Show: "Esc", Short: "done", Help: "stop editing"},
	}
}

func (s *Screen) mendOff() string {
	if s.suggestion() == "" {
		return "there is nothing to correct"
	}
	return ""
}

func (s *Screen) paneOff() string {
	if !s.narrow {
		return "there is room for both"
	}
	return ""
}

func (s *Screen) copyOff() string {
	if s.ed.Text() == "" {
		return "there is no selector"
	}
	return ""
}

func (s *Screen) useOff() string {
	switch {
	case s.ed.Text() == "":
		return "there is no selector"
	case s.answer == nil || s.answer.trial.Check.Scheduler != nil || s.answer.text != s.ed.Text():
		return "the selector does not compile"
	}
	return ""
}

// do carries out an action.
func (s *Screen) do(w *screen.World, action keymap.Action) tea.Cmd {
	switch action {
	case edit:
		s.mode = editing
	case stop:
		s.leave()
	case mend:
		s.setText(s.suggestion())
		return s.try(w)
	case load:
		return s.openLoad(w)
	case useIt:
		return s.openUse(w)
	case behind:
		return s.openClasses(w)
	case copyYAML:
		return screen.Send(screen.Copy{Text: s.CopyText()})
	case showOthers:
		s.listFilter = (s.listFilter + 1) % listFilters
		if s.lastValid != nil {
			return s.fill(w)
		}
	case switchPane:
		s.pane = (s.pane + 1) % panes
	case nextDevice:
		s.table.Move(1)
	case prevDevice:
		s.table.Move(-1)
	case nextPage:
		s.table.Move(s.table.Page())
	case prevPage:
		s.table.Move(-s.table.Page())
	case first:
		s.table.MoveTo(0)
	case last:
		s.table.MoveTo(s.table.Len() - 1)
	case complete:
		s.proposeNow()
	}
	return nil
}

// setText replaces the text, as one change that can be taken back.
func (s *Screen) setText(text string) {
	s.ed.Set(text)
	s.popup.close()
	s.usage = nil
}

// suggestion is the corrected form that is proposed first, or "".
func (s *Screen) suggestion() string {
	for _, f := range s.findings {
		for _, suggestion := range f.Suggestions {
			return suggestion.Expression
		}
	}
	return ""
}

// pressEditor handles a key while text is typed.
func (s *Screen) pressEditor(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	if handled, taken := s.popup.press(&s.ed.Editor, k.Keystroke()); taken {
		return s.changed(w, true)
	} else if handled {
		return nil
	}
	if action := s.editingKeys().Action(k.String()); action != "" {
		before := s.ed.Text()
		cmd := s.do(w, action)
		if before != s.ed.Text() {
			return tea.Batch(cmd, s.changed(w, false))
		}
		return cmd
	}
	switch k.Keystroke() {
	case "up":
		return s.vertical(-1)
	case "down":
		return s.vertical(1)
	}
	before := s.ed.Text()
	if !s.ed.Press(k) {
		return nil
	}
	if before == s.ed.Text() {
		s.popup.close()
		return nil
	}
	return s.changed(w, true)
}

// changed follows a change of the text.
func (s *Screen) changed(w *screen.World, propose bool) tea.Cmd {
	s.usage = nil
	s.popup.close()
	if propose && s.lab != nil {
		s.popup.propose(s.lab.completer, &s.ed.Editor, false)
	}
	if s.answer != nil && s.answer.text == s.ed.Text() && !s.preview.Running() {
		return nil
	}
	return s.try(w)
}

func (s *Screen) proposeNow() {
	if s.lab == nil {
		return
	}
	if s.popup.propose(s.lab.completer, &s.ed.Editor, true); len(s.popup.items.Items) == 1 {
		s.popup.accept(&s.ed.Editor)
	}
}

func (s *Screen) paste(w *screen.World, text string) tea.Cmd {
	switch s.mode {
	case choosing:
		s.menu.Insert(text)
		return nil
	case browsing, editing:
	}
	s.ed.Insert(text)
	return s.changed(w, false)
}

// vertical moves the cursor so many lines down.
func (s *Screen) vertical(lines int) tea.Cmd {
	s.popup.close()
	s.ed.Vertical(lines, s.width)
	return nil
}

// remember adds the text to what was typed before.
func (s *Screen) remember() {
	const most = 50
	if s.ed.Text() == "" || len(s.history) > 0 && s.history[len(s.history)-1] == s.ed.Text() {
		return
	}
	s.history = append(s.history, s.ed.Text())
	if len(s.history) > most {
		s.history = s.history[1:]
	}
}

// CopyText implements screen.CopyTexter.
func (s *Screen) CopyText() string { return editor.YAML(s.ed.Text()) }

// Selection implements screen.Screen.
func (s *Screen) Selection() screen.Ref {
	id, ok := s.selected()
	if !ok {
		return screen.Ref{}
	}
	return screen.Ref{Kind: screen.Device, Name: id.String()}
}

// Status implements screen.Screen.
func (s *Screen) Status() string {
	if s.lab == nil {
		return ""
	}
	if s.words != "" && s.rows != nil {
		return fmt.Sprintf("%d of %s", s.rows.Len(), devices(len(s.lab.devices)))
	}
	return devices(len(s.lab.devices))
}

func (s *Screen) click(msg tea.MouseClickMsg) {
	if s.mode == choosing {
		return
	}
	switch {
	case msg.Y > 0 && msg.Y <= s.zones.editor:
		s.mode = editing
		lines := s.ed.Lines(s.width)
		if row := s.ed.top + msg.Y - 1; row < lines.Len() {
			s.ed.MoveTo(lines.Offset(row, max(0, msg.X-1)))
		}
		s.popup.close()
	case msg.Y >= s.zones.table && msg.X < s.zones.tableWidth:
		s.mode = browsing
		s.table.Click(msg.X, msg.Y-s.zones.table)
	}
}

func (s *Screen) wheel(msg tea.MouseWheelMsg) {
	switch msg.Button {
	case tea.MouseWheelUp:
		s.table.Wheel(-3)
	case tea.MouseWheelDown:
		s.table.Wheel(3)
	}
}

// errorRole is how a finding looks.
func errorRole(severity bench.Severity) styled.Role {
	switch severity {
	case bench.SeverityError:
		return styled.Bad
	case bench.SeverityWarning:
		return styled.Warn
	}
	return styled.Dim
}
