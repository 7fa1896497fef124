package cel

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

var roles = map[editor.Role]styled.Role{
	editor.Function: styled.Keyword, editor.Keyword: styled.Keyword, editor.Constant: styled.Literal, editor.Text: styled.Literal,
	editor.Number: styled.Literal, editor.Comment: styled.Dim, editor.Unknown: styled.Bad, editor.Operator: styled.Strong,
}

// cells are the characters of a selector with the roles of the parts that they belong to.
func cells(text string) []widget.Cell {
	out := make([]widget.Cell, 0, len(text))
	var guard inspect.Guard
	for _, span := range editor.Highlight(text) {
		at := span.Start
		for char := range styled.Characters(text[span.Start:span.End]) {
			out = appendCells(out, char, at, roles[span.Role], &guard)
			at += len(char)
		}
	}
	return out
}

// appendCells adds a character, or, if it cannot be shown as it is, a cell for each of its runes.
func appendCells(out []widget.Cell, char string, at int, role styled.Role, guard *inspect.Guard) []widget.Cell {
	if char == "\n" {
		return append(out, widget.Cell{Text: char, Role: role, At: at})
	}
	var runes []widget.Cell
	shown := ""
	for i, r := range char {
		c := widget.Cell{Text: visible(guard, r), Role: role, At: at + i}
		shown += c.Text
		runes = append(runes, c)
	}
	if shown == char {
		return append(out, widget.Cell{Text: char, Role: role, At: at})
	}
	return append(out, runes...)
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

// paint is a selector in one line, as the roles of its parts.
func paint(expression string) styled.Line {
	var line styled.Line
	for _, span := range editor.Highlight(expression) {
		line = append(line, styled.Span{Text: inspect.Sanitize(strings.ReplaceAll(expression[span.Start:span.End], "\n", " ")), Role: roles[span.Role]})
	}
	return line
}
