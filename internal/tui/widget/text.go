package widget

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// Page shows lines of text that can be scrolled.
type Page struct {
	lines  []styled.Line
	top    int
	height int
}

// SetLines replaces the text; the place stays.
func (p *Page) SetLines(lines []styled.Line) {
	p.lines = lines
	p.Scroll(0)
}

// Len returns the number of lines.
func (p *Page) Len() int { return len(p.lines) }

// Height returns the number of lines that were last shown at once.
func (p *Page) Height() int { return max(1, p.height) }

// Scroll moves down, or up.
func (p *Page) Scroll(lines int) {
	p.top = clamp(p.top+lines, 0, max(0, len(p.lines)-p.Height()))
}

// ScrollTo shows a line at the top.
func (p *Page) ScrollTo(line int) { p.top = 0; p.Scroll(line) }

// View draws the lines that are in sight, each exactly width columns wide, and at most height of them.
func (p *Page) View(th *theme.Theme, width, height int) string {
	p.height = height
	p.Scroll(0)
	var b strings.Builder
	for i := p.top; i < min(p.top+height, len(p.lines)); i++ {
		if i > p.top {
			b.WriteString("\n")
		}
		painter{theme: th}.line(&b, p.lines[i], width, false)
	}
	return b.String()
}

// More says how many lines are below what is shown.
func (p *Page) More() int { return max(0, len(p.lines)-p.top-p.Height()) }

// Plain returns all lines.
func (p *Page) Plain(th *theme.Theme) string {
	lines := make([]string, len(p.lines))
	for i, l := range p.lines {
		lines[i] = th.PaintLine(l)
	}
	return strings.Join(lines, "\n")
}
