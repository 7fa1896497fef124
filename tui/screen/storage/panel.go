package storage

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// panel tells about one capacity what the table has no room for.
func (r *row) panel(width int) []styled.Line {
	lines := []styled.Line{r.classLine(), r.sizeLine(), {{Text: "  topology   ", Role: styled.Dim}, {Text: r.topology}}}
	if r.err != "" {
		lines = append(lines, styled.Line{{Text: "  invalid    ", Role: styled.Dim}, {Text: r.err, Role: styled.Bad}})
	}
	return append(lines, r.nodeLines(width)...)
}

func (r *row) classLine() styled.Line {
	line := styled.Line{{Text: "  class      ", Role: styled.Dim}}
	switch {
	case r.kind.missing:
		return append(line, styled.Span{Text: "there is no StorageClass of this name", Role: styled.Warn})
	case r.kind.provisioner == "":
		return append(line, styled.Span{Text: "not read", Role: styled.Warn})
	}
	line = append(line, styled.Span{Text: r.kind.provisioner + ", " + r.kind.binding})
	if r.kind.ignored != "" {
		line = append(line, styled.Span{Text: "; the scheduler does not look at capacities: " + r.kind.ignored, Role: styled.Warn})
	}
	return line
}

func (r *row) sizeLine() styled.Line {
	line := styled.Line{{Text: "  room       ", Role: styled.Dim}}
	line = append(line, quantity(r.total)...)
	line = append(line, styled.Span{Text: " in all, largest volume "})
	line = append(line, quantity(r.largest)...)
	return append(line, styled.Span{Text: "  (" + inspect.Sanitize(r.ref.Namespace) + "/" + r.name + ")", Role: styled.Dim})
}

// nodeLines lists the nodes on as many lines as they need.
func (r *row) nodeLines(width int) []styled.Line {
	const label = "  nodes      "
	if len(r.nodes) == 0 {
		return []styled.Line{{{Text: label, Role: styled.Dim}, {Text: "none reaches it", Role: styled.Warn}}}
	}
	names := strings.Join(r.nodes[:min(len(r.nodes), mostNodes)], " ")
	lines := styled.Wrap(styled.Text(styled.Plain, names), styled.Wrapping{Width: max(1, width-len(label))})
	return widget.Hang(styled.Text(styled.Dim, label), lines)
}

// mostNodes bounds the work for capacities that thousands of nodes reach.
const mostNodes = 500
