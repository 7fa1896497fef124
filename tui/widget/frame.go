package widget

import (
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

// Fit makes text exactly as high and at most as wide as given: missing lines are added, others left out. Text that fits, as nearly
// all does, is returned as it is.
func Fit(s string, width, height int) string {
	if height <= 0 {
		return ""
	}
	lines, end, wide := 0, len(s), false
	for from := 0; from <= len(s); {
		length := strings.IndexByte(s[from:], '\n')
		if length < 0 {
			length = len(s) - from
		}
		wide = wide || lineWidth(s[from:from+length]) > width
		from += length + 1
		if lines++; lines == height {
			end = from - 1
			break
		}
	}
	if wide {
		return narrowed(s[:end], width) + strings.Repeat("\n", height-lines)
	}
	return s[:end] + strings.Repeat("\n", height-lines)
}

// narrowed cuts off what is beyond a width.
func narrowed(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if lineWidth(line) > width {
			lines[i] = ansi.Truncate(line, width, "")
		}
	}
	return strings.Join(lines, "\n")
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
	left, right = Fit(left, leftWidth, height), Fit(right, rightWidth-2, height)
	bar := th.Paint(styled.Dim, "│")
	var both strings.Builder
	both.Grow(len(left) + len(right) + height*(leftWidth/4+len(bar)+1))
	for i := range height {
		if i > 0 {
			both.WriteByte('\n')
		}
		var a, b string
		a, left, _ = strings.Cut(left, "\n")
		b, right, _ = strings.Cut(right, "\n")
		both.WriteString(a)
		both.WriteString(styled.Blanks(leftWidth - lineWidth(a)))
		both.WriteString(bar)
		both.WriteByte(' ')
		both.WriteString(b)
	}
	return both.String()
}
