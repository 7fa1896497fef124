package listing

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Restyle makes adapt the way to choose columns, at once, for a screen whose columns depend on its width. The columns mean the
// same as those before, only their cells differ. It must cost little, whatever the number of rows: View may call it.
func (l *List[T]) Restyle(adapt func(rows []T) []Column[T]) {
	l.config.Adapt = adapt
	if !l.built {
		return
	}
	l.now.columns = adapt(l.now.rows)
	columns := widgetColumns(l.now.columns, l.now.grouping())
	l.now.natural = widget.Measure(columns, &l.now)
	l.table.Columns = columns
	l.table.SetRows(&l.now, l.now.natural, l.table.Cursor())
}

// GroupBy makes groupings the ones to choose from, and puts the rows under the headings of one of them.
func (l *List[T]) GroupBy(w *screen.World, groupings []Grouping[T], at int) tea.Cmd {
	l.config.Groupings, l.order.grouping = groupings, at
	return l.arrange(w)
}

// ColumnAt returns the column of the last drawing at a place, and how far into it that is. It is -1 if there is none.
func (l *List[T]) ColumnAt(x int) (column, offset int) { return l.table.ColumnAt(x) }

// Wide returns how many columns the table takes if nothing has to be left out or cut.
func (l *List[T]) Wide() int { return l.table.Wide() }

// Blocks has the table drawn several times side by side, each with the rows that follow, as many as fit into a width beside each
// other without cutting anything and as the rows of this height need, and returns how many columns that takes. With one block it
// returns 0, and the table is as ever. wide is how many columns one takes.
func (l *List[T]) Blocks(wide, width, height int) int {
	step, lines := wide+l.table.Between(), max(1, height-1)
	n := min((width+l.table.Between())/step, (l.table.Len()+lines-1)/lines)
	if l.table.Blocks = max(1, n); n < 2 {
		return 0
	}
	return n*step - l.table.Between()
}

// BlockCount is how many blocks there are side by side.
func (l *List[T]) BlockCount() int { return max(1, l.table.Blocks) }
