package screenshot

import (
	"slices"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// run is cells next to each other that are drawn together.
type run struct {
	x, width int
	style    uv.Style
	text     string
	// shape: the text is one character several times, which is drawn and not written.
	shape bool
}

// runsOf takes a line apart: where the style changes, where a shape begins or ends, and at gaps, so that
// every word stands where it should.
func runsOf(line uv.Line) []run {
	var runs []run
	for x := 0; x < len(line); {
		cell := line.At(x)
		width := max(1, cell.Width)
		text := cell.Content
		if text == "" {
			text = " "
		}
		if n := len(runs); n > 0 && runs[n-1].takes(cell, text) {
			runs[n-1].text += text
			runs[n-1].width += width
		} else {
			runs = append(runs, run{x, width, cell.Style, text, isShape(text)})
		}
		x += width
	}
	return visible(runs)
}

// takes reports whether a cell that follows belongs to the run.
func (r *run) takes(c *uv.Cell, text string) bool {
	if !r.style.Equal(&c.Style) {
		return false
	}
	blank, wasBlank := text == " ", strings.HasSuffix(r.text, " ")
	switch {
	case r.shape || isShape(text):
		return r.shape && strings.HasPrefix(r.text, text)
	case strings.TrimSpace(r.text) == "":
		return blank // a gap ends at a word
	case wasBlank && blank:
		return true // blanks at the end are not written
	}
	return !strings.HasSuffix(r.text, "  ") // a word behind a gap is a run of its own
}

// visible drops runs that show nothing.
func visible(runs []run) []run {
	return slices.DeleteFunc(runs, func(r run) bool {
		return strings.TrimSpace(r.text) == "" && r.style.Bg == nil && r.style.Attrs&uv.AttrReverse == 0
	})
}

func isShape(text string) bool {
	c, only := utf8First(text)
	_, known := shapeTable[c]
	return only && known
}

// utf8First is the first character of a text, and whether there is no other.
func utf8First(text string) (first rune, only bool) {
	first, size := utf8.DecodeRuneInString(text)
	return first, size == len(text)
}
