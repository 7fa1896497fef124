package detail

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// sheet is text in sections of named fields. What is put into it is sanitised here.
type sheet struct{ parts []part }

// part is a line of a sheet; a part without a name is a heading, or goes on with the one before.
type part struct {
	heading bool
	name    string
	line    widget.Line
}

func (s *sheet) head(line widget.Line) {
	s.parts = append(s.parts, part{heading: true, line: line})
}

// section begins a section.
func (s *sheet) section(format string, args ...any) {
	if len(s.parts) > 0 {
		s.parts = append(s.parts, part{heading: true})
	}
	s.head(widget.Text(theme.Strong, inspect.Sanitize(fmt.Sprintf(format, args...))))
}

// field adds a field; an empty value leaves it out.
func (s *sheet) field(name, value string) { s.spans(name, plain(value)...) }

// spans adds a field of several pieces.
func (s *sheet) spans(name string, spans ...widget.Span) {
	line := widget.Line{}
	for _, span := range spans {
		if span.Text != "" {
			line = append(line, widget.Span{Text: inspect.Sanitize(span.Text), Role: span.Role})
		}
	}
	if len(line) > 0 {
		s.parts = append(s.parts, part{name: inspect.Sanitize(name), line: line})
	}
}

func plain(s string) []widget.Span { return []widget.Span{{Text: s}} }

func named(s string) widget.Span { return widget.Span{Text: s, Role: theme.Name} }

func dim(s string) widget.Span { return widget.Span{Text: s, Role: theme.Dim} }

// lines lays the sheet out: values stand below each other, and long ones are wrapped.
func (s *sheet) lines(width int) []widget.Line {
	wide := 0
	for _, p := range s.parts {
		wide = max(wide, widget.Width(p.name))
	}
	wide = min(wide, width/3)
	var lines []widget.Line
	for _, p := range s.parts {
		if p.heading {
			lines = append(lines, p.line)
			continue
		}
		label := widget.Span{Text: "  " + widget.Pad(p.name, wide) + "  ", Role: theme.Dim}
		room := max(10, width-wide-4)
		if p.line.Width() <= room || len(p.line) > 1 {
			lines = append(lines, append(widget.Line{label}, p.line...))
			continue
		}
		for i, text := range widget.Wrap(p.line[0].Text, room) {
			if i > 0 {
				label.Text = strings.Repeat(" ", wide+4)
			}
			lines = append(lines, widget.Line{label, {Text: text, Role: p.line[0].Role}})
		}
	}
	return lines
}
