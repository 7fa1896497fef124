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
	// What is wrong with a word that is not finished is not worth saying while something is proposed.
	proposing := s.ed.popup.open() && s.editing
	foremost := s.tried.foremost()
	if proposing {
		foremost = nil
	}
	head, cursorX, cursorY := s.ed.draw(th, width, height, s.editing, foremost)
	title := append(s.tried.title(w, s.ed.Text()), origin(s.class, &s.source)...)
	title = append(title, s.tried.cost(s.ed.Text())...)
	lines := append([]string{widget.Rule(th, title, width)}, head...)
	s.layout.editor = len(head)
	if !proposing {
		key := "r"
		if s.editing {
			key = "^R"
		}
		room := max(2, (height-len(lines))*2/5)
		advice := s.impact.lines(width - 2)
		advice = append(advice, s.tried.lines(s.ed.Text(), key, width-2, room-len(advice))...)
		for _, line := range advice[:min(len(advice), room)] {
			lines = append(lines, widget.Render(th, append(styled.Line{{Text: " "}}, line...), width))
		}
	}
	if rest := height - len(lines); rest > 2 {
		lines = append(lines, s.layout.panes(th, &s.list, s.tried.answer, width, rest, len(lines))...)
	}
	if proposing {
		lines = lay(lines, s.ed.popup.box(th, width, height-cursorY-2), cursorX, cursorY+2, width, height)
	}
	return strings.Join(lines[:min(len(lines), height)], "\n")
}

// title says in a few words what the selector does.
func (t *trying) title(w *screen.World, text string) styled.Line {
	line := styled.Text(styled.Strong, "Selector")
	add := func(role styled.Role, text string) { line = append(line, styled.Span{Text: "  " + text, Role: role}) }
	a := t.answer
	switch {
	case w.Snapshot == nil:
		add(styled.Dim, "waiting for the cluster")
	case t.lab == nil || a == nil:
		add(styled.Dim, "reading devices …")
	case strings.TrimSpace(text) == "":
		add(styled.Dim, "none yet; "+bench.DeviceCount(len(t.lab.devices)))
	case a.text != text:
		add(styled.Dim, "…")
	case a.trial.Check.Scheduler != nil:
		add(styled.Bad, "does not compile")
	default:
		a.verdict(add)
	}
	return line
}

