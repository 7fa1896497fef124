package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Span is a piece of text with a role. It has no line breaks and no escape sequences.
type Span struct {
	Text string
	Role theme.Role
}

// Line is a line of text.
type Line []Span

// Text is a line in one role.
func Text(role theme.Role, s string) Line { return Line{{s, role}} }

// Width returns the number of columns that a text takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Width returns the number of columns that the line takes.
func (l Line) Width() int {
	n := 0
	for _, span := range l {
		n += Width(span.Text)
	}
	return n
}

// String returns the text without roles.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return b.String()
}

// Cut shortens a text to a number of columns; an ellipsis shows that something is missing.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, "…")
}

// Pad makes a text exactly width columns wide.
func Pad(s string, width int) string {
	s = Cut(s, width)
	return s + blanks(width-Width(s))
}

func blanks(n int) string { return strings.Repeat(" ", max(0, n)) }

// painter draws lines in one appearance.
type painter struct {
	theme    *theme.Theme
	selected bool
}

func (p painter) paint(role theme.Role, s string) string {
	if p.selected {
		return p.theme.PaintSelected(role, s)
	}
	return p.theme.Paint(role, s)
}

// line writes a line cut and padded to exactly width columns; with right, it is aligned to the right.
func (p painter) line(b *strings.Builder, l Line, width int, right bool) {
	have := l.Width()
	if right && have < width {
		b.WriteString(p.paint(theme.Plain, blanks(width-have)))
	}
	left := width
	for _, span := range l {
		text := span.Text
		if have > width && Width(text) >= left {
			// The last span that is shown carries the ellipsis, also when only what comes after it is missing.
			text = Pad(ansi.Truncate(text, max(0, left-1), "")+"…", left)
			if left <= 0 {
				break
			}
			b.WriteString(p.paint(span.Role, text))
			return
		}
		b.WriteString(p.paint(span.Role, text))
		left -= Width(text)
	}
	if !right {
		b.WriteString(p.paint(theme.Plain, blanks(left)))
	}
}

// Render draws the line in exactly width columns.
func (l Line) Render(t *theme.Theme, width int) string {
	var b strings.Builder
	painter{theme: t}.line(&b, l, width, false)
	return b.String()
}

// Paint draws the line as wide as it is.
func (l Line) Paint(t *theme.Theme) string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(t.Paint(span.Role, span.Text))
	}
	return b.String()
}
