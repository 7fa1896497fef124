package widget

import (
	"math"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

var ticks = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws numbers between 0 and 1 as a graph of at most width columns, the newest at the right.
func Sparkline(values []float64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	var b strings.Builder
	for _, v := range values {
		at := int(math.Round(v * float64(len(ticks)-1)))
		b.WriteRune(ticks[clamp(at, 0, len(ticks)-1)])
	}
	return b.String()
}

var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar draws a share between 0 and 1 in exactly width columns. Between nothing and all, it is drawn neither
// empty nor full.
func Bar(share float64, width int, role styled.Role) styled.Line {
	units := int(math.Round(share * float64(width*8)))
	if share > 0 {
		units = max(units, 1)
	}
	if share < 1 {
		units = min(units, width*8-1)
	}
	units = clamp(units, 0, width*8)
	filled := strings.Repeat("█", units/8) + eighths[units%8]
	return styled.Line{{Text: filled, Role: role}, {Text: strings.Repeat("·", max(0, width-styled.Width(filled))), Role: styled.Dim}}
}

// CountBar draws how many of a total are used, and how many more nobody can have, in exactly width columns.
// What is neither is free. Of what there is at all, at least one column is drawn where there is room.
func CountBar(used, lost, total, width int) styled.Line {
	return Stack([]Part{{float64(used), "█", styled.Used}, {float64(lost), "▒", styled.Warn}, {float64(total - used - lost), "·", styled.Dim}}, width)
}

// Part is how much there is of something, and how it is drawn.
type Part struct {
	Amount float64
	Cell   string
	Role   styled.Role
}

// Stack draws parts of a whole in exactly width columns. Of what there is at all, at least one column is
// drawn where there is room.
func Stack(parts []Part, width int) styled.Line {
	columns, whole := make([]int, len(parts)), 0.0
	for i := range parts {
		whole += max(0, parts[i].Amount)
	}
	sum, most := 0, len(parts)-1
	for i := range parts {
		amount := max(0, parts[i].Amount)
		if amount > parts[most].Amount {
			most = i
		}
		if amount > 0 {
			columns[i] = max(1, int(amount*float64(width)/whole))
		}
		sum += columns[i]
	}
	columns[most] = max(0, columns[most]+width-sum) // what rounding gives or takes
	var line styled.Line
	for i := range parts {
		line = append(line, styled.Span{Text: strings.Repeat(parts[i].Cell, columns[i]), Role: parts[i].Role})
	}
	return line
}

// Graph draws numbers between 0 and 1 as a graph of so many lines, a column each. The column of a negative
// one is empty.
func Graph(values []float64, height int) []string {
	lines := make([]string, height)
	for row := range lines {
		var b strings.Builder
		for _, v := range values {
			eighths := 0
			if v >= 0 {
				eighths = clamp(int(math.Round(v*float64(8*height))), 1, 8*height)
			}
			if filled := clamp(eighths-8*(height-1-row), 0, 8); filled > 0 {
				b.WriteRune(ticks[filled-1])
			} else {
				b.WriteByte(' ')
			}
		}
		lines[row] = b.String()
	}
	return lines
}
