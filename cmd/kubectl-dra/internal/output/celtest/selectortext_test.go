package celtest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// TestCaretUnderWideText: the caret stands under the character that it is about, whatever is before it, and
// no line is wider than the terminal.
func TestCaretUnderWideText(t *testing.T) {
	for _, expression := range []string{
		`device.driver == "装置" && X`,
		"device.driver == \"e\u0301\" && X",
		`"` + strings.Repeat("装", 60) + `" == X`,
		`"` + strings.Repeat("装", 10) + `" == X && "` + strings.Repeat("置", 60) + `"`,
	} {
		const width = 50
		p := &selectorPrinter{output.NewPage(width), &SelectorTest{Expression: expression}, SelectorOptions{Width: width}}
		head, _, _ := strings.Cut(expression, "X")
		p.caret(selector.Place{Line: 1, Column: utf8.RuneCountInString(head) + 1})
		lines := strings.Split(p.String(), "\n")
		before, _, ok := strings.Cut(lines[0], "X")
		if !ok || styled.Width(before) != strings.Index(lines[1], "^") {
			t.Errorf("the caret is not under X:\n%s", p.String())
		}
		if n := styled.Width(lines[0]); n > width {
			t.Errorf("%d columns, not %d: %s", n, width, lines[0])
		}
	}
}
