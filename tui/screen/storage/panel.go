package storage

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// panel tells about one capacity what the table has no room for.
func (r *row) panel(width int) []widget.Line {
	lines := []widget.Line{r.classLine(), r.sizeLine(), {{Text: "  topology   ", Role: theme.Dim}, {Text: r.topology}}}
	if r.err != "" {
		lines = append(lines, widget.Line{{Text: "  invalid    ", Role: theme.Dim}, {Text: r.err, Role: theme.Bad}})
	}
	return append(lines, r.nodeLines(width)...)
}

func (r *row) classLine() widget.Line {
	line := widget.Line{{Text: "  class      ", Role: theme.Dim}}
	switch {
	case r.kind.missing:
		return append(line, widget.Span{Text: "there is no StorageClass of this name", Role: theme.Warn})
	case r.kind.provisioner == "":
		return append(line, widget.Span{Text: "not read", Role: theme.Warn})
	}
	line = append(line, widget.Span{Text: r.kind.provisioner + ", " + r.kind.binding})
	if r.kind.ignored != "" {
		line = append(line, widget.Span{Text: "; the scheduler does not look at capacities: " + r.kind.ignored, Role: theme.Warn})
	}
	return line
}

func (r *row) sizeLine() widget.Line {
	line := widget.Line{{Text: "  room       ", Role: theme.Dim}}
	line = append(line, quantity(r.total)...)
	line = append(line, widget.Span{Text: " in all, largest volume "})
	line = append(line, quantity(r.largest)...)
	return append(line, widget.Span{Text: "  (" + inspect.Sanitize(r.ref.Namespace) + "/" + r.name + ")", Role: theme.Dim})
}

// nodeLines lists the nodes on as many lines as they need.
func (r *row) nodeLines(width int) []widget.Line {
	const label = "  nodes      "
	if len(r.nodes) == 0 {
		return []widget.Line{{{Text: label, Role: theme.Dim}, {Text: "none reaches it", Role: theme.Warn}}}
	}
	var lines []widget.Line
	text := ""
	flush := func() {
		head := label
		if len(lines) > 0 {
			head = strings.Repeat(" ", len(label))
		}
		lines = append(lines, widget.Line{{Text: head, Role: theme.Dim}, {Text: text}})
		text = ""
	}
	for _, node := range r.nodes {
		if text != "" && len(label)+widget.Width(text)+1+widget.Width(node) > width {
			flush()
		}
		if text != "" {
			text += " "
		}
		text += node
		if len(lines) > mostNodeLines {
			break
		}
	}
	flush()
	return lines
}

// mostNodeLines bounds the work for capacities that thousands of nodes reach.
const mostNodeLines = 20
