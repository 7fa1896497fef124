package listing

import (
	"cmp"
	"slices"
	"strings"
)

// ShowColumns makes the table show only some of the columns that ColumnNames names, in their order, beside
// those that depend on the rows. It is called before there are rows.
func (l *List[T]) ShowColumns(names []string) { l.config.chosen = names }

// ColumnNames are the names of the columns, as users write them.
func (l *List[T]) ColumnNames() []string {
	var names []string
	for i := range l.config.Columns {
		if name := l.config.Columns[i].name(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// name is what users call the column, in one word if it has such a name.
func (c *Column[T]) name() string {
	name := strings.ToLower(cmp.Or(c.Title, c.Short))
	if strings.Contains(name, " ") && len(c.Names) > 0 {
		return c.Names[0]
	}
	return name
}

// choose puts the columns that the user wants to see in front, and hides the others.
func (a *arranged[T]) choose() {
	if len(a.config.chosen) == 0 {
		return
	}
	known := map[string]bool{}
	for i := range a.config.Columns {
		known[a.config.Columns[i].name()] = true
	}
	at := func(name string) int {
		return slices.IndexFunc(a.columns, func(c Column[T]) bool { return c.name() == name })
	}
	var places []int
	for _, name := range a.config.chosen {
		if i := at(name); i >= 0 {
			places = append(places, i)
		}
	}
	own := len(places)
	for i := range a.columns {
		if !slices.Contains(places, i) {
			places = append(places, i)
		}
	}
	columns := make([]Column[T], len(places))
	for to, from := range places {
		columns[to] = a.columns[from]
		columns[to].Hidden = to >= own && known[columns[to].name()]
		columns[to].Spare = columns[to].Spare && to >= own
	}
	a.columns, a.places = columns, places
}
