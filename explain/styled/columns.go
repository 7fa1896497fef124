package styled

import (
	"cmp"
	"slices"
)

// Column says how wide a column of a table is, and how little it can be.
type Column struct {
	// Natural is the width of the widest text, Least the width below which the column is of no use.
	Natural, Least int
	// Rank is 0 for a column that is always shown. Of the others those with the lowest rank come first when
	// not all fit.
	Rank int
}

// Fitting says how the columns of a table are made to fit.
type Fitting struct {
	// Width is the number of columns of the terminal that the table may take, Gap how many are between two of
	// the table's.
	Width, Gap int
	// Strict leaves out everything that comes after a column that does not fit. Otherwise what is narrower
	// may still be shown.
	Strict bool
	// Evenly gives every column its least width and then as much more as the others. Otherwise each has its
	// natural width, and the widest give way.
	Evenly bool
}

// Columns returns how wide columns are drawn. A column of width 0 is left out. Those that do not fit even at
// their least width are left out by rank, then the others are made narrower. Columns of rank 0 stay, also
// when they make the table too wide.
func (f Fitting) Columns(columns []Column) []int {
	widths := make([]int, len(columns)) // the least of those that are shown
	full := make([]int, len(columns))
	total := -f.Gap
	for _, i := range byRank(columns) {
		c := columns[i]
		n := min(c.Natural, c.Least)
		if c.Rank > 0 && total+n+f.Gap > f.Width {
			if f.Strict {
				break
			}
			continue
		}
		widths[i], full[i] = n, c.Natural
		total += n + f.Gap
	}
	if f.Evenly {
		widen(widths, full, f.Width-total)
		return widths
	}
	narrow(full, widths, ColumnsWidth(full, f.Gap)-f.Width)
	return full
}

// byRank returns the numbers of columns, those with the lowest rank first.
func byRank(columns []Column) []int {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(columns[a].Rank, columns[b].Rank) })
	return order
}

// widen deals out room to columns that are narrower than they would be, one by one.
func widen(widths, full []int, room int) {
	for grown := true; grown && room > 0; {
		grown = false
		for i := range widths {
			if widths[i] < full[i] && room > 0 {
				widths[i]++
				room--
				grown = true
			}
		}
	}
}

// narrow takes an excess away from the widest columns, one by one.
func narrow(widths, least []int, excess int) {
	for ; excess > 0; excess-- {
		widest := -1
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// ColumnsWidth returns the width of a table with columns of these widths. A column of width 0 is left out.
func ColumnsWidth(widths []int, gap int) int {
	total := -gap
	for _, w := range widths {
		if w > 0 {
			total += w + gap
		}
	}
	return total
}
