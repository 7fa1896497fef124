package listing

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Column is a column of a List of T.
type Column[T any] struct {
	widget.Column
	// Names are what filters may call the column besides its title.
	Names []string
	// Cell is what the column shows of a row. It is called for the rows in sight, by View.
	Cell func(row *T) styled.Line
	// Brief is the cell in a few words, for where the Cell would be cut. It may be nil, and may return
	// nothing.
	Brief func(row *T) styled.Line
	// Stem is the column before whose cells a tree is drawn.
	Stem bool
	// Text is what filters and sorting see of a row. If it is nil, they see the text of the Cell.
	Text func(row *T) string
	// Compare orders two rows. If it is nil, their Texts are compared, with numbers in them by value.
	Compare func(a, b *T) int
	// Amount returns the number that the column shows of a row, and whether it shows one, for filters such as
	// free>4. If it is nil, the column never shows a number.
	Amount func(row *T) (float64, bool)
	// ToldBy are the names of the groupings whose headings say what the column says. Below them it is left
	// out.
	ToldBy []string
	// Number reads a number of a filter. If it is nil, numbers are quantities as Kubernetes writes them.
	Number func(text string) (float64, bool)
}

// Grouping is a way to put rows under headings.
type Grouping[T any] struct {
	Name string
	// Of names the group of a row.
	Of func(row *T) string
	// Heading is what stands above a group, of all its rows, whether a filter hides some or not. If it is
	// nil, that is the name of the group and the number of rows.
	Heading func(group string, rows []*T) styled.Line
}

// Config says what a List shows.
type Config[T any] struct {
	// Noun names the rows, in the plural: "claims".
	Noun string
	// Build makes the rows. It runs in the background and may take its time. The rows that it returns,
	// in their default order, must not be written afterwards.
	Build func(ctx context.Context, w *screen.World) ([]T, error)
	// Light says that Build takes no time worth mentioning, so that it need not wait for other work to end.
	Light bool
	// Key identifies a row across rebuilds, so that the cursor stays with it.
	Key func(row *T) string
	// Ref is the object that a row is about.
	Ref     func(row *T) screen.Ref
	Columns []Column[T]
	// Adapt chooses columns for rows, in the background. If it is nil, Columns are used. Those that are
	// always there come in the same places as in Columns.
	Adapt func(rows []T) []Column[T]
	// Groupings can be chosen with a key; the first is in force at the start if Grouped is set.
	Groupings []Grouping[T]
	Grouped   bool
	// Level makes the rows a tree, if it is not nil: how deep a row is, from 0. Those that are deeper and
	// follow a row lie below it. Only rows without any below them are told of by Shown, Marked and filters.
	// Top is what a row of the first level is called.
	Level func(row *T) int
	Top   string
	// opened are the keys of rows that are open. It is not written. unfolded says that all are.
	opened   map[string]bool
	unfolded bool
	// chosen names the columns that the user wants to see, in their order. If it is empty, those are Columns.
	chosen []string
	// Resources are what the rows are made of: what of it could not be read is why there are no rows. None
	// says what it means that there are none in the cluster. If it is empty, the list only says that there
	// are none.
	Resources []inspect.Resource
	None      string
	// Namespaced names, in the plural, what may be hidden because it is of other namespaces than the one that
	// is shown.
	Namespaced string
	// Empty says why there are no rows where there is more to say.
	Empty func(w *screen.World) string
	// Extra is text of a row that filters see in addition to that of the columns.
	Extra func(row *T) string
	// Panel tells of the row that is pointed at, below the table: a title and lines. It may be nil.
	Panel func(row *T, w *screen.World, width, height int) (title styled.Line, lines []styled.Line)
	// Aside is Panel for screens that are wide enough to have it beside the table. It may be nil.
	Aside func(row *T, width int) []styled.Line
	// Curves are what graphs below the table show where it leaves room, of the row that is pointed at, which
	// may be nil. If it is nil, or there are none, they show what waits and what is used in the cluster.
	Curves func(row *T) Board
}

// List is the part of a screen that shows a table. It is a whole [screen.Screen], so that a screen that
// embeds one has only to write the methods in which it differs. It is used by one goroutine only.
type List[T any] struct {
	config Config[T]
	table  *widget.Table
	job    screen.Job[arranged[T]]
	// stale says that the world changed while the job was running.
	stale bool

	order order
	now   arranged[T]
	built bool
	// ways counts how often the way to build rows was replaced.
	ways int
	err  error
	// trouble is why what rows tell is not worked out anew.
	trouble error
	want    string // refKey of the object to point at as soon as it is there
	// asked says that no rows were built since the user asked for an object or a namespace.
	asked     bool
	namespace string
	// moved says that the user has chosen a row, with which the cursor stays. Before that it stays on the
	// first row.
	moved bool
	// marks are the keys of the rows that are marked. It is not written: the rows that are shown see it in
	// the background.
	marks map[string]bool
	// marked are the objects of these rows.
	marked []screen.Ref
}

