package tui

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/tui/preferences"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Preferences are what a user wants to be otherwise than it is by default.
type Preferences = preferences.Preferences

// CheckPreferences returns what is wrong with preferences, with the field that it is about, in a defined
// order.
func CheckPreferences(p *Preferences) []error {
	known := &preferences.Known{Views: Views(), Columns: map[string][]string{}, Keyboards: keyboards}
	for _, view := range ViewsWithColumns() {
		known.Columns[view] = ColumnsOf(view)
	}
	return p.Check(known)
}

// columned is a screen with a table whose columns can be chosen.
type columned interface {
	ShowColumns(names []string)
	ColumnNames() []string
}

// ColumnsOf returns the names of the columns of a view, in their order. There are none if it has no table.
func ColumnsOf(view string) []string {
	for _, v := range viewTable {
		if v.name != view {
			continue
		}
		if table, ok := v.make(&Options{Clock: time.Now}).(columned); ok {
			return table.ColumnNames()
		}
	}
	return nil
}

// ViewsWithColumns returns the names of the views that have a table.
func ViewsWithColumns() []string {
	return slices.DeleteFunc(Views(), func(view string) bool { return len(ColumnsOf(view)) == 0 })
}

// Backgrounds are what a terminal can have.
func Backgrounds() []string { return preferences.Backgrounds() }

// KeyNames returns the names of the actions that have keys, sorted.
func KeyNames() []string { return preferences.Names(keyboards()) }

// keyboards are the keys of all screens, as they are by default.
func keyboards() []preferences.Keyboard {
	m := newModel(context.Background(), Options{Source: Static(nil), Clock: time.Now, Writer: unwritten{}})
	root := append((&timeline{worlds: m.worlds}).list("", ""), m.keys()...)
	var all []preferences.Keyboard
	for _, v := range viewTable {
		all = append(all, preferences.Keyboard{Of: v.name, Own: v.make(&m.options).State().Keys, Root: root})
	}
	for _, name := range slices.Sorted(maps.Keys(pageTable)) {
		entry := pageTable[name]
		made := entry.make(screen.Ref{Kind: entry.kinds[0], Name: "-"})
		m.update(made, screen.Shown{})
		m.update(made, screen.Search{Text: "-"}) // with which there are keys to go on
		all = append(all, preferences.Keyboard{Of: string(name), Own: made.State().Keys, Root: root})
	}
	return all
}

// unwritten is a Player that does nothing: with one there are all keys that write.
type unwritten struct{}

func (unwritten) Plan(context.Context, Action, screen.Ref) (Plan, error) {
	return nil, context.Canceled
}
func (unwritten) Refuses(Action, screen.Ref) string { return "" }
