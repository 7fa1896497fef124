package widget

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

const (
	// leastWide is how many columns let text stand beside a table, and leastAside how many the text then has
	// at least.
	leastWide  = 150
	leastAside = 64
)

// HasAside reports whether a screen is wide enough for a table and text beside it.
func HasAside(width int) bool { return width >= leastWide }

// Aside draws a table and, right of it, text about what is selected in it, of which the last line says how
// much there is no room for. It is for screens with HasAside.
func Aside(th *theme.Theme, table func(width int) string, text func(width int) []styled.Line, width, height int) string {
	aside := max(leastAside, width/3)
	rest := width - aside - 1
	above := table(rest)
	lines := styled.Narrow(text(aside-2), aside-2)
	if more := len(lines) - height + 1; more > 1 && height > 0 {
		lines = append(lines[:height-1:height-1], styled.Text(styled.Dim, fmt.Sprintf("… %d more lines", more)))
	}
	var page Page
	page.SetLines(lines)
	return Beside(th, above, page.View(th, aside-2, height), rest, aside, height)
}
