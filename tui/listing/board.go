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
	// leastBoard and leastBoardWidth are the lines and columns below which there is no board, and mostBoard
	// the lines that it takes at most.
	leastBoard, leastBoardWidth, mostBoard = 7, 72, 24
	// graphLines is how many lines a graph has below its title.
	graphLines = 3
	// leastLevels is how many levels make a graph.
	leastLevels = 2
)

// board fills the lines below a table that leaves many empty: how much of each driver's devices was used, how
// many pods waited, since the program watches, which wait for longest, and what has changed last. It is nil
// while there is nothing to tell.
func board(w *screen.World, width, height int) []string {
	h := w.History
	if h == nil || len(h.Levels) < leastLevels || height < leastBoard || width < leastBoardWidth {
		return nil
	}
	height = min(height, mostBoard)
	title := "the last " + screen.FormatAge(span(w))
	if w.Namespace != "" {
		title += ", in all namespaces"
	}
	out := []string{widget.Rule(w.Theme, styled.Text(styled.Dim, title), width)}
	left := width / 2
	graphs, text := graphsOf(w, left-2, height-1), told(w, width-left-1, height-1)
	for i := range height - 1 {
		var line styled.Line
		if i < len(graphs) {
			line = graphs[i]
		}
		line = append(styled.Line{{Text: " "}}, line...)
		line = append(line, styled.Span{Text: styled.Blanks(max(0, left-line.Width()))})
		if i < len(text) {
			line = append(line, text[i]...)
		}
		out = append(out, widget.Render(w.Theme, line, width))
	}
	return out
}

// graphsOf are as many graphs as there is room for: that of the queue, then those of drivers.
func graphsOf(w *screen.World, width, height int) []styled.Line {
	levels := w.History.Levels
	now, most := &levels[len(levels)-1], 0
	for i := range levels {
		most = max(most, levels[i].Waiting)
	}
	var lines []styled.Line
	if now.Waiting >= 0 {
		lines = graph(w, styled.Line{
			{Text: words.Count(now.Waiting, "pod"), Role: styled.Strong}, {Text: fmt.Sprintf(" waiting for a node, %d at most", most), Role: styled.Dim},
		}, styled.Warn, width, func(l *screen.Level) float64 { return float64(l.Waiting) / float64(max(1, most)) })
	}
	for _, share := range now.Used {
		if len(lines)+1+graphLines > height {
			break
		}
		title := styled.Line{
			{Text: inspect.Sanitize(share.Driver), Role: styled.Name}, {Text: fmt.Sprintf(" %.0f%% used", 100*share.Of), Role: styled.Dim},
		}
		lines = append(lines, graph(w, title, styled.Used, width, func(l *screen.Level) float64 { return l.Of(share.Driver) })...)
	}
	return lines
}

// graph is a graph of what was at each moment since the first level, below its title. Each column shows the
// largest number of its time, and nothing where none is known.
func graph(w *screen.World, title styled.Line, role styled.Role, width int, of func(*screen.Level) float64) []styled.Line {
	levels := w.History.Levels
	begun := levels[0].Time
	length := max(1, float64(span(w)))
	values := slices.Repeat([]float64{-1}, width)
	at := func(t time.Time) int { return min(width-1, int(float64(t.Sub(begun))*float64(width)/length)) }
	for i := range levels {
		until := width - 1
		if i+1 < len(levels) {
			until = at(levels[i+1].Time)
		}
		for c := at(levels[i].Time); c <= until; c++ {
			values[c] = max(values[c], of(&levels[i]))
		}
	}
	lines := []styled.Line{title}
	for _, row := range widget.Graph(values, graphLines) {
		lines = append(lines, styled.Text(role, row))
	}
	return lines
}

// span is how long ago the first level was.
func span(w *screen.World) time.Duration {
	levels := w.History.Levels
	return max(w.Now.Sub(levels[0].Time), levels[len(levels)-1].Time.Sub(levels[0].Time))
}

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
