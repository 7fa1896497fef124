package nodes

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

const (
	// leastBeside and mostBeside are how many columns a panel beside the list needs and may want, leastCell how many of
	// the rest it leaves to wider cells.
	leastBeside, mostBeside = 48, 76
	// leastHeight is the height below which there is only a list.
	leastHeight = 6
	// lowHeight is the height below which the panel says the most important alone.
	lowHeight = 12
)

// said is what was last told of the device or node under the cursor. It costs more than the rest of a frame.
type said struct {
	world *screen.World
	row   *row
	what  screen.Ref
	lines []styled.Line
	more  []styled.Line // what there is to be told where there is room, once it was asked for
}

// mostListed is how many devices of a node are listed at most.
const mostListed = 100

// more tells of the node of a device, and lists its devices.
func (s *Screen) more(w *screen.World) []styled.Line {
	r := s.said.row
	if s.said.more != nil || r == nil || w.Snapshot == nil {
		return s.said.more
	}
	lines := []styled.Line{nil}
	if s.said.what.Kind == screen.Device {
		lines = append(append(lines, r.aboutNode()...), nil)
	}
	for _, driver := range r.inOrder() {
		p := r.panelOf(driver)
		lines = append(lines, styled.Text(styled.Title, strings.ToUpper(screen.ShortDriver(driver))))
		for at := range min(p.size(), mostListed) {
			lines = append(lines, listed(w, p.device(at)))
		}
	}
	s.said.more = lines
	return lines
}

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	if s.menu != nil {
		return strings.Join(s.menu.View(w.Theme, width, height), "\n")
	}
	r := s.Row()
	s.show(r)
	s.listWidth = 0
	if height < leastHeight || len(s.Rows()) == 0 {
		return s.List.View(w, width, height)
	}
	c := s.Rows()[0].chart
	lines := s.about(w, r)
	foot := widget.Rule(w.Theme, nil, width) + "\n" + widget.Render(w.Theme, c.legend(s.said.row, width), width)
	narrow := max(1, s.Wide()-c.extra(s.cells)) // also where what is wide belongs to rows that are gone
	if taken := s.Blocks(narrow, width-leastBeside, height-2); taken > 0 && height >= lowHeight && width > leastBeside {
		return s.beside(w, lines, width, width-taken, height-2) + "\n" + foot
	}
	if room := width - narrow; room >= leastBeside && height >= lowHeight && width > leastBeside {
		return s.beside(w, lines, width, room, height-2) + "\n" + foot
	}
	s.Blocks(narrow, 0, 1)
	s.restyle(nil)
	return s.below(w, lines, c, width, height)
}

// show tells the columns where the cursor is.
func (s *Screen) show(r *row) {
	at := s.cursor.find(r)
	if at < 0 {
		s.spot.Store(nil)
		return
	}
	s.spot.Store(&spot{r.name, s.cursor.driver, at})
}

// about tells of what is under the cursor.
func (s *Screen) about(w *screen.World, r *row) []styled.Line {
	what := s.Selection()
	if s.said.world == w && s.said.row == r && s.said.what == what {
		return s.said.lines
	}
	s.said = said{world: w, row: r, what: what}
	if r == nil || w.Snapshot == nil {
		return nil
	}
	if d := s.device(); d != nil {
		s.said.lines = aboutDevice(w, r.chart.all, d)
	} else {
		s.said.lines = r.aboutNode()
	}
	return s.said.lines
}

// beside draws the list, and what is told right of it, in the room that the list leaves. What is left over makes cells wider.
func (s *Screen) beside(w *screen.World, lines []styled.Line, width, room, height int) string {
	panel := max(leastBeside, min(mostBeside, room))
	spare := room - panel
	if n := s.BlockCount(); n > 1 {
		spare /= n // which all have cells as wide
	}
	s.restyle(s.Rows()[0].chart.spread(spare))
	s.listWidth = width - panel
	wrapped := wrap(append(slices.Clip(lines), s.more(w)...), panel-3)
	text := make([]string, min(height, len(wrapped)))
	for i := range text {
		text[i] = " " + widget.Render(w.Theme, wrapped[i], panel-3)
	}
	return widget.Beside(w.Theme, s.List.View(w, s.listWidth, height), strings.Join(text, "\n"), s.listWidth, panel, height)
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
func (s *Screen) below(w *screen.World, lines []styled.Line, c *chart, width, height int) string {
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
	out := []string{widget.Fit(s.List.View(w, width, body), width, body), widget.Rule(w.Theme, nil, width)}
	for _, line := range told {
		out = append(out, widget.Render(w.Theme, append(styled.Text(styled.Plain, "  "), line...), width))
	}
	return strings.Join(append(out, widget.Render(w.Theme, c.legend(s.said.row, width), width)), "\n")
}
