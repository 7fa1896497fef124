package widget

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Page shows lines of text that can be scrolled, with a cursor that goes from link to link.
type Page struct {
	lines  []styled.Line
	top    int
	height int
	links  []link
	at     int // of the links, one more than its index; 0 if the cursor is on none
	search search
}

// link is a piece of text that leads somewhere.
type link struct {
	place
	target string
}

// SetLines replaces the text; the place stays, and the cursor at the link that it was on, if that is still
// there.
func (p *Page) SetLines(lines []styled.Line) {
	before := p.links
	p.lines = lines
	p.links = linksOf(lines)
	if p.at > 0 && (p.at > len(p.links) || p.links[p.at-1].target != before[p.at-1].target) {
		target := before[p.at-1].target
		p.at = 1 + slices.IndexFunc(p.links, func(l link) bool { return l.target == target })
	}
	p.search.in(lines)
	p.Scroll(0)
}

// linksOf finds the links of lines. A link that goes on in the next line, or in the next piece of text, is
// one.
func linksOf(lines []styled.Line) []link {
	var links []link
	for i, line := range lines {
		column := 0
		for _, span := range line {
			width := styled.Width(span.Text)
			if n := len(links); span.Link != "" && strings.TrimSpace(span.Text) != "" {
				if n > 0 && links[n-1].target == span.Link && links[n-1].line == i && links[n-1].to == column {
					links[n-1].to += width
				} else {
					links = append(links, link{place{i, column, column + width}, span.Link})
				}
			}
			column += width
		}
	}
	return links
}

// HasLinks reports whether there is a link in the text.
func (p *Page) HasLinks() bool { return len(p.links) > 0 }

// Link is where the link under the cursor leads. It is empty if the cursor is on none.
func (p *Page) Link() string {
	if p.at == 0 {
		return ""
	}
	return p.links[p.at-1].target
}

// Step moves the cursor to the next link, or to the one before, if that is in sight or a line away; otherwise
// it scrolls by a line.
func (p *Page) Step(by int) {
	if next := p.near(by); next > 0 {
		p.at = next
		p.reveal()
		return
	}
	if by > 0 && p.More() == 0 || by < 0 && p.top == 0 {
		return
	}
	p.Scroll(by)
}

// near is the link to step to, or 0: the next one, or, without a cursor in sight, the first or the last that
// is.
func (p *Page) near(by int) int {
	first, last := p.top, p.top+p.Height()-1
	inSight := func(l link, slack int) bool { return l.line >= first-slack && l.line <= last+slack }
	if p.at > 0 && inSight(p.links[p.at-1], 0) {
		next := p.at + by
		if next < 1 || next > len(p.links) || !inSight(p.links[next-1], 1) {
			return 0
		}
		return next
	}
	for i := range p.links {
		at := i
		if by < 0 {
			at = len(p.links) - 1 - i
		}
		if inSight(p.links[at], 0) {
			return at + 1
		}
	}
	return 0
}

// reveal brings the link under the cursor into sight.
func (p *Page) reveal() {
	line := p.links[p.at-1].line
	p.top = clamp(p.top, line-p.Height()+1, line)
}

// Click puts the cursor onto the link at a place of the last drawing, and reports whether there is one.
func (p *Page) Click(x, y int) bool {
	for i, l := range p.links {
		if l.line == p.top+y && x >= l.from && x < l.to {
			p.at = i + 1
			return true
		}
	}
	return false
}

// Len returns the number of lines.
func (p *Page) Len() int { return len(p.lines) }

// Height returns the number of lines that were last shown at once.
func (p *Page) Height() int { return max(1, p.height) }

// Scroll moves down, or up. A cursor that is no longer in sight is on no link.
func (p *Page) Scroll(lines int) {
	p.top = clamp(p.top+lines, 0, max(0, len(p.lines)-p.Height()))
	if p.at > 0 && (p.links[p.at-1].line < p.top || p.links[p.at-1].line >= p.top+p.Height()) {
		p.at = 0
	}
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
		p.line(&b, th, i, width)
	}
	return b.String()
}

// line draws a line, with the link under the cursor and what is looked for marked.
func (p *Page) line(b *strings.Builder, th *theme.Theme, i, width int) {
	var chosen, hits []place
	if p.at > 0 && p.links[p.at-1].line == i {
		chosen = append(chosen, p.links[p.at-1].place)
	}
	from, to := p.search.on(i)
	for at := from; at < to; at++ {
		if hit := p.search.hits[at]; at == p.search.at {
			chosen = append(chosen, hit)
		} else {
			hits = append(hits, hit)
		}
	}
	if len(chosen)+len(hits) == 0 {
		painter{theme: th}.line(b, p.lines[i], width, false)
		return
	}
	column, left := 0, width
	for _, span := range cutAt(p.lines[i], append(slices.Clip(chosen), hits...)) {
		w := styled.Width(span.Text)
		in := func(l place) bool { return column >= l.from && column < l.to }
		if slices.ContainsFunc(hits, in) {
			span.Role = styled.Accent
		}
		if p.at > 0 && column+w == p.links[p.at-1].from && p.links[p.at-1].line == i && strings.HasSuffix(span.Text, " ") { // which tells without colours too
			span.Text = strings.TrimSuffix(span.Text, " ") + "▸"
		}
		n := min(w, left)
		painter{theme: th, selected: slices.ContainsFunc(chosen, in)}.line(b, styled.Line{span}, n, false)
		column, left = column+w, left-n
	}
	b.WriteString(styled.Blanks(left))
}

// Seek looks for text, and goes to where it is next, from what was shown on when there was none. Empty text
// ends that.
func (p *Page) Seek(text string) {
	if p.search.text = text; text == "" {
		p.search.origin = p.top
	}
	p.search.in(p.lines)
	p.search.from(p.search.origin)
	p.revealHit()
}

// Sought is the text that is looked for. It is empty if none is.
func (p *Page) Sought() string { return p.search.text }

// SeekNext goes to the next place that has the text that is looked for, or back.
func (p *Page) SeekNext(by int) {
	p.search.step(by)
	p.revealHit()
}

// Found says at which of how many places with the text that is looked for the page is, from 1.
func (p *Page) Found() (at, of int) {
	return min(p.search.at+1, len(p.search.hits)), len(p.search.hits)
}

func (p *Page) revealHit() {
	if len(p.search.hits) == 0 {
		return
	}
	line := p.search.hits[p.search.at].line
	p.ScrollTo(clamp(p.top, line-p.Height()+1, line))
}

// Margin is what stands before a line of the last drawing, in one column: it marks the lines with the text
// that is looked for, which tells of them without colours too.
func (p *Page) Margin(i int) string {
	switch from, to := p.search.on(p.top + i); {
	case from == to:
		return " "
	case p.search.at >= from && p.search.at < to:
		return "▸"
	}
	return "·"
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
