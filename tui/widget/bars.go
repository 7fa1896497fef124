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

// dots are those of a column of braille from the bottom to the top, at the left and at the right of the cell.
var dots = [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// Graph draws numbers between 0 and 1 as a graph of so many lines, two to a column and in steps of a quarter
// of a line. Of a number that is not negative there is at least one dot.
func Graph(values []float64, height int) []string {
	lines := make([]string, height)
	for row := range lines {
		var b strings.Builder
		for at := 0; at < len(values); at += 2 {
			cell := rune(0)
			for side, v := range values[at:min(at+2, len(values))] {
				if v < 0 {
					continue
				}
				filled := clamp(int(math.Round(v*float64(4*height))), 1, 4*height) - 4*(height-1-row)
				for _, dot := range dots[side][:clamp(filled, 0, 4)] {
					cell |= dot
				}
			}
			if cell == 0 {
				b.WriteByte(' ')
			} else {
				b.WriteRune(0x2800 + cell)
			}
		}
		lines[row] = b.String()
	}
	return lines
}
