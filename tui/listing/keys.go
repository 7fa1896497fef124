package listing

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// The actions of a List.
const (
	sortNext keymap.Action = "sort"
	reverse  keymap.Action = "reverse"
	regroup  keymap.Action = "group"
	up       keymap.Action = "up"
	down     keymap.Action = "down"
	pageUp   keymap.Action = "page up"
	pageDown keymap.Action = "page down"
	halfUp   keymap.Action = "half a page up"
	halfDown keymap.Action = "half a page down"
	first    keymap.Action = "first"
	last     keymap.Action = "last"
	sortPrev keymap.Action = "sort by the column before"
	mark     keymap.Action = "mark"
	markAll  keymap.Action = "mark all"
	fold     keymap.Action = "open"
	nextTop  keymap.Action = "next branch"
	prevTop  keymap.Action = "previous branch"
)

// Keys are the keys of every table.
func (l *List[T]) Keys() keymap.Map {
	group := keymap.Key{Action: regroup, Press: []string{"b"}, Short: "group", Help: "group by " + l.groupNames()}
	if len(l.config.Groupings) == 0 {
		group = group.Disabled("there is nothing to group " + l.config.Noun + " by")
		group.Help, group.Short = "group", ""
	}
	back := keymap.Key{Action: reverse, Press: []string{"S"}, Help: "sort the other way round"}
	if l.order.sort < 0 {
		back.Help = "sort by the last column, the other way round"
	}
	return append(l.treeKeys(), keymap.Map{
		{Action: sortNext, Press: []string{"s", "right", "l"}, Short: "sort", Help: "sort by the next column (also → and l, or a click on its title)"},
		{Action: sortPrev, Press: []string{"left", "h"}, Show: "← h", Help: "sort by the column before"},
		back, group,
		{Action: mark, Press: []string{"space"}, Show: "Space", Help: "mark the row and go to the next, for " + l.bulk(), Off: l.markOff()},
		{Action: markAll, Press: []string{"*"}, Help: "mark all rows that the filter lets pass, or none", Off: l.markOff()},
		{Action: up, Press: []string{"up", "k"}, Show: "↑ k", Help: "one row up"},
		{Action: down, Press: []string{"down", "j"}, Show: "↓ j", Help: "one row down"},
		{Action: pageUp, Press: []string{"pgup", "ctrl+b"}, Show: "PgUp", Help: "one page up"},
		{Action: pageDown, Press: []string{"pgdown", "ctrl+f"}, Show: "PgDn", Help: "one page down"},
		{Action: halfUp, Press: []string{"ctrl+u"}, Show: "^U", Help: "half a page up"},
		{Action: halfDown, Press: []string{"ctrl+d"}, Show: "^D", Help: "half a page down"},
		{Action: first, Press: []string{"home", "g"}, Show: "Home g", Help: "to the first row"},
		{Action: last, Press: []string{"end", "G"}, Show: "End G", Help: "to the last row"},
	}...)
}

// treeKeys are the keys of a tree. Enter opens and closes, where there is something to open.
func (l *List[T]) treeKeys() keymap.Map {
	if l.config.Level == nil {
		return nil
	}
	open := keymap.Key{Action: fold, Press: []string{"o"}, Help: "show what is below the row, or hide it (also ⏎)", Off: "there is nothing below this row"}
	if l.onBranch() {
		open.Press, open.Show, open.Short, open.Off = []string{"enter", "o"}, "⏎", "open", ""
		if l.now.open(l.at()) {
			open.Short = "close"
		}
		if l.order.filter != "" {
			open.Short, open.Off = "", "a filter shows all that it lets pass"
		}
	}
	off := ""
	if l.order.grouping >= 0 {
		off = "the rows are grouped by something else"
	}
	return keymap.Map{
		open,
		{Action: nextTop, Press: []string{"J"}, Short: "next " + l.config.Top, Help: "to the next " + l.config.Top, Off: off},
		{Action: prevTop, Press: []string{"K"}, Help: "to the " + l.config.Top + " before", Off: off},
	}
}

func (l *List[T]) groupNames() string {
	names := make([]string, len(l.config.Groupings))
	for i, g := range l.config.Groupings {
		names[i] = g.Name
	}
	return strings.Join(names, ", ")
}

func (l *List[T]) press(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	switch l.Keys().Action(k.String()) {
	case fold:
		return l.fold(w)
	case sortNext:
		return l.sortStep(w, 1)
	case sortPrev:
		return l.sortStep(w, -1)
	case mark:
		l.toggleMark()
		return nil
	case markAll:
		l.toggleMarks()
		return nil
	case reverse:
		if l.order.sort < 0 {
			l.order.sort = l.lastShown() // sortBy turns it round
		}
		return l.sortBy(w, l.order.sort)
	case regroup:
		l.order.grouping++
		if l.order.grouping == len(l.config.Groupings) {
			l.order.grouping = -1
		}
		return l.arrange(w)
	}
	l.moved = true
	switch l.Keys().Action(k.String()) {
	case nextTop:
		l.step(1)
	case prevTop:
		l.step(-1)
	case up:
		l.table.Move(-1)
	case down:
		l.table.Move(1)
	case pageUp:
		l.table.Move(-l.table.Page())
	case pageDown:
		l.table.Move(l.table.Page())
	case halfUp:
		l.table.Move(-max(1, l.table.Page()/2))
	case halfDown:
		l.table.Move(max(1, l.table.Page()/2))
	case first:
		l.table.MoveTo(l.now.firstRow())
	case last:
		l.table.MoveTo(l.table.Len() - 1)
	}
	return nil
}

// sortStep goes on to the next column that is shown, or to the one before, with the default order after the last.
func (l *List[T]) sortStep(w *screen.World, by int) tea.Cmd {
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

// lastShown is the last column that is shown.
func (l *List[T]) lastShown() int {
	for at := len(l.table.Columns) - 1; at > 0; at-- {
		if l.table.Visible(at) {
			return at
		}
	}
	return 0
}

// sortBy sorts by a column, and the other way round if it did already.
func (l *List[T]) sortBy(w *screen.World, column int) tea.Cmd {
	if l.order.sort == column {
		l.order.desc = !l.order.desc
	} else {
		l.order.sort, l.order.desc = column, false
	}
	return l.arrange(w)
}
