package widget

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// search is text that is looked for in lines, and where it is. Upper and lower case are the same.
type search struct {
	text string
	hits []place
	at   int // of the hits; it means nothing if there are none
	// origin is the first line that was shown when the search began.
	origin int
}

// place is a piece of a line: from a column up to another one.
type place struct{ line, from, to int }

// in looks for the text in other lines. The hit that one is at stays the same by its number.
func (s *search) in(lines []styled.Line) {
	s.hits = nil
	if s.text == "" {
		return
	}
	for i, line := range lines {
		s.hits = append(s.hits, hitsIn(i, line.String(), s.text)...)
	}
	s.at = clamp(s.at, 0, max(0, len(s.hits)-1))
}

// hitsIn finds text in a line, from left to right, none over another.
func hitsIn(at int, line, text string) (hits []place) {
	want := charactersOf(text)
	have := charactersOf(line)
	column := 0
	for i := 0; i < len(have); i++ {
		if i+len(want) <= len(have) && slices.EqualFunc(have[i:i+len(want)], want, func(a, b character) bool { return a.folded == b.folded }) {
			hit := place{line: at, from: column, to: column}
			for _, c := range want {
				hit.to += c.width
			}
			hits = append(hits, hit)
			for _, c := range have[i : i+len(want)-1] {
				column += c.width
			}
			i += len(want) - 1
		}
		column += have[i].width
	}
	return hits
}

// character is one as readers see it, in lower case.
type character struct {
	folded string
	width  int
}

func charactersOf(s string) (out []character) {
	for c, width := range styled.Characters(s) {
		out = append(out, character{strings.ToLower(c), width})
	}
	return out
}

// on returns the numbers of the hits of a line: from one up to another.
func (s *search) on(line int) (from, to int) {
	compare := func(h place, line int) int { return h.line - line }
	from, _ = slices.BinarySearchFunc(s.hits, line, compare)
	to, _ = slices.BinarySearchFunc(s.hits, line+1, compare)
	return from, to
}

// from goes to the first hit that is not before a line, or else to the first of all.
func (s *search) from(line int) {
	s.at = max(0, slices.IndexFunc(s.hits, func(h place) bool { return h.line >= line }))
}

// step goes on to the next hit, or back; after the last comes the first.
func (s *search) step(by int) {
	if n := len(s.hits); n > 0 {
		s.at = (s.at + by + n) % n
	}
}

// cutAt cuts the spans of a line where places begin and end.
func cutAt(line styled.Line, places []place) styled.Line {
	var out styled.Line
	column := 0
	for _, span := range line {
		piece := span
		piece.Text = ""
		for c, width := range styled.Characters(span.Text) {
			if piece.Text != "" && slices.ContainsFunc(places, func(p place) bool { return p.from == column || p.to == column }) {
				out = append(out, piece)
				piece.Text = ""
			}
			piece.Text += c
			column += width
		}
		if piece.Text != "" {
			out = append(out, piece)
		}
	}
	return out
}
