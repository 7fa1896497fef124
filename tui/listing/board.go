package listing

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

const (
	// leastBoard and leastBoardWidth are the lines and columns below which there is no board.
	leastBoard, leastBoardWidth = 7, 72
	// leastGraph and mostGraph are how many lines a graph has below its title.
	leastGraph, mostGraph = 3, 16
	// leastCurves is how many columns graphs have at least where they are side by side.
	leastCurves = 40
	// leastLevels is how many levels make a graph, and leastSpan the time that one is drawn over at least.
	leastLevels = 2
	leastSpan   = time.Minute
)

// Curve is what something was at moments, from each to the next, for a graph. Without Times it is a title
// alone.
type Curve struct {
	Title styled.Line
	Role  styled.Role
	Times []time.Time
	// Values go from 0 to 1. A negative one is not known.
	Values []float64
}

// board fills the lines below a table that leaves many empty with graphs: those of the list, or else how many
// pods waited and how much of the devices was used, beside them which wait for longest and what has changed
// last. It is nil while there is nothing to tell.
func (l *List[T]) board(w *screen.World, width, height int) []string {
	if height < leastBoard || width < leastBoardWidth {
		return nil
	}
	if l.config.Curves != nil {
		if b := l.config.Curves(l.Row()); len(b.Columns) > 0 {
			return b.lines(w, nil, width, height)
		}
	}
	h := w.History
	if h == nil || len(h.Levels) < leastLevels {
		return nil
	}
	b := boardOf(w)
	if w.Namespace != "" {
		b.Title += ", in all namespaces"
	}
	return b.lines(w, told, width, height)
}

// Board is what is drawn below a table: graphs in columns, all of the same time.
type Board struct {
	Title         string
	From, To, Now time.Time
	Columns       [][]Curve
}

// prose is what is told in words in some room.
type prose func(w *screen.World, width, height int) []styled.Line

// lines draws a board, with text at the right of the graphs.
func (b Board) lines(w *screen.World, text prose, width, height int) []string {
	columns, shares := b.Columns, len(b.Columns)
	if text != nil {
		shares++
	}
	if len(columns) == 0 || width/shares < leastCurves && len(columns) > 1 {
		columns, shares = [][]Curve{slices.Concat(columns...)}, shares-len(columns)+1
	}
	if len(columns[0]) == 0 {
		return nil
	}
	high, needed := mostGraph, leastBoard
	for _, curves := range columns {
		high = min(high, (height-1-len(curves))/max(1, drawn(curves)))
	}
	high = max(high, leastGraph)
	for _, curves := range columns {
		needed = max(needed, 1+len(curves)+high*drawn(curves))
	}
	height = min(height, needed)
	each := width / shares
	parts := make([][]styled.Line, 0, shares)
	for _, curves := range columns {
		parts = append(parts, b.graphs(curves, each-2, height-1, high))
	}
	if text != nil {
		parts = append(parts, text(w, width-each*len(columns)-1, height-1))
	}
	out := []string{widget.Rule(w.Theme, styled.Text(styled.Dim, b.Title), width)}
	for i := range height - 1 {
		line := styled.Line{}
		for at, part := range parts {
			line = append(line, styled.Span{Text: styled.Blanks(max(0, at*each+1-line.Width()))})
			if i < len(part) {
				line = append(line, part[i]...)
			}
		}
		out = append(out, widget.Render(w.Theme, line, width))
	}
	return out
}

// drawn counts the curves of which there is more than a title.
func drawn(curves []Curve) int {
	n := 0
	for i := range curves {
		n += min(1, len(curves[i].Times))
	}
	return n
}

// graphs are as many of the curves as there is room for.
func (b Board) graphs(curves []Curve, width, height, high int) []styled.Line {
	var lines []styled.Line
	for i := range curves {
		part := styled.Narrow([]styled.Line{curves[i].Title}, width)[:1]
		if len(curves[i].Times) > 0 {
			part = append(part, b.graph(&curves[i], width, high)...)
		}
		if len(lines)+len(part) > height {
			break
		}
		lines = append(lines, part...)
	}
	return lines
}

