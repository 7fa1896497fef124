package detail

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// sheet is text in sections of named fields. What is put into it is sanitised here.
type sheet struct{ parts []part }

// part is a line of a sheet; a part without a name is a heading, or goes on with the one before.
type part struct {
	heading bool
	name    string
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
			line = append(line, styled.Span{Text: inspect.Sanitize(span.Text), Role: span.Role})
		}
	}
	if len(line) > 0 {
		s.parts = append(s.parts, part{name: inspect.Sanitize(name), line: line})
	}
}

func plain(s string) []styled.Span { return []styled.Span{{Text: s}} }

func named(s string) styled.Span { return styled.Span{Text: s, Role: styled.Name} }

func dim(s string) styled.Span { return styled.Span{Text: s, Role: styled.Dim} }

// lines lays the sheet out: values stand below each other, and long ones are wrapped.
func (s *sheet) lines(width int) []styled.Line {
	wide := 0
	for _, p := range s.parts {
		wide = max(wide, styled.Width(p.name))
	}
	wide = min(wide, width/3)
	var lines []styled.Line
	for _, p := range s.parts {
		if p.heading {
			lines = append(lines, p.line)
			continue
		}
		label := styled.Span{Text: "  " + styled.Pad(p.name, wide) + "  ", Role: styled.Dim}
		room := max(10, width-wide-4)
		if p.line.Width() <= room {
			lines = append(lines, append(styled.Line{label}, p.line...))
			continue
		}
		for i, line := range styled.Wrap(p.line, styled.Wrapping{Width: room, Break: true}) {
			if i > 0 {
				label.Text = strings.Repeat(" ", wide+4)
			}
			lines = append(lines, append(styled.Line{label}, line...))
		}
	}
	return lines
}
