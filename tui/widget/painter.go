package widget

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// painter draws lines in one appearance.
type painter struct {
	theme    *theme.Theme
	selected bool
}

func (p painter) paint(role styled.Role, s string) string {
	if p.selected {
		return p.theme.PaintSelected(role, s)
	}
	return p.theme.Paint(role, s)
}

// line writes a line cut and padded to exactly width columns; with right, it is aligned to the right.
func (p painter) line(b *strings.Builder, l styled.Line, width int, right bool) {
	have := l.Width()
	if have > width && len(l) == 1 && l[0].Role == styled.Name {
		l = styled.Text(styled.Name, styled.CutMiddle(l[0].Text, width))
		have = l.Width()
	}
	if right && have < width {
		b.WriteString(p.paint(styled.Plain, styled.Blanks(width-have)))
	}
	left := width
	for _, span := range l {
		text := span.Text
		if have > width && styled.Width(text) >= left {
			// The last span that is shown carries the ellipsis, also when only what comes after it is
			// missing.
			text = styled.Pad(styled.CutTo(text, max(0, left-1), "")+styled.Ellipsis, left)
			if left <= 0 {
				break
			}
			b.WriteString(p.paint(span.Role, text))
			return
		}
		b.WriteString(p.paint(span.Role, text))
		left -= styled.Width(text)
	}
	if !right {
		b.WriteString(p.paint(styled.Plain, styled.Blanks(left)))
	}
}

// Render draws a line in exactly width columns.
func Render(t *theme.Theme, l styled.Line, width int) string {
	var b strings.Builder
	painter{theme: t}.line(&b, l, width, false)
	return b.String()
}
