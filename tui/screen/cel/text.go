package cel

import (
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// textArea is the editor, as it was last laid out, with what is proposed in it.
type textArea struct {
	widget.Editor
	popup popup
	top   int // the first line that is shown
	// width when last drawn, which up and down need.
	width int
}

// complete proposes what can stand at the cursor, and takes it where it is the only thing.
func (t *textArea) complete(c *editor.Completer) {
	if t.popup.propose(c, &t.Editor, true); len(t.popup.items.Items) == 1 {
		t.popup.accept(&t.Editor)
	}
}

// vertical moves the cursor so many lines down.
func (t *textArea) vertical(lines int) {
	t.popup.close()
	t.Vertical(lines, t.width)
}

// click moves the cursor to a place, from the first line that is shown.
func (t *textArea) click(x, y int) {
	lines := t.Lines(t.width)
	if row := t.top + y; row < lines.Len() {
		t.MoveTo(lines.Offset(row, max(0, x-1)))
	}
	t.popup.close()
}

// draw draws the text with a caret under the place of the first finding, if it has one. It returns where
// the cursor is, from the first of these lines.
func (t *textArea) draw(th *theme.Theme, width, height int, typing bool, findings []bench.Finding) (lines []string, x, y int) {
	t.width = max(10, width-2)
	cursor := -1
	if typing {
		cursor = t.Cursor()
	}
	if t.Text() == "" {
		hint := "press i and type, or l to load one"
		blank := " "
		if typing {
			hint = "type a selector; Tab proposes what can stand here, ^O loads one"
			blank = " " + widget.Cursor(th, " ")
		}
		return []string{blank + " " + th.Paint(styled.Dim, styled.Cut(hint, width-4)), ""}, 1, 0
	}
	text := t.Lines(t.width)
	row, column := text.Find(t.Cursor())
	most := max(2, height/4)
	t.top = max(0, min(t.top, row, text.Len()-most))
	if row >= t.top+most {
		t.top = row - most + 1
	}
	caretRow, caretColumn := -1, 0
	if len(findings) > 0 && findings[0].Line > 0 {
		caretRow, caretColumn = text.Find(selector.Offset(t.Text(), findings[0].Place))
	}
	for i := t.top; i < min(t.top+most, text.Len()); i++ {
		if i == row {
			y = len(lines)
		}
		lines = append(lines, " "+text.Line(th, i, cursor))
		if i == caretRow {
			lines = append(lines, " "+repeat(" ", caretColumn)+th.Paint(errorRole(findings[0].Severity), "^"))
		}
	}
	return lines, column + 1, y
}
