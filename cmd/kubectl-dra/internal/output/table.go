package output

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
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
	// Cut says how a cell may be shortened to make the table fit.
	Cut Cut
	// Least is the width below which cut text says too little to be shown; 0 stands for minText.
	Least int
	// Spill says that the column may be narrower than its widest names: those push the rest of their own row.
	Spill bool
	// Rank is 0 for a column that is always shown. Of the others those with the lowest rank come first
	// when not all fit.
	Rank int
}

// Cut is how a cell may be shortened. Names of objects are never cut: people copy them.
type Cut int

// The ways to shorten a cell.
const (
	CutNone Cut = iota
	CutText     // text for reading, which may end in "..."
	CutList     // names separated by commas, of which the last may be replaced by their number
)

// TableOptions say how a table is printed.
type TableOptions struct {
	Wide, NoHeaders bool
	// Namespace shows the namespace first.
	Namespace bool
	// Width is the number of columns of a terminal that the table should fit; 0 is any. Where names alone
	// are wider the table is wider too.
	Width int
	// Layout, where set, makes the rows further rows of a table that was printed before with the same
	// Layout, without its headers.
	Layout *Layout
}

// gap separates two columns.
const gap = 3

// PrintTable prints a list in columns.
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
			row = append(row, item.Meta().Namespace)
		}
		for _, i := range shown {
			row = append(row, cells[i])
		}
		rows = append(rows, row)
	}
	return WriteTable(w, columns, rows, opts)
}

// WriteTable writes rows below the headers of their columns, as kubectl does. No cell can reach the terminal
// unescaped.
func WriteTable(w io.Writer, columns []Column, rows [][]string, opts TableOptions) error {
	for _, row := range rows {
		for i := range row {
			row[i] = inspect.Sanitize(row[i])
		}
	}
	if !opts.NoHeaders && !opts.Layout.started() {
		header := words.Each(columns, func(c Column) string { return c.Header })
		rows = append([][]string{header}, rows...)
	}
	widths := layOut(columns, rows, opts)
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(tableLine(columns, row, widths) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tableLine lays out a row. What a name takes too much is made up for by the blanks after it, and by text
// that is cut the more.
func tableLine(columns []Column, row []string, widths []int) string {
	line, over := "", 0
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		room := widths[i]
		if columns[i].Cut == CutText && over > 0 {
			room = max(min(room, columns[i].least(nil, i, room, false)), room-over)
		}
		cell = columns[i].Cut.shorten(cell, room)
		blanks := widths[i] + gap - styled.Width(cell) - over
		over = max(0, 1-blanks)
		line += cell + strings.Repeat(" ", max(1, blanks))
	}
	return strings.TrimRight(line, " ")
}

// layOut returns the widths of the columns; 0 is left out.
func layOut(columns []Column, rows [][]string, opts TableOptions) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		if opts.Layout != nil { // a column that is empty now may not stay so
			widths[i] = styled.Width(c.Header)
		}
		for _, row := range rows {
			widths[i] = max(widths[i], styled.Width(row[i]))
		}
	}
	limit := opts.Width
	if opts.Wide {
		limit = 0
	}
	switch {
	case opts.Layout.started():
		opts.Layout.keep(columns, rows, widths, limit)
	case limit > 0:
		widths = narrow(columns, rows, widths, limit)
	}
	if opts.Layout != nil {
		opts.Layout.widths = widths
	}
	return widths
}

// minList is the least width of a list in the last column.
const minList = 24

// minText is the Least of columns that have none.
const minText = 12

// narrow makes a table narrower: it leaves out the columns that do not fit even when they are cut, by
// rank, and cuts the others, the widest first. Width 0 means left out; -o wide has them.
func narrow(columns []Column, rows [][]string, full []int, limit int) []int {
	fitted := make([]styled.Column, len(columns))
	for i, c := range columns {
		fitted[i] = styled.Column{Natural: full[i], Least: c.least(rows, i, full[i], i == len(columns)-1), Rank: c.Rank}
	}
	widths := styled.Fitting{Width: limit, Gap: gap}.Columns(fitted)
	if styled.ColumnsWidth(widths, gap) <= limit {
		giveBack(columns, rows, widths, full, limit)
	}
	return widths
}

// giveBack gives to text what lists leave over, which are cut by whole names.
func giveBack(columns []Column, rows [][]string, widths, full []int, limit int) {
	for i, c := range columns {
		if c.Cut != CutList || widths[i] == 0 {
			continue
		}
		used := 0
		for _, row := range rows {
			used = max(used, styled.Width(c.Cut.shorten(row[i], widths[i])))
		}
		widths[i] = used
	}
	for i, c := range columns {
		if c.Cut == CutText && widths[i] > 0 {
			widths[i] += min(full[i]-widths[i], max(0, limit-styled.ColumnsWidth(widths, gap)))
		}
	}
}

// least returns the width to which column i can be cut from its full width. In a last column that is a
// list, names that are longer than that only make their own row too wide.
func (c Column) least(rows [][]string, i, width int, last bool) int {
	switch c.Cut {
	case CutText:
		return min(width, max(cmp.Or(c.Least, minText), styled.Width(c.Header)))
	case CutList:
		if last {
			return min(width, minList)
		}
		least := 0
		for _, row := range rows {
			least = max(least, styled.Width(shortList(row[i], 1)))
		}
		return least
	}
	if c.Spill {
		return min(width, max(spillName, styled.Width(c.Header)))
	}
	return width
}

// spillName is the least width of names that may push their row.
const spillName = 18

// CutMark shows that text was cut. It is ASCII, for tables also end up in files and logs.
const CutMark = "..."

// shorten makes a cell fit if the column allows it.
func (c Cut) shorten(cell string, limit int) string {
	if styled.Width(cell) <= limit {
		return cell
	}
	switch c {
	case CutText:
		return styled.CutTo(cell, limit, CutMark)
	case CutList:
		for n := strings.Count(cell, ","); n > 0; n-- {
			if short := shortList(cell, n); styled.Width(short) <= limit {
				return short
			}
		}
		return shortList(cell, 1)
	}
	return cell
}

// shortList keeps the first n names of a list and the number of the others.
func shortList(cell string, n int) string {
	names := strings.Split(cell, ",")
	if len(names) <= n {
		return cell
	}
	short := fmt.Sprintf("%s,+%d", strings.Join(names[:n], ","), len(names)-n)
	if styled.Width(short) >= styled.Width(cell) {
		return cell
	}
	return short
}
