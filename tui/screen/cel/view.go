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
	a := s.tried.of(s.ed.Text(), s.class)
	var findings []bench.Finding
	if a != nil && !proposing {
		findings = a.findings
	}
	head, cursorX, cursorY := s.ed.draw(th, width, height, s.editing, findings)
	lines := append([]string{widget.Rule(th, s.title(w, a), width)}, head...)
	s.layout.editor = len(head)
	var advice []styled.Line
	if s.tried.lab != nil && s.tried.lab.partial != "" && !proposing {
		advice = append(advice, styled.Text(styled.Warn, s.tried.lab.partial))
	}
	for i := range findings {
		text := styled.Span{Text: inspect.Sanitize(findings[i].Message)}
		advice = append(advice, fold(styled.Line{{Text: "! ", Role: errorRole(findings[i].Severity)}, text}, width-2)...)
	}
	for _, line := range advice[:min(len(advice), max(2, (height-len(lines))*2/5))] {
		lines = append(lines, widget.Render(th, append(styled.Line{{Text: " "}}, line...), width))
	}
	if rest := height - len(lines); rest > 2 {
		lines = append(lines, strings.Split(s.panes(th, width, rest, len(lines)), "\n")...)
	}
	if proposing {
		lines = lay(lines, s.ed.popup.box(th, width, height-cursorY-2), cursorX, cursorY+2, width, height)
	}
	return strings.Join(lines[:min(len(lines), height)], "\n")
}

// title says in a few words what the selector does, on which devices it is tried, what it was loaded from,
// and what it costs. The answer is nil until there is one.
func (s *Screen) title(w *screen.World, a *answer) styled.Line {
	line := styled.Text(styled.Strong, "Selector")
	add := func(role styled.Role, text string) { line = append(line, styled.Span{Text: text, Role: role}) }
	compiles, blank := a != nil && a.compiles(), strings.TrimSpace(s.ed.Text()) == ""
	switch {
	case w.Snapshot == nil:
		add(styled.Dim, "  waiting for the cluster")
	case s.tried.lab == nil || s.tried.answer == nil:
		add(styled.Dim, "  reading devices …")
	case blank:
		add(styled.Dim, "  none yet; "+bench.DeviceCount(len(s.tried.lab.devices)))
	case a == nil:
		add(styled.Dim, "  …")
	case !compiles:
		add(styled.Bad, "  does not compile")
	default:
		role := styled.Good
		if a.trial.Matched == 0 {
			role = styled.Warn
		}
		add(role, fmt.Sprintf("  %d of %d match", a.trial.Matched, a.trial.Total()))
		if a.trial.Failed > 0 {
			add(styled.Bad, fmt.Sprintf("  fails on %d", a.trial.Failed))
		}
		if accepted, _ := a.trial.Check.Accepted(); !accepted {
			add(styled.Warn, "  refused by the API server")
		}
	}
	if s.class != "" {
		add(styled.Dim, "  behind class ")
		add(styled.Name, inspect.Sanitize(s.class))
	}
	if s.source.ref.Kind != screen.None {
		add(styled.Dim, "  of ")
		add(styled.Name, inspect.Sanitize(s.source.String()))
	}
	if compiles && !blank {
		add(styled.Dim, fmt.Sprintf("  cost %d, at worst %d", a.trial.Cost, a.trial.Check.Worst))
		if a.trial.Check.Worst > selector.MaxCost/10 {
			add(styled.Dim, fmt.Sprintf(" of %d", selector.MaxCost))
		}
	}
	return line
}

// errorRole is how a finding looks.
func errorRole(severity bench.Severity) styled.Role {
	if severity == bench.SeverityError {
		return styled.Bad
	}
	return styled.Warn
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

// panes draws the devices and the terms in height lines, from the line top on.
func (s *Screen) panes(th *theme.Theme, width, height, top int) string {
	title := styled.Text(styled.Title, "Devices")
	if a := s.tried.answer; a != nil && s.list.a != nil && a != s.list.a && !a.compiles() {
		title = append(title, styled.Span{Text: " of the selector before", Role: styled.Warn})
	}
	about := styled.Text(styled.Title, "Terms")
	if id, ok := s.list.selected(); ok {
		about = append(about, styled.Span{Text: " on ", Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(id.Pool + "/" + id.Device), Role: styled.Name})
	}
	s.layout.table, s.layout.tableWidth = top+1, width
	devices := func(height int) string {
		list := s.list.table.View(th, s.layout.tableWidth, height-1)
		return widget.Fit(widget.Rule(th, title, s.layout.tableWidth)+"\n"+list, s.layout.tableWidth, height)
	}
	terms := func(width, height int) string {
		text := widget.Rule(th, about, width)
		for _, line := range s.list.termLines(width) {
			text += "\n" + widget.Render(th, line, width)
		}
		return widget.Fit(text, width, height)
	}
	if width < 70 {
		return devices(height/2) + "\n" + terms(width, height-height/2)
	}
	s.layout.tableWidth = min(width*2/5, 46)
	if width >= 110 {
		s.layout.tableWidth = min(width/2, 84) // for the columns beside the names
	}
	rest := width - s.layout.tableWidth
	return widget.Beside(th, devices(height), terms(rest-2, height), s.layout.tableWidth, rest, height)
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
		lines = append(lines, w.Theme.PaintLine(styled.Line{
			{Text: inspect.Sanitize(f.Field.Expression()), Role: styled.Name}, {Text: "  " + inspect.Sanitize(f.Describe()), Role: styled.Dim},
		}))
	}
	return strings.Join(lines, "\n")
}