// order is what the user chose about the order of rows.
type order struct {
	filter   string
	folds    int // how often the user has opened or closed a row
	sort     int // the number of a column, or -1 for the default order
	desc     bool
	grouping int // the number of a grouping, or -1 if rows are not grouped
}

// none is the number of no column and of no grouping.
const none = -1

// New makes a List without rows.
func New[T any](config Config[T]) *List[T] {
	l := &List[T]{config: config, table: widget.NewTable(widgetColumns(config.Columns, "")), order: order{sort: -1, grouping: -1}}
	if config.Grouped {
		l.order.grouping = 0
	}
	return l
}

func widgetColumns[T any](columns []Column[T], grouping string) []widget.Column {
	list := make([]widget.Column, len(columns))
	for i, c := range columns {
		list[i] = c.Column
		list[i].ImpliedByHeading = slices.Contains(c.ToldBy, grouping)
	}
	return list
}

// Update handles what is common to all tables. Messages that are not known are passed over.
func (l *List[T]) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if result, ok := l.job.Take(msg); ok {
		return l.take(w, result)
	}
	switch msg := msg.(type) {
	case screen.Shown, screen.Changed:
		return l.refresh(w)
	case screen.Filter:
		l.order.filter = msg.Text
		return l.arrange(w)
	case screen.Selected:
		l.want, l.asked = refKey(msg.Ref), true
		return l.refresh(w)
	case tea.MouseWheelMsg:
		l.moved = true
		l.table.Wheel(widget.WheelRows(msg))
	case tea.MouseClickMsg:
		l.moved = true
		before := l.table.Cursor()
		switch title, row := l.table.Click(msg.X, msg.Y); {
		case title >= 0:
			return sortBy(l, w, title)
		case row && l.table.Cursor() == before && onBranch(l):
			return fold(l, w)
		case row && l.table.Cursor() == before && l.Row() != nil: // a second click opens it
			return screen.Send(screen.Open{Page: screen.Detail, Ref: l.Selection()})
		}
	}
	return nil
}

// refKey tells objects apart.
func refKey(r screen.Ref) string { return string(r.Kind) + "\x00" + r.String() }

// refresh builds the rows again, now or when the build that is under way is done: with a world that changes
// often, cancelling it would never let one end.
func (l *List[T]) refresh(w *screen.World) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	if w.Namespace != l.namespace {
		l.namespace, l.asked = w.Namespace, true
	}
	if l.job.Running() {
		l.stale = true
		return nil
	}
	l.stale = false
	config, order, way := l.config, l.order, l.ways
	return l.start(w, func(ctx context.Context) (arranged[T], error) {
		rows, err := config.Build(ctx, w)
		if err != nil {
			return arranged[T]{}, err
		}
		a := arrange(&config, rows, order)
		a.way = way
		return a, nil
	})
}

func (l *List[T]) start(w *screen.World, work func(context.Context) (arranged[T], error)) tea.Cmd {
	if l.config.Light {
		return l.job.Await(w, work)
	}
	return l.job.Start(w, work)
}

// Rebuild makes build the way to build rows, and builds them. It is for rows that show more than the
// snapshot, such as what a screen has found out in the meantime: build must not look at anything that is
// written to, for it runs in the background.
func (l *List[T]) Rebuild(w *screen.World, build func(ctx context.Context, w *screen.World) ([]T, error)) tea.Cmd {
	l.config.Build = build
	l.ways++
	return l.refresh(w)
}

// arrange filters, sorts and groups the rows that are there.
func (l *List[T]) arrange(w *screen.World) tea.Cmd {
	if !l.built || l.job.Running() {
		return l.refresh(w)
	}
	config, order, now := l.config, l.order, l.now
	return l.start(w, func(context.Context) (arranged[T], error) {
		a := arrange(&config, now.rows, order)
		a.way = now.way
		return a, nil
	})
}