// origin says on which devices a selector is tried, and what it was loaded from.
func origin(class string, from *source) styled.Line {
	var line styled.Line
	if class != "" {
		line = append(line, styled.Span{Text: "  behind class ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(class), Role: styled.Name})
	}
	if from.ref.Kind != screen.None {
		line = append(line, styled.Span{Text: "  of ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(from.String()), Role: styled.Name})
	}
	return line
}

// cost says what the selector costs, and the limit where it matters.
func (t *trying) cost(text string) styled.Line {
	a := t.answer
	if a == nil || a.text != text || a.trial.Check.Scheduler != nil || strings.TrimSpace(text) == "" {
		return nil
	}
	cost := fmt.Sprintf("  cost %d, at worst %d", a.trial.Cost, a.trial.Check.Worst)
	if a.trial.Check.Worst > selector.MaxCost/10 {
		cost += fmt.Sprintf(" of %d", selector.MaxCost)
	}
	return styled.Text(styled.Dim, cost)
}

// verdict says how many devices match and fail.
func (a *answer) verdict(add func(styled.Role, string)) {
	role := styled.Good
	if a.trial.Matched == 0 {
		role = styled.Warn
	}
	add(role, fmt.Sprintf("%d of %d match", a.trial.Matched, a.trial.Total()))
	if a.trial.Failed > 0 {
		add(styled.Bad, fmt.Sprintf("fails on %d", a.trial.Failed))
	}
	if accepted, _ := a.trial.Check.Accepted(); !accepted {
		add(styled.Warn, "refused by the API server")
	}
}

// lines says what is wrong with a text, and what to write instead, which a key takes. The first finding fits
// into height lines.
func (t *trying) lines(text, key string, width, height int) []styled.Line {
	var out []styled.Line
	if t.lab != nil && t.lab.partial != "" {
		out = append(out, styled.Text(styled.Warn, t.lab.partial))
	}
	if f := t.foremost(); f != nil {
		out = append(out, findingLines(f, key, t.suggestion(), width, height-len(out))...)
		for i := range t.findings[1:] {
			out = append(out, messageLines(&t.findings[i+1], width)...)
		}
	} else if a := t.answer; a != nil && a.text == text && a.trial.Check.Scheduler != nil {
		// What the compiler says, until it is explained.
		out = append(out, fold(styled.Text(styled.Bad, inspect.Sanitize(a.trial.Check.Scheduler.Error())), width)...)
	}
	return out
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

func mark(severity bench.Severity) string {
	if severity == bench.SeverityNote {
		return "· "
	}
	return "! "
}

func messageLines(f *bench.Finding, width int) []styled.Line {
	return fold(styled.Line{{Text: mark(f.Severity), Role: errorRole(f.Severity)}, {Text: inspect.Sanitize(f.Message)}}, width)
}

// findingLines is a finding with the corrected forms, one of which a key takes. Where there is little room,
// the first of these is worth more than the end of a long message.
func findingLines(f *bench.Finding, key, taken string, width, height int) []styled.Line {
	message := messageLines(f, width)
	var instead []styled.Line
	for i := range f.Suggestions {
		head := styled.Line{{Text: "or ", Role: styled.Good}}
		if f.Suggestions[i].Expression == taken {
			head = styled.Line{{Text: key, Role: styled.Accent}, {Text: " instead: ", Role: styled.Good}}
		}
		lines := insteadLines(head, &f.Suggestions[i], width)
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

func insteadLines(head styled.Line, suggestion *bench.Suggestion, width int) []styled.Line {
	effect := fmt.Sprintf("  %s: %s", inspect.Sanitize(suggestion.Effect), bench.DeviceCount(suggestion.Matched))
	return fold(append(append(head, paint(suggestion.Expression)...), styled.Span{Text: effect, Role: styled.Dim}), width)
}

// fold breaks a line at blanks and between the parts of an expression, and what is longer than a line
// anywhere. All lines but the first are indented.
func fold(line styled.Line, width int) []styled.Line {
	return styled.Wrap(line, styled.Wrapping{Width: width, Rest: "  ", Break: true, Spans: true})
}

// layout is where things were last drawn.
type layout struct {
	// editor is the number of lines of the editor, table the first line of the table, and tableWidth its
	// width.
	editor, table, tableWidth int
}

// panes draws the devices and the terms in exactly height lines; top is the line that they begin at, and
// newest the newest answer, which may be to a selector that does not compile.
func (o *layout) panes(th *theme.Theme, l *deviceList, newest *answer, width, height, top int) []string {
	o.table, o.tableWidth = top+1, width
	stale := newest != nil && newest != l.a && newest.trial.Check.Scheduler != nil
	if width >= 70 {
		left := min(width*2/5, 46)
		if width >= 110 {
			left = min(width/2, 84) // for the columns beside the names
		}
		o.tableWidth = left
		return beside(th, l.devicesPane(th, stale, left, height), l.termsPane(th, width-left-1, height), left)
	}
	upper := height / 2
	return append(l.devicesPane(th, stale, width, upper), l.termsPane(th, width, height-upper)...)
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

// devicesPane draws the list; stale says that it is of a selector before the one that is there now.
func (l *deviceList) devicesPane(th *theme.Theme, stale bool, width, height int) []string {
	title := styled.Text(styled.Title, "Devices")
	if l.a != nil {
		text, role := l.which.describe(l.a), styled.Dim
		if stale {
			text, role = "of the selector before", styled.Warn
		}
		title = append(title, styled.Span{Text: " " + text, Role: role})
	}
	out := []string{widget.Rule(th, title, width)}
	if height > 1 {
		out = append(out, strings.Split(widget.Fit(l.table.View(th, width, height-1), width, height-1), "\n")...)
	}
	return out
}

func (l *deviceList) termsPane(th *theme.Theme, width, height int) []string {
	title := styled.Text(styled.Title, "Terms")
	if id, ok := l.selected(); ok {
		title = append(title, styled.Span{Text: " on ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(id.Pool + "/" + id.Device), Role: styled.Name})
	}
	return paneLines(th, title, l.termLines(width-2), width, height)
}

// lay puts a box under the cursor, or above it where there is no room.
func lay(lines, box []string, x, y, width, height int) []string {
	if len(box) == 0 {
		return lines
	}
	if y+len(box) > height {
		y = max(0, height-len(box))
	}
	for len(lines) < y+len(box) {
		lines = append(lines, "")
	}
	x = max(0, min(x-2, width-ansi.StringWidth(box[0])))
	widget.Overlay(lines, box, x, y, width)
	return lines
}

// Plain implements screen.Screen: without a terminal there is nothing to type into, so it shows what
// selectors can ask for.
func (s *Screen) Plain(w *screen.World, _ int) string {
	if s.tried.lab == nil {
		return "no devices are known"
	}
	lines := []string{
		fmt.Sprintf("What selectors can ask for on %s. Test one with: kubectl dra cel EXPRESSION", bench.DeviceCount(len(s.tried.lab.devices))), "",
	}
	for _, f := range s.tried.lab.bench.Inventory().Fields() {
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
		lines = append(lines, w.Theme.PaintLine(styled.Line{line[0], {Text: fmt.Sprintf("  %s on %s: ", kind, bench.DeviceCount(f.Total())), Role: styled.Dim}, {Text: inspect.Sanitize(text), Role: styled.Literal}}))
	}
	return strings.Join(lines, "\n")
}
