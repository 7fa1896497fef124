package claims

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// least is how many lines the table keeps when the panel is below it.
const least = 5

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	panel := min(6, height/3)
	switch {
	case s.Row() == nil: // there is nothing to say of any claim
		return s.Table(w, width, height)
	case widget.HasAside(width):
		return widget.Aside(w.Theme, func(width int) string { return s.Table(w, width, height) }, s.sideLines, width, height)
	case height-panel-1 < least || panel < 2:
		return s.Table(w, width, height)
	}
	lines := s.panel(width-2, panel)
	table := s.Table(w, width, height-panel-1)
	out := []string{widget.Fit(table, width, height-panel-1), widget.Rule(w.Theme, nil, width)}
	for _, l := range lines {
		out = append(out, " "+widget.Render(w.Theme, l, width-1))
	}
	return strings.Join(out, "\n")
}

// sideLines is the explanation of the claim that is pointed at.
func (s *Screen) sideLines(width int) []styled.Line {
	if !s.answer.Known {
		return s.waiting()
	}
	if s.answer.Err != nil {
		return []styled.Line{styled.Text(styled.Bad, inspect.Sanitize(s.answer.Err.Error()))}
	}
	return text.Lines(s.answer.Value, text.Options{Width: width, Screen: true})
}

func (s *Screen) waiting() []styled.Line {
	row := s.Row()
	return []styled.Line{{{Text: row.namespace + "/" + row.name, Role: styled.Name}, {Text: "  " + row.reason.text}}}
}

// panel says in a few lines what is to be said of the claim: the answer, the reason, what to try.
func (s *Screen) panel(width, height int) []styled.Line {
	if !s.answer.Known || s.answer.Err != nil {
		return s.waiting()
	}
	row, e := s.Row(), s.answer.Value
	lines := headline(row, e, width, 2+height/6)
	if row.reason.stuck() && e.Brief == "" { // otherwise the headline tells
		lines = append(lines, clip(styled.Plain, row.reason.text, width, 1+height/6)...)
	}
	if e.Allocation != nil {
		lines = append(lines, deviceNames(e.Allocation))
	}
	if row.helped {
		lines = append(lines, styled.Text(styled.Supposed, "if that were so; at the moment it is stuck"))
	}
	for _, n := range e.Waits {
		if row.released || row.helped {
			break // what was said of the cluster as it is
		}
		lines = append(lines, clip(styled.Dim, inspect.Sanitize(n.Message), width, 1)...)
	}
	if len(e.Fixes) > 0 && height > 2 {
		lines = lines[:min(len(lines), height-1)]
	}
	for i, fix := range e.Fixes {
		label := "     "
		if i == 0 {
			label = "try: "
		}
		nodes := where(fix) // which tells more than the end of a long message
		message := styled.Cut(inspect.Sanitize(fix.Message), max(20, width-styled.Width(label)-styled.Width(nodes)))
		lines = append(lines, styled.Line{{Text: label, Role: styled.Good}, {Text: message}, {Text: nodes, Role: styled.Dim}})
	}
	return lines[:min(len(lines), height)]
}

// headline is the answer in at most n lines, with the colour of the verdict and a mark that says the same.
func headline(row *row, e *explain.Explanation, width, n int) []styled.Line {
	mark, role := "✓ ", styled.Good
	switch e.Verdict {
	case explain.Unsatisfiable, explain.Invalid:
		mark, role = "✗ ", styled.Bad
	case explain.Unknown:
		mark, role = "? ", styled.Warn
	}
	name := styled.Cut(row.namespace+"/"+row.name, width*2/3) // the answer matters more, and the row is at the cursor
	answer := []styled.Span{{Text: mark, Role: role}, {Text: name, Role: styled.Name}, {Text: " " + inspect.Sanitize(e.Predicate), Role: styled.Strong}}
	lines := styled.Wrap(answer, styled.Wrapping{Width: width - styled.Width(styled.Ellipsis), Rest: "  ", Break: true})
	if len(lines) > n {
		lines = lines[:n]
		lines[n-1] = append(lines[n-1], styled.Span{Text: styled.Ellipsis})
	}
	return lines
}

// deviceNames lists devices: "gpu-a-01: gpu-0 gpu-1".
func deviceNames(a *explain.Allocation) styled.Line {
	names := words.Each(a.Devices, func(d explain.Device) string {
		if d.ID.Pool != string(a.Node) {
			return inspect.Sanitize(d.ID.Pool + "/" + d.ID.Device)
		}
		return inspect.Sanitize(d.ID.Device)
	})
	line := styled.Line{{Text: strings.Join(names, " ")}}
	if a.Node != "" {
		line = append(styled.Line{{Text: inspect.Sanitize(string(a.Node)) + ": ", Role: styled.Name}}, line...)
	}
	return line
}

func where(fix explain.Fix) string {
	switch {
	case fix.Nodes > 1:
		return fmt.Sprintf(" → %d nodes", fix.Nodes)
	case fix.Nodes == 1 && !fix.NamesNode && fix.Node != "": // a node that is only added has no name yet
		return " → " + inspect.Sanitize(string(fix.Node))
	}
	return ""
}

// clip breaks a text into at most n lines; an ellipsis shows that there would be more.
func clip(role styled.Role, s string, width, n int) []styled.Line {
	lines := styled.WrapText(s, width)
	if len(lines) > n {
		lines[n-1] = styled.Cut(lines[n-1]+" "+lines[n], width)
		if !strings.HasSuffix(lines[n-1], "…") {
			lines[n-1] = styled.Cut(lines[n-1], width-1) + "…"
		}
		lines = lines[:n]
	}
	return words.Each(lines, func(l string) styled.Line { return styled.Text(role, l) })
}
