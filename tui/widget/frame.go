package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
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

// Hang puts a label before the first of some lines, and blanks before the others.
func Hang(label styled.Line, lines []styled.Line) []styled.Line {
	out := make([]styled.Line, len(lines))
	for i, line := range lines {
		out[i] = append(slices.Clip(label), line...)
		label = styled.Text(styled.Dim, styled.Blanks(label.Width()))
	}
	return out
}

// Widest is how many columns the widest of some texts has.
func Widest[T any](all []T, text func(T) string) (wide int) {
	for _, one := range all {
		wide = max(wide, styled.Width(text(one)))
	}
	return wide
}

// Fit makes text exactly as high and at most as wide as given: missing lines are added, others left out.
func Fit(s string, width, height int) string {
	if height <= 0 {
		return ""
	}
	lines := strings.Split(s, "\n")
	lines = append(lines, make([]string, max(0, height-len(lines)))...)[:height]
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], width, "")
	}
	return strings.Join(lines, "\n")
}

// Popup draws a page in a box over the middle of a screen of the given size, at most so many lines of it at
// once.
func Popup(th *theme.Theme, screen, title string, page *Page, width, height, lines int) string {
	inner := styled.Width(title) + 2
	for _, l := range page.lines {
		inner = max(inner, l.Width())
	}
	inner = clamp(inner, 1, max(1, width-6))
	title = styled.Cut(title, inner)
	edge := th.Paint(styled.Accent, "│")
	box := []string{th.Paint(styled.Accent, "╭─ "+title+" "+strings.Repeat("─", max(0, inner-1-styled.Width(title)))+"╮")}
	for i, line := range strings.Split(page.View(th, inner, lines), "\n") {
		box = append(box, edge+th.Paint(styled.Accent, page.Margin(i))+line+" "+edge)
	}
	box = append(box, th.Paint(styled.Accent, "╰"+strings.Repeat("─", inner+2)+"╯"))
	under := strings.Split(Fit(screen, width, height), "\n")
	Overlay(under, box, max(0, (width-inner-4)/2), max(0, (height-len(box))/2), width)
	return Fit(strings.Join(under, "\n"), width, height)
}

// Overlay puts a box over lines of a screen of so many columns, at a place. What of it is below the last line
// is left out.
func Overlay(lines, box []string, x, y, width int) {
	for i, b := range box[:min(len(box), max(0, len(lines)-y))] {
		line := lines[y+i] + styled.Blanks(width-ansi.StringWidth(lines[y+i]))
		lines[y+i] = ansi.Cut(line, 0, x) + b + ansi.Cut(line, x+ansi.StringWidth(b), width)
	}
}

// Beside puts two texts next to each other, with a line between them. Each is cut to its width; that of the
// right one includes a blank on each side.
func Beside(th *theme.Theme, left, right string, leftWidth, rightWidth, height int) string {
	if height <= 0 {
		return ""
	}
	bar := th.Paint(styled.Dim, "│") + " "
	lines, beside := strings.Split(Fit(left, leftWidth, height), "\n"), strings.Split(Fit(right, rightWidth-2, height), "\n")
	for i := range lines {
		lines[i] += styled.Blanks(leftWidth-ansi.StringWidth(lines[i])) + bar + beside[i]
	}
	return strings.Join(lines, "\n")
}
