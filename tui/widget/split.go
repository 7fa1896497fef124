package widget

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// leastBody is how many lines a panel leaves to what is above it, leastPanel how many it is worth having.
const (
	leastBody  = 8
	leastPanel = 3
)

// mostOfLow is how many lines a panel may have on a screen that is too low for two fifths of it to say much,
// and leastLow how high that is at least.
const (
	mostOfLow = 8
	leastLow  = 18
)

// PanelHeight is how many lines a panel has at most on a screen of some height.
func PanelHeight(height int) int {
	most := height*2/5 - 1
	if height >= leastLow {
		most = max(most, mostOfLow)
	}
	return max(0, most)
}

// Split draws a body and, below a rule, a panel about what is selected in it. The panel takes what it needs,
// but no more than two fifths of the height, or eight lines if that is more, unless the body leaves more
// empty, and nothing of a low screen. Where it is cut, its last line says so.
func Split(th *theme.Theme, body func(height int) string, title styled.Line, panel []styled.Line, width, height int) string {
	rows := min(len(panel), PanelHeight(height))
	if rows < min(leastPanel, len(panel)) || rows == 0 || height-rows-1 < leastBody {
		return body(height)
	}
	above := body(height - rows - 1)
	if spare := height - rows - 1 - strings.Count(strings.TrimRight(above, " \n"), "\n") - 2; spare > 0 && rows < len(panel) {
		rows = min(len(panel), rows+spare)
		above = body(height - rows - 1)
	}
	out := Fit(above, width, height-rows-1) + "\n" + Rule(th, title, width)
	for i, line := range panel[:rows] {
		if more := len(panel) - i; i == rows-1 && more > 1 {
			line = styled.Text(styled.Dim, fmt.Sprintf("  … %d more lines", more))
		}
		out += "\n" + Render(th, line, width)
	}
	return out
}
