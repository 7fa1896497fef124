package nodes

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

const (
	// leastBeside and mostBeside are how many columns a panel beside the list needs and may want.
	leastBeside, mostBeside = 48, 76
	// leastHeight is the height below which there is only a list.
	leastHeight = 6
	// lowHeight is the height below which the panel says the most important alone.
	lowHeight = 12
)

// mostListed is how many devices of a node are listed at most.
const mostListed = 100

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	r := s.Row()
	s.show(r, width, height)
	s.listWidth = 0
	if height < leastHeight || len(s.Rows()) == 0 {
		return s.Table(w, width, height)
	}
	c := s.Rows()[0].chart
	lines := append(c.aim.lines(r), s.tell(w, r)...)
	slack := 0
	if width >= leastMap {
		slack = c.slack(width)
	}
	if room := width - max(1, s.Wide()-slack); room >= leastBeside && height >= lowHeight && width > leastBeside {
		foot := widget.Rule(w.Theme, nil, width) + "\n" + widget.Render(w.Theme, c.legend(r, width, s.spot.Load()), width)
		return s.beside(w, append(lines, s.more(w, r)...), width, room, height-2) + "\n" + foot
	}
	return s.below(w, lines, c.legend(r, width, s.spot.Load()), width, height)
}

// show tells the columns where the cursor is, and how large cells are.
func (s *Screen) show(r *row, width, height int) {
	before, now := s.spot.Load(), spot{at: -1}
	if at := s.cursor.find(r); at >= 0 {
		now = spot{node: r.name, driver: s.cursor.driver, at: at}
	}
	if width >= leastMap && len(s.Rows()) > 0 {
		c := s.Rows()[0].chart
		room := width - s.Wide() + c.slack(width)
		for i := range c.bands {
			natural, _ := before.sized(&c.bands[i], i)
			room += natural
		}
		if widget.HasAside(width) && height >= lowHeight {
			room -= leastBeside
		}
		now.scale = c.fitted(room)
	}
	s.spot.Store(&now)
}

// tell tells of what is under the cursor.
func (s *Screen) tell(w *screen.World, r *row) []styled.Line {
	switch d := s.cursor.on(r); {
	case r == nil || w.Snapshot == nil:
		return nil
	case d != nil:
		return aboutDevice(w, r.chart.all, d)
	}
	return r.aboutNode()
}

// more tells of the node of a device, and lists its devices.
func (s *Screen) more(w *screen.World, r *row) []styled.Line {
	if r == nil || w.Snapshot == nil {
		return nil
	}
	lines := []styled.Line{nil}
	if s.cursor.on(r) != nil {
		lines = append(append(lines, r.aboutNode()...), nil)
	}
	for _, driver := range r.inOrder() {
		p := r.panelOf(driver)
		lines = append(lines, styled.Text(styled.Title, strings.ToUpper(screen.ShortDriver(driver))))
		for _, d := range p.devices[:min(len(p.devices), mostListed)] {
			lines = append(lines, listed(w, d))
		}
	}
	return lines
}

// beside draws the list, and what is told right of it, in the room that the list leaves.
func (s *Screen) beside(w *screen.World, lines []styled.Line, width, room, height int) string {
	panel := max(leastBeside, min(mostBeside, room))
	s.listWidth = width - panel
	wrapped := wrap(lines, panel-3)
	text := make([]string, min(height, len(wrapped)))
	for i := range text {
		text[i] = " " + widget.Render(w.Theme, wrapped[i], panel-3)
	}
	return widget.Beside(w.Theme, s.Table(w, s.listWidth, height), strings.Join(text, "\n"), s.listWidth, panel, height)
}

// wrap breaks lines.
func wrap(lines []styled.Line, width int) []styled.Line {
	var out []styled.Line
	for _, line := range lines {
		out = append(out, styled.Wrap(line, styled.Wrapping{Width: width, Rest: "  ", Break: true})...)
	}
	return out
}

// below draws the list, and beneath it as much of what is told as may be.
func (s *Screen) below(w *screen.World, lines []styled.Line, legend styled.Line, width, height int) string {
	most := height * 2 / 5
	if height < lowHeight {
		most = 2
	}
	told := wrap(lines, width-4)
	if over := len(told) - most; over > 0 && most > 0 {
		told = told[:most]
		told[most-1] = append(slices.Clip(told[most-1]), styled.Span{Text: " " + styled.Ellipsis, Role: styled.Dim})
	}
	body := height - len(told) - 2
	out := []string{widget.Fit(s.Table(w, width, body), width, body), widget.Rule(w.Theme, nil, width)}
	for _, line := range told {
		out = append(out, widget.Render(w.Theme, append(styled.Text(styled.Plain, "  "), line...), width))
	}
	return strings.Join(append(out, widget.Render(w.Theme, legend, width)), "\n")
}
