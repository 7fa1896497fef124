package listing

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// keysOf are the keys of every table.
func keysOf[T any](l *List[T]) screen.Keys {
	// goTo moves the cursor, which from then on stays with its row.
	goTo := func(row func() int) func(*screen.World) tea.Cmd {
		return screen.Then(func() { l.moved = true; l.table.MoveTo(row()) })
	}
	move := func(rows func() int) func(*screen.World) tea.Cmd {
		return goTo(func() int { return l.table.Cursor() + rows() })
	}
	page := func() int { return l.table.Page() }
	half := func() int { return max(1, page()/2) }
	names := make([]string, len(l.config.Groupings))
	for i, g := range l.config.Groupings {
		names[i] = g.Name
	}
	group := screen.Key{Name: "group", Press: []string{"b"}, Short: "group", Help: "group by " + strings.Join(names, ", "), Do: func(w *screen.World) tea.Cmd {
		if l.order.grouping++; l.order.grouping == len(names) {
			l.order.grouping = none
		}
		return l.arrange(w)
	}}
	if len(l.config.Groupings) == 0 {
		group.Off, group.Help, group.Short = "there is nothing to group "+l.config.Noun+" by", "group", ""
	}
	back := screen.Key{Name: "reverse", Press: []string{"S"}, Help: "sort the other way round", Do: func(w *screen.World) tea.Cmd { return reverse(l, w) }}
	if l.order.sort < 0 {
		back.Help = "sort by the last column, the other way round"
	}
	markOff := ""
	if l.built && len(l.now.rows) == 0 {
		markOff = "there are no " + l.config.Noun + " to mark"
	}
	sortBy := func(by int) func(*screen.World) tea.Cmd {
		return func(w *screen.World) tea.Cmd { return sortStep(l, w, by) }
	}
	return append(treeKeys(l), screen.Keys{
		{Name: "sort", Press: []string{"s", "right", "l"}, Short: "sort", Help: "sort by the next column (also → and l, or a click on its title)", Do: sortBy(1)},
		{Name: "sort by the column before", Press: []string{"left", "h"}, Show: "← h", Help: "sort by the column before", Do: sortBy(-1)},
		back, group,
		{Name: "mark", Press: []string{"space"}, Show: "Space", Help: "mark the row and go to the next, for questions about several (e, w, y, C)", Off: markOff, Do: screen.Then(func() { toggleMark(l) })},
		{Name: "mark all", Press: []string{"*"}, Help: "mark all rows that the filter lets pass, or none", Off: markOff, Do: screen.Then(func() { toggleMarks(l) })},
		{Name: "up", Press: []string{"up", "k"}, Show: "↑ k", Help: "one row up", Do: move(func() int { return -1 })},
		{Name: "down", Press: []string{"down", "j"}, Show: "↓ j", Help: "one row down", Do: move(func() int { return 1 })},
		{Name: "page up", Press: []string{"pgup", "ctrl+b"}, Show: "PgUp", Help: "one page up", Do: move(func() int { return -page() })},
		{Name: "page down", Press: []string{"pgdown", "ctrl+f"}, Show: "PgDn", Help: "one page down", Do: move(page)},
		{Name: "half a page up", Press: []string{"ctrl+u"}, Show: "^U", Help: "half a page up", Do: move(func() int { return -half() })},
		{Name: "half a page down", Press: []string{"ctrl+d"}, Show: "^D", Help: "half a page down", Do: move(half)},
		{Name: "first", Press: []string{"home", "g"}, Show: "Home g", Help: "to the first row", Do: goTo(func() int { return l.now.firstRow() })},
		{Name: "last", Press: []string{"end", "G"}, Show: "End G", Help: "to the last row", Do: goTo(func() int { return l.table.Len() - 1 })},
	}...)
}

// treeKeys are the keys of a tree. Enter opens and closes, where there is something to open.
func treeKeys[T any](l *List[T]) screen.Keys {
	if l.config.Level == nil {
		return nil
	}
	open := screen.Key{Name: "open", Press: []string{"o"}, Help: "show what is below the row, or hide it (also ⏎)", Off: "there is nothing below this row", Do: func(w *screen.World) tea.Cmd { return fold(l, w) }}
	if onBranch(l) {
		open.Press, open.Show, open.Short, open.Off = []string{"enter", "o"}, "⏎", "open", ""
		if l.now.open(l.at()) {
			open.Short = "close"
		}
		if l.order.filter != "" {
			open.Short, open.Off = "", "a filter shows all that it lets pass"
		}
	}
	return screen.Keys{
		open,
		{Name: "next branch", Press: []string{"J"}, Short: "next " + l.config.Top, Help: "to the next " + l.config.Top, Do: screen.Then(func() { stepTop(l, 1) })},
		{Name: "previous branch", Press: []string{"K"}, Help: "to the " + l.config.Top + " before", Do: screen.Then(func() { stepTop(l, -1) })},
	}
}

// reverse sorts the other way round, by the last column that is shown if by none.
func reverse[T any](l *List[T], w *screen.World) tea.Cmd {
	if l.order.sort < 0 {
		for l.order.sort = len(l.table.Columns) - 1; l.order.sort > 0 && !l.table.Visible(l.order.sort); l.order.sort-- {
		}
	}
	return sortBy(l, w, l.order.sort) // which turns it round
}

// sortStep goes on to the next column that is shown, or to the one before, with the default order after the
// last.
func sortStep[T any](l *List[T], w *screen.World, by int) tea.Cmd {
	n := len(l.table.Columns) + 1 // the default order is one of them
	for range n {
		l.order.sort = (l.order.sort+1+by+n)%n - 1
		if l.order.sort < 0 || l.table.Visible(l.order.sort) {
			break
		}
	}
	l.order.desc = false
	return l.arrange(w)
}

// sortBy sorts by a column, and the other way round if it did already.
func sortBy[T any](l *List[T], w *screen.World, column int) tea.Cmd {
	if l.order.sort == column {
		l.order.desc = !l.order.desc
	} else {
		l.order.sort, l.order.desc = column, false
	}
	return l.arrange(w)
}
