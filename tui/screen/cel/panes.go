package cel

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// pane is what is shown beside the devices where there is no room for both.
type pane uint8

const (
	terms pane = iota
	values
	list // the devices, where there is room for nothing else
	panes
)

// next is the pane after this one.
func (p pane) next(narrow bool) pane {
	n := panes
	if !narrow {
		n = list
	}
	return (p + 1) % n
}

// listFilter says which devices are listed.
type listFilter uint8

const (
	matching listFilter = iota // and those on which the selector fails; all, when there are neither
	failing
	everyone
	listFilters
)

// order returns the devices of an answer that are listed.
func (w listFilter) order(a *answer) []int {
	switch {
	case w == failing:
		return a.order[a.matched:a.rest]
	case w == everyone || a.rest == 0:
		return a.order
	}
	return a.order[:a.rest]
}

func (w listFilter) describe(a *answer) string {
	switch {
	case w == failing:
		return "on which it fails"
	case w == everyone:
		return "all"
	case a.rest == 0 && len(a.order) > 0:
		return "none; the nearest"
	case a.rest > a.matched:
		return "that match or fail"
	}
	return "that match"
}

var columns = []widget.Column{
	{Title: "  DEVICE", Min: 26, Max: 60}, {Title: "NODE", Max: 30, Rank: 2}, {Title: "DRIVER", Rank: 1},
}

// deviceRows are some devices of an answer.
type deviceRows struct {
	a     *answer
	order []int
}

func (d *deviceRows) Len() int { return len(d.order) }

func (d *deviceRows) Row(i int) widget.Row {
	subject := d.order[i]
	device := &d.a.lab.devices[subject]
	result := d.a.trial.OutcomeOf(subject).Result
	mark, role := resultMark(result)
	name := styled.Plain
	if result == selector.NoMatch {
		name = styled.Dim
	}
	return widget.Row{Cells: []styled.Line{
		{{Text: mark + " ", Role: role}, {Text: inspect.Sanitize(device.ID.Pool + "/" + device.ID.Device), Role: name}},
		styled.Text(styled.Dim, inspect.Sanitize(string(device.Node))), styled.Text(styled.Dim, screen.ShortDriver(device.ID.Driver)),
	}}
}

func resultMark(r selector.Result) (string, styled.Role) {
	switch r {
	case selector.Match:
		return "✓", styled.Good
	case selector.Failed:
		return "!", styled.Bad
	}
	return "·", styled.Dim
}

func valueMark(v *selector.TermValue) (string, styled.Role) {
	switch {
	case v.Err != nil:
		return "!", styled.Bad
	case v.Match:
		return "✓", styled.Good
	}
	return "✗", styled.Warn
}

// termLines is the truth table of the device under the cursor: each term with what it gives and the values
// that it saw.
func (s *Screen) termLines(width int) []styled.Line {
	subject, ok := s.subject()
	if !ok {
		return nil
	}
	a := s.rows.a
	if strings.TrimSpace(a.text) == "" {
		return fieldLines(a.lab, subject, width)
	}
	o := a.trial.OutcomeOf(subject)
	var out []styled.Line
	reads := a.lab.bench.Reads(a.trial, o)
	for i := range a.trial.Terms {
		mark, role := valueMark(&o.Terms[i])
		term := fold(paint(a.trial.Terms[i]), max(10, width-3))
		for j, line := range term {
			lead := styled.Span{Text: "   "}
			if j == 0 {
				lead = styled.Span{Text: mark + "  ", Role: role}
			}
			out = append(out, append(styled.Line{lead}, line...))
		}
		if i < len(reads) {
			out = append(out, readLines(reads[i])...)
		}
		if err := o.Terms[i].Err; err != nil {
			out = append(out, indented(fold(styled.Text(styled.Bad, inspect.Sanitize(briefly(err))), max(10, width-5)))...)
		}
	}
	return out
}

// briefly is an error without the advice at its end: ours was tried.
func briefly(err error) string {
	text, _, _ := strings.Cut(err.Error(), ". consider using")
	return text
}

