package detail

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// sheet is text in sections of named fields. What is put into it is sanitised here.
type sheet struct {
	parts []part
	// madeUp says that there is no object of what the sheet is about: the API server makes it up.
	madeUp bool
}

// part is a line of a sheet; a part without a name is a heading, or goes on with the one before.
type part struct {
	heading bool
	name    string
	link    string // what the name leads to, or ""
	line    styled.Line
}

func (s *sheet) head(line styled.Line) {
	s.parts = append(s.parts, part{heading: true, line: line})
}

// section begins a section.
func (s *sheet) section(format string, args ...any) {
	if len(s.parts) > 0 {
		s.parts = append(s.parts, part{heading: true})
	}
	s.head(styled.Text(styled.Strong, inspect.Sanitize(fmt.Sprintf(format, args...))))
}

// field adds a field; an empty value leaves it out.
func (s *sheet) field(name, value string) { s.spans(name, plain(value)...) }

// spans adds a field of several pieces.
func (s *sheet) spans(name string, spans ...styled.Span) {
	line := styled.Line{}
	for _, span := range spans {
		if span.Text != "" {
			line = append(line, styled.Span{Text: inspect.Sanitize(span.Text), Role: span.Role, Link: span.Link})
		}
	}
	if len(line) > 0 {
		s.parts = append(s.parts, part{name: inspect.Sanitize(name), line: line})
	}
}

func plain(s string) []styled.Span { return []styled.Span{{Text: s}} }

func dim(s string) styled.Span { return styled.Span{Text: s, Role: styled.Dim} }

// lines lays the sheet out: values stand below each other, and long ones are wrapped.
func (s *sheet) lines(width int) []styled.Line {
	wide := min(widget.Widest(s.parts, func(p part) string { return p.name }), width/3)
	var lines []styled.Line
	least := wide
	for i, p := range s.parts {
		if p.heading {
			lines = append(lines, p.line)
			if wide = least; !s.namesAfter(i) {
				wide = -2 // a list has no names to stand beside
			}
			continue
		}
		rest := ""
		if wide < 0 {
			rest = "  " // or it would look like one more of the list
		}
		text := styled.Wrap(p.line, styled.Wrapping{Width: max(10, width-wide-4), Rest: rest, Break: true})
		lines = append(lines, widget.Hang(p.label(wide), text)...)
	}
	return lines
}

// namesAfter reports whether a field after a heading, up to the next one, has a name.
func (s *sheet) namesAfter(heading int) bool {
	for _, p := range s.parts[heading+1:] {
		if p.heading || p.name != "" {
			return p.name != ""
		}
	}
	return false
}

// label is the name of a field, in so many columns and two on each side; where that is none, only those
// before it.
func (p *part) label(wide int) styled.Line {
	if wide < 0 {
		return styled.Text(styled.Dim, strings.Repeat(" ", wide+4))
	}
	name := styled.Cut(p.name, wide)
	after := strings.Repeat(" ", wide-styled.Width(name)+2)
	if p.link == "" {
		return styled.Line{{Text: "  " + name + after, Role: styled.Dim}}
	}
	return styled.Line{{Text: "  ", Role: styled.Dim}, {Text: name, Role: styled.Name, Link: p.link}, {Text: after, Role: styled.Dim}}
}

// linked adds a field whose name leads to an object.
func (s *sheet) linked(ref screen.Ref, name string, spans ...styled.Span) {
	if s.spans(name, spans...); len(s.parts) > 0 {
		s.parts[len(s.parts)-1].link = ref.Link()
	}
}

// column is a column of a list on a sheet, as wide as the widest of its texts, within reason.
type column int

// widestColumn is how wide a column may become: beyond that, what stands after it is not worth lining up.
const widestColumn = 44

// widest is the column of something of each of those objects that are listed.
func widest[T any](all []T, of func(T) styled.Span) (c column) {
	return column(min(widget.Widest(all[:min(len(all), mostListed)], func(one T) string { return of(one).Text }), widestColumn))
}

// fill is the blanks between a text and the end of the column.
func (c column) fill(span styled.Span) styled.Span {
	return dim(styled.Blanks(max(0, int(c)-styled.Width(span.Text))))
}
