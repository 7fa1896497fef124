package widget_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// TestSplit: a panel has its share and what the body leaves empty, and says what of it is not shown.
func TestSplit(t *testing.T) {
	th := theme.None()
	for _, test := range []struct {
		rows, panel, height int
		shown               int    // lines of the panel
		last                string // line of the screen
	}{
		{rows: 100, panel: 5, height: 19, shown: 5, last: "panel 4"},
		{rows: 100, panel: 20, height: 19, shown: 8, last: "… 13 more lines"},
		{rows: 100, panel: 9, height: 19, shown: 8, last: "… 2 more lines"},
		{rows: 100, panel: 30, height: 40, shown: 15, last: "… 16 more lines"},
		{rows: 4, panel: 12, height: 19, shown: 12, last: "panel 11"},
		{rows: 4, panel: 20, height: 19, shown: 13, last: "… 8 more lines"},
		{rows: 100, panel: 20, height: 9, shown: 0, last: "row 8"},
	} {
		asked := 0
		body := func(height int) string {
			asked = height
			var b strings.Builder
			for i := range min(test.rows, height) {
				fmt.Fprintf(&b, "row %d\n", i)
			}
			return strings.TrimSuffix(b.String(), "\n")
		}
		var panel []styled.Line
		for i := range test.panel {
			panel = append(panel, styled.Text(styled.Plain, fmt.Sprintf("panel %d", i)))
		}
		lines := strings.Split(widget.Split(th, body, nil, panel, 40, test.height), "\n")
		shown := 0
		for _, line := range lines {
			if strings.HasPrefix(line, "panel") || strings.Contains(line, "…") {
				shown++
			}
		}
		if last := strings.TrimSpace(lines[len(lines)-1]); len(lines) != test.height || shown != test.shown || last != test.last {
			t.Errorf("%d rows and a panel of %d in %d lines: %d lines, %d of the panel, the last %q", test.rows, test.panel, test.height, len(lines), shown, last)
		}
		if want := test.height - test.shown - 1; test.shown > 0 && asked != want {
			t.Errorf("the body was drawn in %d lines, not %d", asked, want)
		}
	}
}