// take shows the rows of a result.
func (l *List[T]) take(w *screen.World, result screen.Result[arranged[T]]) tea.Cmd {
	if l.err = result.Err; l.err == nil {
		jump := l.want != ""
		cursor := l.cursorIn(&result.Value)
		l.now, l.built = result.Value, true
		setMarks(l, l.marks)
		l.table.Sort, l.table.Desc = l.now.order.sort, l.now.order.desc
		l.table.Columns = widgetColumns(l.now.columns, l.now.grouping())
		if reveal(l) {
			l.asked = true
		}
		if jump = jump && l.want == ""; jump {
			l.table.SetRows(&l.now, l.now.natural, l.table.Cursor())
			l.table.MoveTo(cursor) // which does not take the rows around it along
		} else {
			l.table.SetRows(&l.now, l.now.natural, cursor)
		}
	}
	l.asked = l.asked && l.stale
	if l.stale || l.now.order != l.order && l.err == nil {
		return l.refresh(w)
	}
	return nil
}

// cursorIn finds where the row that is pointed at has gone; if it is gone, the cursor stays at its number.
func (l *List[T]) cursorIn(next *arranged[T]) int {
	if l.want != "" {
		for i, item := range next.items {
			if item.row >= 0 && next.tree.leaf(item.row) && refKey(l.config.Ref(&next.rows[item.row])) == l.want {
				l.want, l.moved = "", true
				return i
			}
		}
	}
	if next.order.filter != l.now.order.filter {
		if at := next.called(next.order.filter); at >= 0 {
			l.moved = true
			return at
		}
	}
	row := l.Row()
	if !l.moved {
		return next.firstRow()
	}
	if row == nil {
		return max(0, l.table.Cursor())
	}
	key := l.config.Key(row)
	at := slices.IndexFunc(next.items, func(i item) bool { return i.row >= 0 && l.config.Key(&next.rows[i.row]) == key })
	if at < 0 {
		return l.table.Cursor()
	}
	return at
}

// called finds the row of the object that has exactly a name, or the last part of a name. It is -1 if none
// has.
func (a *arranged[T]) called(name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(a.items, func(item item) bool {
		if item.row < 0 || !a.tree.leaf(item.row) {
			return false
		}
		of := a.config.Ref(&a.rows[item.row]).Name
		return strings.EqualFold(of, name) || strings.EqualFold(of[strings.LastIndexByte(of, '/')+1:], name)
	})
}

// Row is the row that is pointed at, or nil.
func (l *List[T]) Row() *T {
	at := l.at()
	if at < 0 {
		return nil
	}
	return &l.now.rows[at]
}

// Rows are all rows, also those that the filter hides. They must not be written.
func (l *List[T]) Rows() []T { return l.now.rows }

// Shown yields the rows that the filter lets pass, in the order in which they are shown. Of a tree it yields
// the leaves, whether those above them are open or not.
func (l *List[T]) Shown() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		if l.now.tree != nil {
			for _, i := range l.now.passed {
				if !yield(&l.now.rows[i]) {
					return
				}
			}
			return
		}
		for _, item := range l.now.items {
			if item.row >= 0 && !yield(&l.now.rows[item.row]) {
				return
			}
		}
	}
}

// State implements screen.Screen.
func (l *List[T]) State() screen.State {
	return screen.State{
		Keys: keysOf(l), Selection: l.Selection(), Status: l.status(), Filters: true, Filter: l.order.filter,
		Arrangement: l.arrangement(), Unsettled: l.unsettled(), Marked: l.marked, Unmark: func() { setMarks(l, nil) },
	}
}

// Selection is the object of the row that is pointed at.
func (l *List[T]) Selection() screen.Ref {
	if row := l.Row(); row != nil {
		return l.config.Ref(row)
	}
	return screen.Ref{}
}

// arrangement says in a few words what of the order of rows is not to be seen from the rows themselves: by
// what they are grouped, that the filter lets pass what is only like it, and why they are not up to date.
func (l *List[T]) arrangement() string {
	var parts []string
	if err := cmp.Or(l.err, l.trouble); err != nil && len(l.now.rows) > 0 {
		parts = append(parts, "not up to date: "+inspect.Sanitize(err.Error()))
	}
	if l.now.hint != "" && l.now.shown > 0 { // otherwise it stands where the rows would be
		parts = append(parts, l.now.hint)
	}
	if l.now.alike {
		parts = append(parts, "nothing has it as typed: what is like it")
	}
	usual := none
	if l.config.Grouped {
		usual = 0
	}
	if at := l.now.order.grouping; at != usual && at >= 0 && at < len(l.config.Groupings) {
		parts = append(parts, "by "+l.config.Groupings[at].Name)
	}
	return strings.Join(parts, ", ")
}

