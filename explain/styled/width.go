package styled

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns the number of columns that a text takes on a terminal. Names in Kubernetes are ASCII, but
// values of attributes and messages may have wide and combining characters.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Characters yields what a reader sees as the characters of a text, each with the columns that it takes.
func Characters(s string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for s != "" {
			character, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			if !yield(character, width) {
				return
			}
			s = s[len(character):]
		}
	}
}

// Ellipsis shows that something is missing.
const Ellipsis = "…"

// Cut shortens a text to a number of columns. An ellipsis shows that something is missing.
func Cut(s string, width int) string { return CutTo(s, width, Ellipsis) }

// CutTo is Cut with another mark at the end of a text that was shortened. The mark has only characters of one
// column.
func CutTo(s string, width int, mark string) string {
	switch {
	case Width(s) <= width:
		return s
	case width <= 0:
		return ""
	case Width(mark) > width:
		return ansi.Truncate(mark, width, "")
	}
	return ansi.Truncate(s, width, mark)
}

// CutMiddle shortens a text to a width by what stands in its middle: names that begin alike differ at their
// ends.
func CutMiddle(s string, width int) string {
	have := Width(s)
	if have <= width || width < minMiddle {
		return Cut(s, width)
	}
	head := width / 2
	return Columns(s, 0, head) + Ellipsis + Columns(s, have-(width-head-1), have)
}

// minMiddle is the width from which both ends of a name tell something.
const minMiddle = 9

// Columns returns what stands between two columns of a text. Of a character that is only half in between, a
// blank is left.
func Columns(s string, from, to int) string {
	var b strings.Builder
	column := 0
	for c, width := range Characters(s) {
		start, end := column, column+width
		column = end
		switch {
		case start >= from && end <= to:
			b.WriteString(c)
		case end > from && start < to:
			b.WriteString(Blanks(min(end, to) - max(start, from)))
		}
	}
	return b.String()
}

// Pad makes a text exactly width columns wide.
func Pad(s string, width int) string {
	s = Cut(s, width)
	return s + Blanks(width-Width(s))
}

// Blanks returns n blanks, or nothing if n is negative.
func Blanks(n int) string { return strings.Repeat(" ", max(0, n)) }
