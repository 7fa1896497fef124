package output

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Table says how items of one kind are shown in columns.
type Table struct {
	// Namespaced: items live in namespaces.
	Namespaced bool
	Columns    []Column
	// Row returns one cell per column.
	Row func(Item) []string
}

// Column is a column of a Table.
type Column struct {
	Header string
	// Wide columns are shown with -o wide only.
	Wide bool
	// Shrink: the column may be cut to make the table fit.
	Shrink bool
}

// TableOptions say how a table is printed.
type TableOptions struct {
	Wide, NoHeaders bool
	// Namespace shows the namespace first.
	Namespace bool
	// Width is the number of columns that the table should fit; 0 is any.
	Width int
}

// gap separates two columns.
const gap = 3

// PrintTable prints a list in columns. No cell can reach the terminal unescaped.
func PrintTable(w io.Writer, list *List, opts TableOptions) error {
	var columns []Column
	var shown []int
	for i, c := range list.Table.Columns {
		if !c.Wide || opts.Wide {
			columns, shown = append(columns, c), append(shown, i)
		}
	}
	namespace := opts.Namespace && list.Table.Namespaced
	if namespace {
		columns = append([]Column{{Header: "NAMESPACE"}}, columns...)
	}
	var rows [][]string
	for _, item := range list.Items {
		cells := list.Table.Row(item)
		var row []string
		if namespace {
			row = append(row, inspect.Sanitize(item.Meta().Namespace))
		}
		for _, i := range shown {
			row = append(row, inspect.Sanitize(cells[i]))
		}
		rows = append(rows, row)
	}
	return writeTable(w, columns, rows, opts)
}

func writeTable(w io.Writer, columns []Column, rows [][]string, opts TableOptions) error {
	if !opts.NoHeaders {
		header := make([]string, len(columns))
		for i, c := range columns {
			header[i] = c.Header
		}
		rows = append([][]string{header}, rows...)
	}
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	if opts.Width > 0 && !opts.Wide {
		fit(columns, widths, opts.Width)
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			cell = cut(cell, widths[i])
			line += cell + strings.Repeat(" ", widths[i]-displayWidth(cell)+gap)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// minWidth is the width below which a cut column says too little to be shown.
const minWidth = 12

// fit makes a table narrower until it fits: it cuts the columns that allow it, the widest first, and
// when that does not suffice leaves them out, the last first. Width 0 means left out; -o wide has them.
func fit(columns []Column, widths []int, limit int) {
	for total := tableWidth(widths); total > limit; total-- {
		widest := -1
		for i, c := range columns {
			if c.Shrink && widths[i] > minWidth && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for i := len(columns) - 1; i >= 0 && tableWidth(widths) > limit; i-- {
		if columns[i].Shrink {
			widths[i] = 0
		}
	}
}

func tableWidth(widths []int) int {
	total := -gap
	for _, w := range widths {
		if w > 0 {
			total += w + gap
		}
	}
	return total
}

// cut shortens text to a number of characters and marks the place.
func cut(s string, limit int) string {
	if displayWidth(s) <= limit {
		return s
	}
	const mark = "..."
	if limit <= len(mark) {
		return mark[:limit]
	}
	return string([]rune(s)[:limit-len(mark)]) + mark
}

// displayWidth counts characters. Names in Kubernetes are ASCII; where other text holds wide
// characters, its row is out of line and nothing worse.
func displayWidth(s string) int { return utf8.RuneCountInString(s) }
