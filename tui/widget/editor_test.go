package widget

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// plainEditor shows its text as it is.
func plainEditor(text string) *Editor {
	e := &Editor{Cells: func(text string) []Cell {
		var cells []Cell
		at := 0
		for c := range styled.Characters(text) {
			cells = append(cells, Cell{Text: c, At: at})
			at += len(c)
		}
		return cells
	}}
	e.Set(text)
	return e
}

// TestEditorMovesByCharacters: what a reader sees as one character is passed and erased as one, and the
// cursor is drawn on it.
func TestEditorMovesByCharacters(t *testing.T) {
	e := plainEditor("a装e\u0301👩‍👩‍👧\nb")
	for _, want := range []int{len("a装e\u0301👩‍👩‍👧\n"), len("a装e\u0301👩‍👩‍👧"), len("a装e\u0301"), len("a装"), len("a"), 0, 0} {
		e.Press(tea.KeyPressMsg{Code: tea.KeyLeft})
		if e.Cursor() != want {
			t.Errorf("to the left is %d, want %d", e.Cursor(), want)
		}
	}
	for range 4 {
		e.Press(tea.KeyPressMsg{Code: tea.KeyRight})
	}
	e.Press(tea.KeyPressMsg{Code: tea.KeyBackspace})
	if got, want := e.Text(), "a装e\u0301\nb"; got != want {
		t.Errorf("without the family the text is %q, want %q", got, want)
	}
	if row, column := e.Lines(20).Find(e.Cursor()); row != 0 || column != 4 {
		t.Errorf("the cursor is at line %d, column %d, want the fourth of the first", row, column)
	}
	e.Undo()
	if got, want := e.Text(), "a装e\u0301👩‍👩‍👧\nb"; got != want {
		t.Errorf("with the change taken back it is %q, want %q", got, want)
	}
}

// TestEditorLines: lines break between characters, the cursor has room after the last one, and goes up and
// down by columns.
func TestEditorLines(t *testing.T) {
	e := plainEditor("装置装置a")
	lines := e.Lines(5)
	var got []string
	for i := range lines.Len() {
		got = append(got, lines.Line(theme.None(), i, -1))
	}
	if len(got) != 3 || got[0] != "装置" || got[1] != "装置a" || got[2] != "" {
		t.Errorf("the lines are %q", got)
	}
	e.MoveTo(len("装置装"))
	e.Vertical(-1, 5)
	if e.Cursor() != len("装") {
		t.Errorf("a line up is %d", e.Cursor())
	}
	e.Vertical(-1, 5)
	if e.Cursor() != len("装") {
		t.Errorf("above the first line is %d", e.Cursor())
	}
}
