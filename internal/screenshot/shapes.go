package screenshot

import (
	"fmt"
	"strings"
)

// shape is how a character is drawn in its cell.
type shape struct {
	// fill are rectangles: left, top, width, height.
	fill [][4]float64
	// stroke are lines, one pixel wide.
	stroke []path
}

// path is a line: where it begins in the cell, and how it goes on from there in the notation of SVG.
type path struct {
	x, y float64
	on   string
}

// The middle of a cell, on whole pixels for sharp lines.
const (
	middleX, middleY = cellWidth / 2.0, cellHeight / 2.0
)

// Bars do not fill a cell to its edges, so that those of two lines stay apart.
const (
	barTop, barHeight = 3, cellHeight - 6
)

// shapeTable has the characters that are drawn: rules and frames, eighths of a bar, squares,
// and braille.
var shapeTable = table()

func table() map[rune]shape {
	down := path{middleX, 0, fmt.Sprintf("v%d", cellHeight)}
	right, lower := path{middleX, middleY, fmt.Sprintf("h%g", cellWidth-middleX)}, path{middleX, middleY, fmt.Sprintf("v%g", cellHeight-middleY)}
	upper := path{middleX, 0, fmt.Sprintf("v%g", middleY)}
	square := path{1, 6, "h7v7h-7z"}
	t := map[rune]shape{
		'─': {fill: [][4]float64{{0, middleY - .5, cellWidth, 1}}},
		'│': {stroke: []path{down}},
		'├': {stroke: []path{down, right}},
		'└': {stroke: []path{upper, right}},
		'┌': {stroke: []path{lower, right}},
		'╭': {stroke: []path{{middleX, cellHeight, fmt.Sprintf("v%gq0 -4 4 -4h%g", middleY+4-cellHeight, cellWidth-middleX-4)}}},
		'╮': {stroke: []path{{middleX, cellHeight, fmt.Sprintf("v%gq0 -4 -4 -4h%g", middleY+4-cellHeight, 4-middleX)}}},
		'╰': {stroke: []path{{middleX, 0, fmt.Sprintf("v%gq0 4 4 4h%g", middleY-4, cellWidth-middleX-4)}}},
		'╯': {stroke: []path{{middleX, 0, fmt.Sprintf("v%gq0 4 -4 4h%g", middleY-4, 4-middleX)}}},
		'■': {fill: [][4]float64{{.5, 5.5, 8, 8}}},
		'□': {stroke: []path{square}},
		'◧': {fill: [][4]float64{{1, 6, 3.5, 7}}, stroke: []path{square}},
		'▨': {stroke: []path{square, {1, 10, "l4 -4"}, {1, 13, "l7 -7"}, {4, 13, "l4 -4"}}},
	}
	for i := range 8 {
		part := float64(8-i) / 8
		t['█'-rune(i)] = shape{fill: [][4]float64{{0, barTop + barHeight*(1-part), cellWidth, barHeight * part}}}
		t['█'+rune(i)] = shape{fill: [][4]float64{{0, barTop, cellWidth * part, barHeight}}}
	}
	for dots := range 255 {
		t['⠁'+rune(dots)] = braille(dots + 1)
	}
	return t
}

// braille draws dots as parts of four lines, so that graphs are the same in all fonts.
func braille(dots int) (s shape) {
	const pitch = cellHeight / 4.0
	for line, bits := range [4][2]int{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}} {
		left, width := 0.0, 0.0
		for side, bit := range bits {
			if dots&bit == 0 {
				continue
			}
			if width == 0 {
				left = float64(side) * cellWidth / 2
			}
			width += cellWidth / 2.0
		}
		if width > 0 {
			s.fill = append(s.fill, [4]float64{left, float64(line)*pitch + 1, width, pitch - 1.5})
		}
	}
	return s
}

// repeat writes the shape, so many times side by side, into the paths of a drawing. Rectangles that fill the
// width of a cell become one.
func (s shape) repeat(x, y, times int, filled, stroked *strings.Builder) {
	for _, r := range s.fill {
		if r[0] == 0 && r[2] == cellWidth {
			rectangle(filled, float64(x), float64(y)+r[1], r[2]*float64(times), r[3])
			continue
		}
		for i := range times {
			rectangle(filled, float64(x+i*cellWidth)+r[0], float64(y)+r[1], r[2], r[3])
		}
	}
	for i := range times {
		for _, p := range s.stroke {
			fmt.Fprintf(stroked, "M%g %g%s", float64(x+i*cellWidth)+p.x, float64(y)+p.y, p.on)
		}
	}
}

func rectangle(b *strings.Builder, x, y, width, height float64) {
	fmt.Fprintf(b, "M%g %gh%gv%gh-%gz", x, y, width, height, width)
}
