package listing

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// A list can be a tree: see Config.Level. What lies below a row is shown when the user opens it, when a
// filter lets some of it pass, and in plain text. A tree has no groupings.

// tree are the levels of rows that are a tree. It is nil for others.
type tree struct {
	levels []int
	// all says that everything is open.
	all bool
}

// leaf reports whether nothing can lie below a row.
func (t *tree) leaf(row int) bool {
	return t == nil || row+1 >= len(t.levels) || t.levels[row+1] <= t.levels[row]
}

// grow finds the levels of the rows.
func (a *arranged[T]) grow() {
	if a.config.Level == nil {
		return
	}
	a.tree = &tree{levels: make([]int, len(a.rows)), all: a.config.unfolded || a.order.filter != ""}
	for i := range a.rows {
		a.tree.levels[i] = a.config.Level(&a.rows[i])
	}
}

// leaves drops from an index all rows that have others below them.
func (a *arranged[T]) leaves(index []int) []int {
	return slices.DeleteFunc(index, func(i int) bool { return !a.tree.leaf(i) })
}

// unfold returns what is shown of a tree: the leaves of an index where all above them is open, below what
// they hang on.
func (a *arranged[T]) unfold(index []int) []int {
	wanted := make([]bool, len(a.rows))
	for _, i := range index {
		wanted[i] = true
	}
	below := map[int][]int{} // by the row above, -1 for none
	var path []int
	for i, level := range a.tree.levels {
		path = path[:min(level, len(path))]
		if wanted[i] {
			above := -1
			for _, p := range path {
				if !wanted[p] {
					wanted[p] = true
					below[above] = append(below[above], p)
				}
				above = p
			}
			below[above] = append(below[above], i)
		}
		path = append(path, i)
	}
	var out []int
	var walk func(rows []int)
	walk = func(rows []int) {
		a.sort(rows)
		for _, i := range rows {
			if out = append(out, i); a.open(i) {
				walk(below[i])
			}
		}
	}
	walk(below[-1])
	return out
}

// open reports whether what lies below a row is shown.
func (a *arranged[T]) open(row int) bool {
	return !a.tree.leaf(row) && (a.tree.all || a.config.opened[a.config.Key(&a.rows[row])])
}

// hang draws before a cell how deep its row is, and whether it is open.
func (a *arranged[T]) hang(row int, cell styled.Line) styled.Line {
	if a.tree == nil || !a.tree.branches() {
		return cell
	}
	sign := "  "
	switch {
	case a.tree.leaf(row):
	case a.open(row):
		sign = "▾ "
	default:
		sign = "▸ "
	}
	return append(styled.Line{{Text: strings.Repeat("  ", a.tree.levels[row]) + sign, Role: styled.Dim}}, cell...)
}

// branches reports whether there is anything to open.
func (t *tree) branches() bool {
	return slices.ContainsFunc(t.levels, func(level int) bool { return level > 0 })
}

// at is the index of the row that is pointed at, or -1.
func (l *List[T]) at() int {
	if at := l.table.Cursor(); at >= 0 && at < len(l.now.items) {
		return l.now.items[at].row
	}
	return -1
}

// onBranch reports whether the row that is pointed at can be opened or closed.
func onBranch[T any](l *List[T]) bool { return l.at() >= 0 && !l.now.tree.leaf(l.at()) }

// fold opens the row that is pointed at, or closes it.
func fold[T any](l *List[T], w *screen.World) tea.Cmd {
	key := l.config.Key(&l.now.rows[l.at()])
	setOpen(l, key, !l.config.opened[key])
	l.moved = true
	return l.arrange(w)
}

func setOpen[T any](l *List[T], key string, open bool) {
	opened := maps.Clone(l.config.opened) // what is arranged in the background has the one before
	if opened == nil {
		opened = map[string]bool{}
	}
	opened[key] = open
	l.config.opened = opened
	l.order.folds++
}

// reveal opens all above the row of the object that is wanted, and reports whether that was closed.
func reveal[T any](l *List[T]) bool {
	if l.config.Level == nil || l.want == "" {
		return false
	}
	var path []int
	for i, level := range l.now.tree.levels {
		path = path[:min(level, len(path))]
		if l.now.tree.leaf(i) && refKey(l.config.Ref(&l.now.rows[i])) == l.want && len(path) > 0 {
			for _, p := range path {
				setOpen(l, l.config.Key(&l.now.rows[p]), true)
			}
			return true
		}
		path = append(path, i)
	}
	return false
}

// stepTop goes to the next row of the first level, or to the one before.
func stepTop[T any](l *List[T], by int) {
	l.moved = true
	for at := l.table.Cursor() + by; at >= 0 && at < len(l.now.items); at += by {
		if row := l.now.items[at].row; row >= 0 && l.now.tree.levels[row] == 0 {
			l.table.MoveTo(at)
			return
		}
	}
}

// plainTree is the table with everything open, as text.
func plainTree[T any](l *List[T], w *screen.World, width int) string {
	config := l.config
	config.unfolded = true
	a := arrange(&config, l.now.rows, l.order)
	t := widget.NewTable(widgetColumns(a.columns, ""))
	t.SetRows(&a, a.natural, 0)
	return t.Plain(w.Theme, width)
}
