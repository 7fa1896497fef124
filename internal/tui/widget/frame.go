package widget

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/internal/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// Rule draws a horizontal line, with a title in it if there is one.
func Rule(th *theme.Theme, title styled.Line, width int) string {
	if len(title) == 0 || width < 8 {
		return th.Paint(styled.Dim, strings.Repeat("─", max(0, width)))
	}
	if title.Width() > width-6 {
		title = styled.Text(title[0].Role, styled.Cut(title.String(), width-6))
	}
	rest := width - 4 - title.Width()
	return th.Paint(styled.Dim, "── ") + th.PaintLine(title) + th.Paint(styled.Dim, " "+strings.Repeat("─", max(0, rest)))
}

// Fit makes text exactly as high and at most as wide as given: missing lines are added, others left out.
func Fit(s string, width, height int) string {
	if height <= 0 {
		return ""
	}
	lines := strings.Split(s, "\n")
	if len(lines) > height {
		lines = lines[:height]
	}
	for i, line := range lines {
		if lineWidth(line) > width {
			lines[i] = ansi.Truncate(line, width, "")
		}
	}
	return strings.Join(lines, "\n") + strings.Repeat("\n", height-len(lines))
}

// Popup draws lines in a box over the middle of a screen of the given size.
func Popup(th *theme.Theme, screen, title string, lines []styled.Line, width, height int) string {
	inner := styled.Width(title) + 2
	for _, l := range lines {
		inner = max(inner, l.Width())
	}
	inner = clamp(inner, 1, max(1, width-6))
	if most := max(1, height-2); len(lines) > most {
		lines = append(lines[:most-1:most-1], styled.Text(styled.Dim, "…"))
	}
	box := []string{th.Paint(styled.Accent, "╭─ "+styled.Pad(styled.Cut(title, inner), styled.Width(styled.Cut(title, inner)))+" "+strings.Repeat("─", max(0, inner-1-styled.Width(styled.Cut(title, inner))))+"╮")}
	for _, l := range lines {
		box = append(box, th.Paint(styled.Accent, "│")+" "+Render(th, l, inner)+" "+th.Paint(styled.Accent, "│"))
	}
	box = append(box, th.Paint(styled.Accent, "╰"+strings.Repeat("─", inner+2)+"╯"))
	return overlay(Fit(screen, width, height), box, inner+4, width, height)
}

// overlay puts a box onto the middle of a screen.
func overlay(screen string, box []string, boxWidth, width, height int) string {
	lines := strings.Split(screen, "\n")
	x, y := max(0, (width-boxWidth)/2), max(0, (height-len(box))/2)
	for i, b := range box {
		if y+i >= len(lines) {
			break
		}
		line := lines[y+i]
		line += styled.Blanks(width - lineWidth(line))
		lines[y+i] = ansi.Cut(line, 0, x) + b + ansi.Cut(line, x+boxWidth, width)
	}
	return Fit(strings.Join(lines, "\n"), width, height)
}

// Beside puts two texts next to each other, with a line between them. Each is cut to its width; that of the
// right one includes a blank on each side.
func Beside(th *theme.Theme, left, right string, leftWidth, rightWidth, height int) string {
	a, b := strings.Split(Fit(left, leftWidth, height), "\n"), strings.Split(Fit(right, rightWidth-2, height), "\n")
	bar := th.Paint(styled.Dim, "│")
	for i := range a {
		a[i] += styled.Blanks(leftWidth-lineWidth(a[i])) + bar + " " + b[i]
	}
	return strings.Join(a, "\n")
}
