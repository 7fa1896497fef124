package widget

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Cell is a character of a text as an Editor shows it.
type Cell struct {
	// Text is what is shown, and safe to show. "\n" ends a line.
	Text string
	Role styled.Role
	// At is the offset of the character in the text, in bytes.
	At int

	width int
}

// EditorLines are a text as it is shown: broken into lines that fit, each with where it begins and ends.
type EditorLines struct {
	lines  [][]Cell
	starts []int
	hard   []bool // the line ends where the text has a line break
	end    int
}

// Lines breaks the text into lines of at most width columns. There is room for the cursor after the last
// character.
func (e *Editor) Lines(width int) *EditorLines {
	l := &EditorLines{lines: [][]Cell{nil}, starts: []int{0}, end: len(e.text)}
	column := 0
	feed := func(at int, hard bool) {
		l.hard = append(l.hard, hard)
		l.lines = append(l.lines, nil)
		l.starts = append(l.starts, at)
		column = 0
	}
	for _, c := range e.Cells(e.text) {
		if c.Text == "\n" {
			feed(c.At+1, true)
			continue
		}
		c.width = styled.Width(c.Text)
		if column+c.width > width && column > 0 {
			feed(c.At, false)
		}
		column += c.width
		last := len(l.lines) - 1
		l.lines[last] = append(l.lines[last], c)
	}
	if column >= width {
		feed(len(e.text), false)
	}
	return l
}

// Vertical moves the cursor so many lines down, or up, where the lines have at most width columns. At the
// first and at the last line it stays.
func (e *Editor) Vertical(lines, width int) {
	l := e.Lines(width)
	row, column := l.Find(e.cursor)
	if to := row + lines; to >= 0 && to < l.Len() {
		e.cursor = l.Offset(to, column)
	}
	e.last = moved
}

// Len returns the number of lines, which is at least one.
func (l *EditorLines) Len() int { return len(l.lines) }

// Find returns the line and the column of an offset.
func (l *EditorLines) Find(at int) (row, column int) {
	for row = len(l.starts) - 1; row > 0 && l.starts[row] > at; row-- {
	}
	for _, c := range l.lines[row] {
		if c.At >= at {
			break
		}
		column += c.width
	}
	return row, column
}

// Offset returns the offset in the text that is nearest to a column of a line.
func (l *EditorLines) Offset(row, column int) int {
	at := 0
	for _, c := range l.lines[row] {
		if at += c.width; at > column {
			return c.At
		}
	}
	switch cells := l.lines[row]; {
	case row+1 == len(l.lines):
		return l.end
	case l.hard[row] || len(cells) == 0:
		return l.starts[row+1] - 1
	default:
		return cells[len(cells)-1].At
	}
}

// Line draws a line, with the cursor in it if that is there; a negative cursor is nowhere.
func (l *EditorLines) Line(th *theme.Theme, row, cursor int) string {
	var b strings.Builder
	cursorRow, _ := l.Find(max(0, cursor))
	var run styled.Line
	flush := func() {
		b.WriteString(th.PaintLine(run))
		run = nil
	}
	shown := cursor < 0 || cursorRow != row
	for _, c := range l.lines[row] {
		if !shown && c.At >= cursor {
			flush()
			b.WriteString(Cursor(th, c.Text))
			shown = true
			continue
		}
		if n := len(run); n > 0 && run[n-1].Role == c.Role {
			run[n-1].Text += c.Text
		} else {
			run = append(run, styled.Span{Text: c.Text, Role: c.Role})
		}
	}
	flush()
	if !shown {
		b.WriteString(Cursor(th, " "))
	}
	return b.String()
}
