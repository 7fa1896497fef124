package cel

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

func repeat(s string, n int) string { return strings.Repeat(s, max(0, n)) }

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	th := w.Theme
	if s.menu != nil {
		return strings.Join(s.menu.View(th, width, height), "\n")
	}
	head, cursorX, cursorY := s.editorLines(th, width, height)
	lines := append([]string{widget.Rule(th, s.title(w), width)}, head...)
	s.zones.editor = len(head)
	if !s.proposing() {
		for _, line := range s.adviceLines(width-2, max(2, (height-len(lines))*2/5)) {
			lines = append(lines, widget.Render(th, append(styled.Line{{Text: " "}}, line...), width))
		}
	}
	if rest := height - len(lines); rest > 2 {
		lines = append(lines, s.panes(th, width, rest, len(lines))...)
	}
	if s.proposing() {
		lines = lay(lines, s.popup.box(th, width, height-cursorY-2), cursorX, cursorY+2, width, height)
	}
	return strings.Join(lines[:min(len(lines), height)], "\n")
}

// title says in a few words what the selector does.
func (s *Screen) title(w *screen.World) styled.Line {
	line := styled.Text(styled.Strong, "Selector")
	add := func(role styled.Role, text string) { line = append(line, styled.Span{Text: "  " + text, Role: role}) }
	a := s.answer
	switch {
	case w.Snapshot == nil:
		add(styled.Dim, "waiting for the cluster")
	case s.lab == nil || a == nil:
		add(styled.Dim, "reading devices …")
	case strings.TrimSpace(s.ed.Text()) == "":
		add(styled.Dim, "none yet; "+devices(len(s.lab.devices)))
	case a.text != s.ed.Text():
		add(styled.Dim, "…")
	case a.trial.Check.Scheduler != nil:
		add(styled.Bad, "does not compile")
	default:
		s.verdict(a, add)
	}
	if s.class != "" {
		line = append(line, styled.Span{Text: "  behind class ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(s.class), Role: styled.Name})
	}
	if s.source.ref.Kind != screen.None {
		line = append(line, styled.Span{Text: "  of ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(s.source.String()), Role: styled.Name})
	}
	if a != nil && a.text == s.ed.Text() && a.trial.Check.Scheduler == nil && strings.TrimSpace(s.ed.Text()) != "" {
		add(styled.Dim, a.cost())
	}
	return line
}

// cost says what the selector costs, and the limit where it matters.
func (a *answer) cost() string {
	text := fmt.Sprintf("cost %d, at worst %d", a.trial.Cost, a.trial.Check.Worst)
	if a.trial.Check.Worst > selector.MaxCost/10 {
		text += fmt.Sprintf(" of %d", selector.MaxCost)
	}
	return text
}

func (s *Screen) verdict(a *answer, add func(styled.Role, string)) {
	role := styled.Good
	if a.trial.Matched == 0 {
		role = styled.Warn
	}
	text := fmt.Sprintf("%d of %d match", a.trial.Matched, a.trial.Total())
	if a.some {
		text += fmt.Sprintf(" … of %d", len(a.lab.devices))
	}
	add(role, text)
	if a.trial.Failed > 0 {
		add(styled.Bad, fmt.Sprintf("fails on %d", a.trial.Failed))
	}
	if accepted, _ := a.trial.Check.Accepted(); !accepted {
		add(styled.Warn, "refused by the API server")
	}
}

// editorLines draws the text with a caret under the place that the first finding is about. It returns where
// the cursor is, from the first of these lines.
func (s *Screen) editorLines(th *theme.Theme, width, height int) (lines []string, x, y int) {
	s.width = max(10, width-2)
	cursor := -1
	if s.mode == editing {
		cursor = s.ed.Cursor()
	}
	if s.ed.Text() == "" {
		hint := "press i and type, or l to load one"
		if s.mode == editing {
			hint = "type a selector; Tab proposes what can stand here, ^O loads one"
		}
		blank := " "
		if cursor >= 0 {
			blank = " " + widget.Cursor(th, " ")
		}
		return []string{blank + " " + th.Paint(styled.Dim, styled.Cut(hint, width-4)), ""}, 1, 0
	}
	text := s.ed.Lines(s.width)
	row, column := text.Find(s.ed.Cursor())
	most := max(2, height/4)
	s.ed.top = max(0, min(s.ed.top, row, text.Len()-most))
	if row >= s.ed.top+most {
		s.ed.top = row - most + 1
	}
	caretRow, caret := s.caret(th, text)
	for i := s.ed.top; i < min(s.ed.top+most, text.Len()); i++ {
		if i == row {
			y = len(lines)
		}
		lines = append(lines, " "+text.Line(th, i, cursor))
		if i == caretRow {
			lines = append(lines, caret)
		}
	}
	return lines, column + 1, y
}

// proposing reports whether something is proposed under the cursor. What is wrong with a word that is not finished
// is not worth saying then.
func (s *Screen) proposing() bool { return s.popup.open() && s.mode == editing }

// caret points at the place of the first finding.
func (s *Screen) caret(th *theme.Theme, text *widget.EditorLines) (row int, line string) {
	f := s.foremost()
	if f == nil || f.Place.Line == 0 || s.proposing() {
		return -1, ""
	}
	row, column := text.Find(selector.Offset(s.ed.Text(), f.Place))
	return row, " " + repeat(" ", column) + th.Paint(errorRole(f.Severity), "^")
}

// foremost is the finding that is shown first.
func (s *Screen) foremost() *bench.Finding {
	if len(s.findings) == 0 {
		return nil
	}
	return &s.findings[0]
}

// adviceLines says what is wrong with the selector, what to write instead, and what a claim would get, in
// at most height lines.
func (s *Screen) adviceLines(width, height int) []styled.Line {
	var out []styled.Line
	if s.impact.Running() {
		out = append(out, styled.Text(styled.Dim, "asking the allocator …"))
	}
	if s.usage != nil {
		out = append(out, s.usage.lines(width)...)
	}
	if s.lab != nil && s.lab.partial != "" {
		out = append(out, styled.Text(styled.Warn, s.lab.partial))
	}
	if f := s.foremost(); f != nil {
		out = append(out, s.findingLines(f, width, height-len(out))...)
		for i := range s.findings[1:] {
			out = append(out, messageLines(&s.findings[i+1], width)...)
		}
	} else if e := s.compileError(); e != "" {
		out = append(out, fold(styled.Text(styled.Bad, e), width)...)
	}
	return out[:min(len(out), height)]
}

// compileError is what the compiler says, until it is explained.
func (s *Screen) compileError() string {
	if s.answer == nil || s.answer.text != s.ed.Text() || s.answer.trial.Check.Scheduler == nil {
		return ""
	}
	return inspect.Sanitize(s.answer.trial.Check.Scheduler.Error())
}

func mark(severity bench.Severity) string {
	if severity == bench.SeverityNote {
		return "· "
	}
	return "! "
}

func messageLines(f *bench.Finding, width int) []styled.Line {
	return fold(styled.Line{{Text: mark(f.Severity), Role: errorRole(f.Severity)}, {Text: inspect.Sanitize(f.Message)}}, width)
}

// findingLines is a finding with the corrected forms. Where there is little room, the first of these is
// worth more than the end of a long message.
func (s *Screen) findingLines(f *bench.Finding, width, height int) []styled.Line {
	message := messageLines(f, width)
	var instead []styled.Line
	for i := range f.Suggestions {
		lines := s.insteadLines(&f.Suggestions[i], width)
		if i > 0 && len(message)+len(instead)+len(lines) > height {
			break
		}
		instead = append(instead, lines...)
	}
	if room := max(1, height-len(instead)); len(message) > room {
		message = message[:room]
		last := &message[room-1]
		*last = append(*last, styled.Span{Text: styled.Blanks(min(1, width-last.Width())) + styled.Ellipsis, Role: styled.Dim})
	}
	return append(message, instead...)
}

func (s *Screen) insteadLines(suggestion *bench.Suggestion, width int) []styled.Line {
	head := styled.Line{{Text: "or ", Role: styled.Good}}
	if suggestion.Expression == s.suggestion() {
		key := "r"
		if s.mode == editing {
			key = "^R"
		}
		head = styled.Line{{Text: key, Role: styled.Accent}, {Text: " instead: ", Role: styled.Good}}
	}
	effect := fmt.Sprintf("  %s: %s", inspect.Sanitize(suggestion.Effect), devices(suggestion.Matched))
	return fold(append(append(head, paint(suggestion.Expression)...), styled.Span{Text: effect, Role: styled.Dim}), width)
}

func devices(n int) string {
	if n == 1 {
		return "1 device"
	}
	return fmt.Sprintf("%d devices", n)
}

// fold breaks a line at blanks and between the parts of an expression, and what is longer than a line anywhere. All
// lines but the first are indented.
func fold(line styled.Line, width int) []styled.Line {
	return styled.Wrap(line, styled.Wrapping{Width: width, Rest: "  ", Break: true, Spans: true})
}

// panes draws the devices and the terms in exactly height lines; top is the line that they
// begin at.
func (s *Screen) panes(th *theme.Theme, width, height, top int) []string {
	s.zones.table = top + 1
	s.narrow = false
	switch {
	case width >= 70:
		left := min(width*2/5, 46)
		if width >= 110 {
			left = min(width/2, 84) // for the columns beside the names
		}
		s.zones.tableWidth = left
		return beside(th, s.devicesPane(th, left, height), s.termsPane(th, width-left-1, height), left)
	}
	s.zones.tableWidth = width
	if s.narrow = height < 12; s.narrow {
		if s.pane == list {
			return s.devicesPane(th, width, height)
		}
		return s.termsPane(th, width, height)
	}
	upper := height / 2
	return append(s.devicesPane(th, width, upper), s.termsPane(th, width, height-upper)...)
}

// beside puts two columns of lines next to each other.
func beside(th *theme.Theme, left, right []string, width int) []string {
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		a, b := "", ""
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		out[i] = ansi.Truncate(a, width, "") + repeat(" ", width-ansi.StringWidth(a)) + th.Paint(styled.Dim, "│") + b
	}
	return out
}

// paneLines is a heading and lines, exactly height in all.
func paneLines(th *theme.Theme, title styled.Line, lines []styled.Line, width, height int) []string {
	out := []string{widget.Rule(th, title, width)}
	for i := 0; len(out) < height; i++ {
		switch {
		case i >= len(lines):
			out = append(out, "")
		case len(out) == height-1 && i+1 < len(lines):
			out = append(out, widget.Render(th, styled.Text(styled.Dim, fmt.Sprintf(" … %d more lines", len(lines)-i)), width))
		default:
			out = append(out, widget.Render(th, append(styled.Line{{Text: " "}}, lines[i]...), width))
		}
	}
	return out[:height]
}

func (s *Screen) devicesPane(th *theme.Theme, width, height int) []string {
	title := styled.Text(styled.Title, "Devices")
	if a := s.lastValid; a != nil {
		text := s.listFilter.describe(a)
		role := styled.Dim
		if s.stale() {
			text, role = "of the selector before", styled.Warn
		}
		title = append(title, styled.Span{Text: " " + text, Role: role})
	}
	out := []string{widget.Rule(th, title, width)}
	if height > 1 {
		out = append(out, strings.Split(widget.Fit(s.table.View(th, width, height-1), width, height-1), "\n")...)
	}
	return out
}

// stale reports whether what is shown is of a text before this one, which does not compile.
func (s *Screen) stale() bool {
	return s.lastValid != nil && s.answer != nil && s.answer != s.lastValid && s.answer.trial.Check.Scheduler != nil
}

func (s *Screen) termsPane(th *theme.Theme, width, height int) []string {
	title := styled.Text(styled.Title, "Terms")
	if id, ok := s.selected(); ok {
		title = append(title, styled.Span{Text: " on ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(id.Pool + "/" + id.Device), Role: styled.Name})
	}
	return paneLines(th, title, s.termLines(width-2), width, height)
}

// lay puts a box under the cursor, or above it where there is no room.
func lay(lines, box []string, x, y, width, height int) []string {
	if len(box) == 0 {
		return lines
	}
	boxWidth := ansi.StringWidth(box[0])
	x = max(0, min(x-2, width-boxWidth))
	if y+len(box) > height {
		y = max(0, height-len(box))
	}
	for len(lines) < y+len(box) {
		lines = append(lines, "")
	}
	for i, b := range box {
		line := lines[y+i]
		line += repeat(" ", width-ansi.StringWidth(line))
		lines[y+i] = ansi.Cut(line, 0, x) + b + ansi.Cut(line, x+boxWidth, width)
	}
	return lines
}

// Plain implements screen.Screen: without a terminal there is nothing to type into, so it shows what selectors
// can ask for.
func (s *Screen) Plain(w *screen.World, _ int) string {
	if s.lab == nil {
		return "no devices are known"
	}
	lines := []string{
		fmt.Sprintf("What selectors can ask for on %s. Test one with: kubectl dra cel EXPRESSION", devices(len(s.lab.devices))), "",
	}
	for _, f := range s.lab.bench.Inventory().Fields() {
		const some = 4
		kind := f.Type()
		if kind == "" {
			kind = "of several types"
		}
		text := strings.Join(f.Common(some), ", ")
		if len(f.Values) > some {
			text += ", …"
		}
		line := styled.Line{{Text: inspect.Sanitize(f.Field.Expression()), Role: styled.Name}}
		lines = append(lines, w.Theme.PaintLine(styled.Line{line[0], {Text: fmt.Sprintf("  %s on %s: ", kind, devices(f.Total())), Role: styled.Dim}, {Text: inspect.Sanitize(text), Role: styled.Literal}}))
	}
	return strings.Join(lines, "\n")
}