// fieldLines is what a device has, while there are no terms. Where the whole expression leaves no room for the value, the field is named
// without it: the value is what one looks for.
func fieldLines(l *lab, subject, width int) []styled.Line {
	var out []styled.Line
	for _, v := range l.bench.Values(subject) {
		value := styled.Line{{Text: " = "}, {Text: inspect.Sanitize(v.Value), Role: styled.Literal}}
		whole := append(styled.Line{{Text: inspect.Sanitize(v.Field.Expression()), Role: styled.Dim}}, value...)
		if whole.Width() <= width {
			out = append(out, whole)
			continue
		}
		out = append(out, fold(append(styled.Line{{Text: shortField(v.Field.Expression()), Role: styled.Dim}}, value...), width)...)
	}
	return out
}

func indented(lines []styled.Line) []styled.Line {
	for i := range lines {
		lines[i] = append(styled.Line{{Text: "     "}}, lines[i]...)
	}
	return lines
}

func readLines(reads []selector.Read) []styled.Line {
	var out []styled.Line
	for _, r := range reads {
		value, role := inspect.Sanitize(r.Value), styled.Literal
		if value == "" {
			value, role = "(the device has none)", styled.Warn
		}
		out = append(out, styled.Line{{Text: "     " + shortField(r.Expression) + " = ", Role: styled.Dim}, {Text: value, Role: role}})
	}
	return out
}

// shortField is the name of a field without its domain.
func shortField(field string) string {
	if i := strings.LastIndex(field, "]."); i >= 0 {
		field = field[i+2:]
	}
	return inspect.Sanitize(strings.TrimPrefix(field, "device."))
}

// valueLines is which values the matches have, field by field.
func (s *Screen) valueLines(width, height int) []styled.Line {
	if s.lastValid == nil {
		return nil
	}
	var out []styled.Line
	for i := range s.lastValid.histograms {
		h := &s.lastValid.histograms[i]
		lines := histogram(h, width, s.lastValid.trial.Matched)
		if len(out)+len(lines) > height {
			left := len(s.lastValid.histograms) - i
			if len(out) >= height && len(out) > 0 {
				out, left = out[:height-1], left+1
			}
			return append(out, styled.Text(styled.Dim, fmt.Sprintf("… fields not shown: %d", left)))
		}
		out = append(out, lines...)
	}
	return out
}

// mostBars is how many values of a field get a line of their own.
const mostBars = 5

func histogram(h *selector.Histogram, width, matched int) []styled.Line {
	title := styled.Line{{Text: inspect.Sanitize(h.Field.Name), Role: styled.Name}, {Text: " " + inspect.Sanitize(h.Field.Domain), Role: styled.Dim}}
	if h.Distinct == 1 && h.Missing == 0 {
		return []styled.Line{append(styled.Line{title[0], {Text: " = "}, {Text: inspect.Sanitize(h.Values[0].Value), Role: styled.Literal}}, styled.Span{Text: "  all", Role: styled.Dim})}
	}
	if h.Distinct > valuesShown {
		text := fmt.Sprintf("  %d different values, as ", h.Distinct)
		return []styled.Line{append(title[:1:1], styled.Span{Text: text, Role: styled.Dim}, styled.Span{Text: inspect.Sanitize(h.Values[0].Value), Role: styled.Literal})}
	}
	lines := []styled.Line{title}
	for _, v := range h.Values[:min(mostBars, len(h.Values))] {
		lines = append(lines, bar(inspect.Sanitize(v.Value), v.Devices, matched, width, styled.Literal))
	}
	if more := len(h.Values) - mostBars; more > 0 {
		lines = append(lines, styled.Text(styled.Dim, fmt.Sprintf("  and %d more values", more)))
	}
	if h.Missing > 0 {
		lines = append(lines, bar("(none)", h.Missing, matched, width, styled.Warn))
	}
	return lines
}

// bar is a value with the share of the matches that have it.
func bar(value string, n, of, width int, role styled.Role) styled.Line {
	const number = 7
	text := max(8, min(28, width-number-12))
	length := max(4, min(24, width-number-text-4))
	line := styled.Line{{Text: "  " + styled.Pad(styled.Cut(value, text), text) + " ", Role: role}}
	line = append(line, widget.Bar(float64(n)/float64(max(1, of)), length, styled.Used)...)
	return append(line, styled.Span{Text: fmt.Sprintf("%*d", number, n), Role: styled.Plain})
}
