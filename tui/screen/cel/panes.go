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
		out = append(out, widget.Hang(styled.Text(role, mark+"  "), fold(paint(a.trial.Terms[i]), max(10, width-3)))...)
		for _, r := range reads[i] {
			value := styled.Span{Text: inspect.Sanitize(r.Value), Role: styled.Literal}
			if r.Value == "" {
				value = styled.Span{Text: "(the device has none)", Role: styled.Warn}
			}
			out = append(out, styled.Line{{Text: "     " + inspect.Sanitize(selector.ShortField(r.Expression)) + " = ", Role: styled.Dim}, value})
		}
		if err := o.Terms[i].Err; err != nil {
			text := styled.Text(styled.Bad, inspect.Sanitize(bench.WithoutAdvice(err.Error())))
			out = append(out, widget.Hang(styled.Text(styled.Plain, "     "), fold(text, max(10, width-5)))...)
		}
	}
	return out
}

// fieldLines is what a device has, while there are no terms. Where the whole expression leaves no room for
// the value, the field is named without it: the value is what one looks for.
func fieldLines(l *lab, subject, width int) []styled.Line {
	var out []styled.Line
	for _, v := range bench.FieldValues(l.subjects[subject]) {
		line := func(field string) styled.Line {
			return styled.Line{
				{Text: inspect.Sanitize(field), Role: styled.Dim}, {Text: " = "}, {Text: inspect.Sanitize(v.Value), Role: styled.Literal},
			}
		}
		whole := line(v.Field.Expression())
		if whole.Width() > width {
			whole = line(selector.ShortField(v.Field.Expression()))
		}
		out = append(out, fold(whole, width)...)
	}
	return out
}