// unsettled reports whether other rows than those that are shown were asked for, by a filter, an order, a
// namespace or an object to point at, so that it is not known yet which row will be pointed at. Rows of a
// newer snapshot do not count.
func (l *List[T]) unsettled() bool {
	return l.job.Running() && (!l.built || l.asked || l.now.order != l.order)
}

// Trouble has the page say why what its rows tell is not worked out anew, or, with nil, that it is.
func (l *List[T]) Trouble(err error) { l.trouble = err }

// Current reports whether the rows, be it none, were made as the last Rebuild said. As long as they were not,
// that there are none means nothing.
func (l *List[T]) Current() bool { return l.built && l.now.way == l.ways }

// View draws the table, with what there is to be told of the row that is pointed at.
func (l *List[T]) View(w *screen.World, width, height int) string {
	row := l.Row()
	switch {
	case row == nil || l.config.Panel == nil:
		return l.Table(w, width, height)
	case l.config.Aside != nil && widget.HasAside(width):
		table := func(width int) string { return l.Table(w, width, height) }
		return widget.Aside(w.Theme, table, func(width int) []styled.Line { return l.config.Aside(row, width) }, width, height)
	}
	title, lines := l.config.Panel(row, w, width, height)
	return widget.Split(w.Theme, func(height int) string { return l.Table(w, width, height) }, title, lines, width, height)
}

// Table draws the table alone.
func (l *List[T]) Table(w *screen.World, width, height int) string {
	l.table.Empty = l.emptyText(w)
	rows := max(1, l.table.Len()) + 2 // with the titles, and a line between
	below := l.board(w, width, height-rows)
	if below == nil {
		return l.table.View(w.Theme, width, height)
	}
	rest := height - len(below)
	return widget.Fit(l.table.View(w.Theme, width, rest), width, rest) + "\n" + strings.Join(below, "\n")
}

// Plain is the whole table.
func (l *List[T]) Plain(w *screen.World, width int) string {
	if l.table.Len() == 0 {
		return l.emptyText(w)
	}
	if l.config.Level != nil {
		return plainTree(l, w, width)
	}
	return l.table.Plain(w.Theme, width)
}

func (l *List[T]) emptyText(w *screen.World) string {
	switch {
	case w.Snapshot == nil:
		return "waiting for the cluster"
	case l.err != nil:
		return fmt.Sprintf("%s could not be listed: %s", l.config.Noun, inspect.Sanitize(l.err.Error()))
	case !l.built:
		return "one moment"
	case len(l.now.rows) > 0:
		text := fmt.Sprintf("none of %d %s matches %q", len(l.now.rows), l.config.Noun, l.order.filter)
		if l.now.hint != "" {
			text += ": " + l.now.hint
		}
		return text
	}
	unread := screen.Unread(w, l.config.Resources...)
	switch {
	case l.config.Empty != nil:
		return l.config.Empty(w)
	case unread != "":
		return unread
	case w.Namespace != "" && l.config.Namespaced != "":
		return fmt.Sprintf("no %s in namespace %s; n shows other namespaces", l.config.Namespaced, inspect.Sanitize(w.Namespace))
	}
	return cmp.Or(l.config.None, "no "+l.config.Noun)
}

// status counts the rows.
func (l *List[T]) status() string {
	if n := len(l.marked); n > 0 {
		return fmt.Sprintf("%d marked, %s", n, l.count())
	}
	return l.count()
}

func (l *List[T]) count() string {
	if !l.built {
		return ""
	}
	if l.now.shown != len(l.now.rows) {
		return fmt.Sprintf("%d of %d %s", l.now.shown, len(l.now.rows), l.config.Noun)
	}
	if len(l.now.rows) == 1 {
		return "1 " + singular(l.config.Noun)
	}
	return fmt.Sprintf("%d %s", len(l.now.rows), l.config.Noun)
}

// ColumnAt returns the column of the last drawing at a place, and how far into it that is. It is -1 if there
// is none. Columns are counted as Config has them, whatever the user has chosen.
func (l *List[T]) ColumnAt(x int) (column, offset int) {
	if column, offset = l.table.ColumnAt(x); column >= 0 && l.now.places != nil {
		column = l.now.places[column]
	}
	return column, offset
}

// Wide returns how many columns the table takes if nothing has to be left out or cut.
func (l *List[T]) Wide() int { return l.table.Wide() }

// GroupBy makes groupings the ones to choose from, and puts the rows under the headings of one of them.
func (l *List[T]) GroupBy(w *screen.World, groupings []Grouping[T], at int) tea.Cmd {
	l.config.Groupings, l.order.grouping = groupings, at
	return l.arrange(w)
}

// singular is one of what a noun names.
func singular(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(noun, "s")
}
