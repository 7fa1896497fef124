package widget

import (
	"github.com/kubectl-dra/kubectl-dra/internal/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// leastBody is how many lines a panel leaves to what is above it, leastPanel how many it is worth having.
const (
	leastBody  = 8
	leastPanel = 3
)

// Split draws a body and, below a rule, a panel about what is selected in it. The panel takes what it
// needs, but no more than two fifths of the height, and nothing of a low screen.
func Split(th *theme.Theme, body func(height int) string, title styled.Line, panel []styled.Line, width, height int) string {
	rows := min(len(panel), height*2/5-1)
	if rows < min(leastPanel, len(panel)) || rows == 0 || height-rows-1 < leastBody {
		return body(height)
	}
	out := Fit(body(height-rows-1), width, height-rows-1) + "\n" + Rule(th, title, width)
	for _, line := range panel[:rows] {
		out += "\n" + Render(th, line, width)
	}
	return out
}
