package listing

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// arranged are rows in the order in which they are shown. It is made in the background and not written
// afterwards.
type arranged[T any] struct {
	config  *Config[T]
	rows    []T
	columns []Column[T]
	// places are where columns stand in Config, if the user has chosen columns.
	places  []int
	order   order
	way     int // in which the rows were built, as List counts ways
	items   []item
	heads   []styled.Line
	shown   int
	natural []int
	// hint says why the filter may not be what the user meant. It is empty if there is nothing to say.
	hint string
	// alike says that a word of the filter is nowhere, and that rows pass which have its characters in their
	// order.
	alike bool
	// marks are the keys of the rows that are marked.
	marks map[string]bool
	tree  *tree
	// passed are the leaves of a tree that the filter lets pass, whether they are shown or not.
	passed []int
}

// item is a line of the table: a row, below a heading or with head -1 below none, or, with row -1, a heading.
type item struct{ row, head int }

// Len implements widget.Rows.
func (a *arranged[T]) Len() int { return len(a.items) }

// grouping is the name of the grouping in force, or "".
func (a *arranged[T]) grouping() string {
	if at := a.order.grouping; at >= 0 && at < len(a.config.Groupings) {
		return a.config.Groupings[at].Name
	}
	return ""
}

// firstRow is where the cursor is best at the beginning: not on a heading.
func (a *arranged[T]) firstRow() int {
	return max(0, slices.IndexFunc(a.items, func(i item) bool { return i.row >= 0 }))
}

// Row implements widget.Rows.
func (a *arranged[T]) Row(i int) widget.Row {
	if at := a.items[i]; at.row < 0 {
		return widget.Row{Heading: a.heads[at.head]}
	}
	row := &a.rows[a.items[i].row]
	cells, briefs := make([]styled.Line, len(a.columns)), []styled.Line(nil)
	for j := range cells {
		cells[j] = a.columns[j].Cell(row)
		if a.columns[j].Stem {
			cells[j] = a.hang(a.items[i].row, cells[j])
		}
		if a.columns[j].Brief != nil {
			if briefs == nil {
				briefs = make([]styled.Line, len(cells))
			}
			if briefs[j] = a.columns[j].Brief(row); a.columns[j].Stem && len(briefs[j]) > 0 {
				briefs[j] = a.hang(a.items[i].row, briefs[j])
			}
		}
	}
	line := widget.Row{Cells: cells, Briefs: briefs, Marked: len(a.marks) > 0 && a.marks[a.config.Key(row)]}
	if a.items[i].head >= 0 {
		line.Mark = a.branch(i)
	}
	return line
}

// branch draws how a row hangs below the heading of its group.
func (a *arranged[T]) branch(i int) string {
	if i+1 < len(a.items) && a.items[i+1].row >= 0 && a.items[i+1].head == a.items[i].head {
		return "├"
	}
	return "└"
}

// text is what filters and sorting see of a row in a column.
func (c *Column[T]) text(row *T) string {
	if c.Text != nil {
		return c.Text(row)
	}
	return c.Cell(row).String()
}

func arrange[T any](config *Config[T], rows []T, o order) arranged[T] {
	a := arranged[T]{config: config, rows: rows, order: o, columns: config.Columns}
	if config.Adapt != nil {
		a.columns = config.Adapt(rows)
	}
	a.choose()
	a.grow()
	index := a.leaves(a.filter())
	a.passed = index
	a.shown = len(index)
	a.hint = a.misread()
	if a.tree != nil {
		index = a.unfold(index)
	} else {
		a.sort(index)
	}
	a.group(index)
	a.natural = widget.Measure(widgetColumns(a.columns, ""), &a)
	return a
}

func (a *arranged[T]) sort(index []int) {
	if a.order.sort < 0 || a.order.sort >= len(a.columns) {
		return
	}
	column := &a.columns[a.order.sort]
	compare := column.Compare
	if compare == nil {
		compare = func(x, y *T) int { return words.CompareNames(column.text(x), column.text(y)) }
	}
	slices.SortStableFunc(index, func(x, y int) int {
		c := compare(&a.rows[x], &a.rows[y])
		if a.order.desc {
			return -c
		}
		return c
	})
}

// group puts headings between rows. Groups are sorted by name; in them, rows keep their order.
func (a *arranged[T]) group(index []int) {
	a.items = make([]item, 0, len(index))
	if a.order.grouping < 0 {
		for _, i := range index {
			a.items = append(a.items, item{row: i, head: none})
		}
		return
	}
	g := a.config.Groupings[a.order.grouping]
	names, whole := make([]string, len(a.rows)), map[string][]*T{} // a filter hides rows, but not what there is
	for i := range a.rows {
		names[i] = g.Of(&a.rows[i])
		whole[names[i]] = append(whole[names[i]], &a.rows[i])
	}
	members := map[string][]int{}
	for _, i := range index {
		members[names[i]] = append(members[names[i]], i)
	}
	groups := slices.Sorted(maps.Keys(members))
	slices.SortStableFunc(groups, words.CompareNames)
	for _, name := range groups {
		a.items = append(a.items, item{row: -1, head: len(a.heads)})
		heading := g.heading(name, whole[name])
		if shown := len(members[name]); shown < len(whole[name]) {
			heading = append(slices.Clip(heading), styled.Span{Text: "  (" + strconv.Itoa(shown) + " shown)", Role: styled.Dim})
		}
		a.heads = append(a.heads, heading)
		for _, i := range members[name] {
			a.items = append(a.items, item{row: i, head: len(a.heads) - 1})
		}
	}
}

func (g *Grouping[T]) heading(name string, rows []*T) styled.Line {
	if g.Heading != nil {
		return g.Heading(name, rows)
	}
	if name == "" {
		name = "none"
	}
	return styled.Line{{Text: name, Role: styled.Strong}, {Text: "  " + strconv.Itoa(len(rows)), Role: styled.Dim}}
}
