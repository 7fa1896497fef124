package widget

// ColumnAt returns the column of the last drawing at a place, and how far into it that is. It is -1 if there is none.
func (t *Table) ColumnAt(x int) (column, offset int) {
	_, x = t.blockAt(x)
	for _, s := range t.spans {
		if x >= s.from && x < s.to {
			return s.column, x - s.from
		}
	}
	return -1, 0
}

// Wide returns how many columns the table takes if nothing has to be left out or cut.
func (t *Table) Wide() int {
	total := margin
	for i, c := range t.Columns {
		if c.ImpliedByHeading {
			continue
		}
		w := 0
		if i < len(t.natural) {
			w = t.natural[i]
		}
		if c.Max > 0 {
			w = min(w, c.Max)
		}
		total += w + gap
	}
	return total - gap
}
