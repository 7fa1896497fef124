package cel

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// cell is a character of a text as it is shown.
type cell struct {
	text  string
	role  theme.Role
	width int
	// at is its offset in the text; -1 for what is not of the text.
	at int
}

// rows are a text as it is shown: broken into lines that fit, each with where it begins and ends.
type rows struct {
	lines  [][]cell
	starts []int
	hard   []bool // the line ends where the text has a line break
	end    int
}

// layout breaks a text with the roles of its parts into lines of at most width columns.
func layout(text string, width int) *rows {
	r := &rows{lines: [][]cell{nil}, starts: []int{0}, end: len(text)}
	column := 0
	feed := func(at int, hard bool) {
		r.hard = append(r.hard, hard)
		r.lines = append(r.lines, nil)
		r.starts = append(r.starts, at)
		column = 0
	}
	var guard inspect.Guard
	for _, span := range editor.Highlight(text) {
		role := roles[span.Role]
		for i, char := range text[span.Start:span.End] {
			at := span.Start + i
			if char == '\n' {
				feed(at+1, true)
				continue
			}
			c := cell{text: visible(&guard, char), role: role, at: at}
			c.width = widget.Width(c.text)
			if column+c.width > width && column > 0 {
				feed(at, false)
			}
			column += c.width
			last := len(r.lines) - 1
			r.lines[last] = append(r.lines[last], c)
		}
	}
	if column >= width { // room for the cursor
		feed(len(text), false)
	}
	return r
}

// visible is the next character as it can be shown.
func visible(guard *inspect.Guard, char rune) string {
	switch escape := guard.Unsafe(char); {
	case char == '\t':
		return "  "
	case escape:
		return inspect.Sanitize(string(char))
	}
	return string(char)
}

var roles = map[editor.Role]theme.Role{
	editor.Function: theme.Keyword, editor.Keyword: theme.Keyword, editor.Constant: theme.Literal, editor.Text: theme.Literal,
	editor.Number: theme.Literal, editor.Comment: theme.Dim, editor.Unknown: theme.Bad, editor.Operator: theme.Strong,
}

// find returns the line and the column of an offset.
func (r *rows) find(at int) (row, column int) {
	for row = len(r.starts) - 1; row > 0 && r.starts[row] > at; row-- {
	}
	for _, c := range r.lines[row] {
		if c.at >= at {
			break
		}
		column += c.width
	}
	return row, column
}

// offset returns the offset that is nearest to a column of a line.
func (r *rows) offset(row, column int) int {
	at := 0
	for _, c := range r.lines[row] {
		if at += c.width; at > column {
			return c.at
		}
	}
	switch cells := r.lines[row]; {
	case row+1 == len(r.lines):
		return r.end
	case r.hard[row] || len(cells) == 0:
		return r.starts[row+1] - 1
	default:
		return cells[len(cells)-1].at
	}
}

// line returns a line with the cursor in it, if it is there.
func (r *rows) line(th *theme.Theme, row, cursor int) string {
	var b strings.Builder
	cursorRow, _ := r.find(max(0, cursor))
	var run widget.Line
	flush := func() {
		b.WriteString(run.Paint(th))
		run = nil
	}
	shown := cursor < 0 || cursorRow != row
	for _, c := range r.lines[row] {
		if !shown && c.at >= cursor {
			flush()
			b.WriteString(cursorCell(th, c.text))
			shown = true
			continue
		}
		if n := len(run); n > 0 && run[n-1].Role == c.role {
			run[n-1].Text += c.text
		} else {
			run = append(run, widget.Span{Text: c.text, Role: c.role})
		}
	}
	flush()
	if !shown {
		b.WriteString(cursorCell(th, " "))
	}
	return b.String()
}

func cursorCell(th *theme.Theme, s string) string {
	switch {
	case th.Colored:
		return "\x1b[7m" + s + "\x1b[m"
	case s == " ":
		return "_"
	}
	return s
}

// paint is a selector in one line, as the roles of its parts.
func paint(expression string) widget.Line {
	var line widget.Line
	for _, span := range editor.Highlight(expression) {
		line = append(line, widget.Span{Text: inspect.Sanitize(strings.ReplaceAll(expression[span.Start:span.End], "\n", " ")), Role: roles[span.Role]})
	}
	return line
}
