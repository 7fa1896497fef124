package cel

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

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
	if result == bench.NoMatch {
		name = styled.Dim
	}
	return widget.Row{Cells: []styled.Line{
		{{Text: mark + " ", Role: role}, {Text: inspect.Sanitize(device.ID.Pool + "/" + device.ID.Device), Role: name}},
		styled.Text(styled.Dim, inspect.Sanitize(string(device.Node))), styled.Text(styled.Dim, screen.ShortDriver(device.ID.Driver)),
	}}
}

func resultMark(r bench.Result) (string, styled.Role) {
	switch r {
	case bench.Match:
		return "✓", styled.Good
	case bench.Failed:
		return "!", styled.Bad
	}
	return "·", styled.Dim
}

func valueMark(v *bench.TermValue) (string, styled.Role) {
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
func (l *deviceList) termLines(width int) []styled.Line {
	subject, ok := l.subject()
	if !ok {
		return nil
	}
	a := l.rows.a
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
			out = append(out, indented(fold(styled.Text(styled.Bad, inspect.Sanitize(bench.WithoutAdvice(err.Error()))), max(10, width-5)))...)
		}
	}
	return out
}

// fieldLines is what a device has, while there are no terms. Where the whole expression leaves no room for
// the value, the field is named without it: the value is what one looks for.
func fieldLines(l *lab, subject, width int) []styled.Line {
	var out []styled.Line
	for _, v := range bench.FieldValues(l.subjects[subject]) {
		value := styled.Line{{Text: " = "}, {Text: inspect.Sanitize(v.Value), Role: styled.Literal}}
		whole := append(styled.Line{{Text: inspect.Sanitize(v.Field.Expression()), Role: styled.Dim}}, value...)
		if whole.Width() <= width {
			out = append(out, whole)
			continue
		}
		out = append(out, fold(append(styled.Line{{Text: inspect.Sanitize(selector.ShortField(v.Field.Expression())), Role: styled.Dim}}, value...), width)...)
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
		out = append(out, styled.Line{{Text: "     " + inspect.Sanitize(selector.ShortField(r.Expression)) + " = ", Role: styled.Dim}, {Text: value, Role: role}})
	}
	return out
}