// graph draws a curve. Each half of a column shows the largest value of its time, and nothing where none is
// known. A line is drawn at Now if that is not at the end, and what comes after it is dim.
func (b Board) graph(c *Curve, width, high int) []styled.Line {
	whole := max(1, float64(b.To.Sub(b.From)))
	values := slices.Repeat([]float64{-1}, 2*width)
	at := func(t time.Time) int {
		return min(max(0, int(float64(t.Sub(b.From))*float64(len(values))/whole)), len(values)-1)
	}
	for i := range c.Times {
		until := len(values) - 1
		if i+1 < len(c.Times) {
			until = at(c.Times[i+1])
		}
		for k := at(c.Times[i]); k <= until; k++ {
			values[k] = max(values[k], c.Values[i])
		}
	}
	var lines []styled.Line
	for _, row := range widget.Graph(values, high) {
		line := styled.Text(c.Role, row)
		if b.Now.Before(b.To) {
			cells, here := []rune(row), at(b.Now)/2
			line = styled.Line{
				{Text: string(cells[:here]), Role: c.Role}, {Text: "│", Role: styled.Accent},
				{Text: string(cells[here+1:]), Role: styled.Dim},
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// boardOf are the graphs of the cluster: of the queue, of drivers, and of classes that say more than drivers.
func boardOf(w *screen.World) Board {
	levels := w.History.Levels
	first, last := levels[0].Time, levels[len(levels)-1].Time
	title := fmt.Sprintf("the log, %s to %s", clock(first), clock(last))
	b := Board{From: first, To: last, Now: w.Now, Title: title}
	if !w.Now.Before(last) {
		b.Title, b.To = "the last "+screen.FormatAge(w.Now.Sub(first)), w.Now
	}
	if b.To.Sub(b.From) < leastSpan {
		b.From = b.To.Add(-leastSpan)
	}
	now, all := &levels[0], 1 // all classes are drawn to the same scale
	most, held := max(1, now.Waiting), map[string]int{}
	times := make([]time.Time, len(levels))
	for i := range levels {
		l := &levels[i]
		if !l.Time.After(w.Now) && l.Waiting >= 0 {
			now = l
		}
		times[i], most = l.Time, max(most, l.Waiting)
		for _, h := range l.Held {
			if h.Driver == "" {
				held[h.Class] = max(held[h.Class], h.Devices)
				all = max(all, h.Devices)
			}
		}
	}
	curve := func(role styled.Role, title styled.Span, more string, of func(*screen.Level) float64) Curve {
		c := Curve{Title: styled.Line{title, {Text: more, Role: styled.Dim}}, Role: role, Times: times}
		for i := range levels {
			c.Values = append(c.Values, of(&levels[i]))
		}
		return c
	}
	var cluster, classes []Curve
	if now.Waiting >= 0 {
		title := styled.Span{Text: words.Count(now.Waiting, "pod"), Role: styled.Strong}
		more := " waiting for a node" + atMost(now.Waiting, most)
		cluster = append(cluster, curve(styled.Warn, title, more, func(l *screen.Level) float64 {
			return float64(l.Waiting) / float64(most)
		}))
	}
	for _, share := range now.Used {
		title := styled.Span{Text: inspect.Sanitize(share.Driver), Role: styled.Name}
		more := fmt.Sprintf(" %.0f%% used", 100*share.Of)
		cluster = append(cluster, curve(styled.Used, title, more, func(l *screen.Level) float64 {
			return l.Of(share.Driver)
		}))
	}
	for _, h := range now.Held {
		n := held[h.Class]
		if n == 0 {
			continue // the graph of a driver says it
		}
		title := styled.Span{Text: "class " + inspect.Sanitize(h.Class), Role: styled.Name}
		more := fmt.Sprintf(" %d held", h.Devices) + atMost(h.Devices, n)
		classes = append(classes, curve(styled.Good, title, more, func(l *screen.Level) float64 {
			return float64(l.HeldOf(h.Class)) / float64(all)
		}))
	}
	if b.Columns = [][]Curve{cluster}; len(classes) > 0 {
		b.Columns = append(b.Columns, classes)
	}
	return b
}

// atMost says what the largest value was, where that is not the one of now.
func atMost(now, most int) string {
	if now == most {
		return ""
	}
	return fmt.Sprintf(", %d at most", most)
}

func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly + "Z") }

// told are the pods that wait for longest, and below them the last changes.
func told(w *screen.World, width, height int) []styled.Line {
	var lines []styled.Line
	if waits := w.History.Longest; len(waits) > 0 {
		lines = append(lines, styled.Text(styled.Strong, "wait longest for a node"))
		for _, wait := range waits[:min(len(waits), max(1, height/3))] {
			age := screen.FormatAge(w.Now.Sub(wait.Since))
			lines = append(lines, styled.Line{{Text: styled.Pad(age, 8), Role: styled.Warn}, {Text: inspect.Sanitize(wait.Ref.String()), Role: styled.Name}})
		}
	}
	if latest := w.History.Latest; len(latest) > 0 && len(lines)+2 <= height {
		lines = append(lines, styled.Text(styled.Strong, "changed last"))
		for i := range latest {
			e := &latest[i]
			text := fmt.Sprintf("%s  %s ", e.Time.Format(time.TimeOnly), e.Kind)
			lines = append(lines, styled.Line{{Text: text, Role: styled.Dim}, {Text: e.Ref.Kind.Word() + " " + e.Ref.Short(), Role: styled.Name}})
		}
	}
	for i := range lines[:min(len(lines), height)] {
		lines[i] = styled.Narrow(lines[i:i+1], width)[0]
	}
	return lines[:min(len(lines), height)]
}
