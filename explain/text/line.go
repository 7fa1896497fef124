package text

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Role says what a piece of text is, so that it can be shown accordingly.
type Role int

// The roles.
const (
	Plain  Role = iota
	Strong      // the answer, headings
	Good
	Bad
	Warn
	Dim  // paths, footnotes
	Name // names of objects
)

// Span is a piece of text with a role. The text is safe to show.
type Span struct {
	Text string
	Role Role
}

// Line is one line of output, without a line break.
type Line []Span

// sgr are the "select graphic rendition" parameters for each role on a terminal.
var sgr = map[Role]string{Strong: "1", Good: "32", Bad: "31", Warn: "33", Dim: "2", Name: "36"}

// Write writes the lines, with colours if wanted.
func Write(w io.Writer, lines []Line, color bool) error {
	var b strings.Builder
	for _, line := range lines {
		for _, s := range line {
			if code, ok := sgr[s.Role]; ok && color && s.Text != "" {
				b.WriteString("\x1b[" + code + "m" + s.Text + "\x1b[0m")
				continue
			}
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// span makes a safe span.
func span(role Role, text string) Span { return Span{inspect.Sanitize(text), role} }

// with adds a span; one that looks like what it follows becomes part of it.
func (l Line) with(s Span) Line {
	if n := len(l); n > 0 && l[n-1].Role == s.Role {
		l[n-1].Text += s.Text
		return l
	}
	return append(l, s)
}

// wrap breaks spans at spaces into lines of at most width columns. The first line begins with first,
// the others with rest. A word longer than a line is left whole: it may be something to paste.
func wrap(width int, first, rest string, spans ...Span) []Line {
	lines := []Line{{Span{first, Plain}}}
	column, empty := utf8.RuneCountInString(first), true
	for _, s := range spans {
		for i, word := range strings.Split(s.Text, " ") {
			n := utf8.RuneCountInString(word)
			gap := 0
			if i > 0 {
				gap = 1
			}
			if !empty && gap == 1 && column+gap+n > width {
				lines = append(lines, Line{Span{rest, Plain}})
				column, gap = utf8.RuneCountInString(rest), 0
			}
			last := &lines[len(lines)-1]
			*last = last.with(Span{strings.Repeat(" ", gap) + word, s.Role})
			column += gap + n
			empty = false
		}
	}
	return lines
}
