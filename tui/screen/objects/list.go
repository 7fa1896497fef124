package objects

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// About makes what the page about an object says, laid out for a width. It runs in the background, and fails
// if the object is gone or the context ends. The first line names the object; all are safe to show.
type About func(ctx context.Context, w *screen.World, ref screen.Ref) (lines func(width int) []styled.Line, err error)

// list is the view of a kind: the table, and beneath or beside it what the page about the object under the
// cursor says.
type list[T any] struct {
	*listing.List[T]
	about About
	page  screen.Companion[func(width int) []styled.Line]
}

// newList makes the list of a kind, of which config has all but what is the same for all of them.
func newList[T any](about About, config listing.Config[T]) screen.Screen {
	l := &list[T]{about: about}
	config.Panel, config.Aside = l.panel, func(_ *T, width int) []styled.Line { return l.lines(width) }
	config.Key = func(row *T) string { return config.Ref(row).String() }
	l.List = listing.New(config)
	return l
}

// Update implements screen.Screen.
func (l *list[T]) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	listed := l.List.Update(w, msg)
	told, _ := l.page.Update(w, msg)
	return tea.Batch(listed, told, l.page.Follow(w, l.State().Selection, l.about))
}

// panel is the page about the object under the cursor, below the table.
func (l *list[T]) panel(_ *T, _ *screen.World, width, height int) (title styled.Line, panel []styled.Line) {
	if panel = l.lines(width - 3); len(panel) > 0 {
		title, panel = panel[0], slices.DeleteFunc(panel[1:], func(line styled.Line) bool { return len(line) == 0 })
	}
	for i := range panel {
		panel[i] = append(styled.Line{{Text: " "}}, panel[i]...)
	}
	// A panel of always the same height keeps the rows where they are while the cursor runs over them.
	for len(panel) < widget.PanelHeight(height) {
		panel = append(panel, nil)
	}
	return title, panel
}

// lines is the page about the object under the cursor.
func (l *list[T]) lines(width int) []styled.Line {
	switch {
	case !l.page.Known:
		return []styled.Line{styled.Text(styled.Name, inspect.Sanitize(l.State().Selection.String()))}
	case l.page.Err != nil:
		return []styled.Line{styled.Text(styled.Bad, inspect.Sanitize(l.page.Err.Error()))}
	}
	return l.page.Value(width)
}

// name is a column with a name that comes from the cluster, text one with anything else.
func name[T any](title string, of func(row *T) string) listing.Column[T] {
	c := text(title, of)
	c.Min, c.Max = 24, 48
	c.Cell = func(row *T) styled.Line { return styled.Text(styled.Name, inspect.Sanitize(of(row))) }
	return c
}

// narrow is a column of names that are short as a rule.
func narrow[T any](c listing.Column[T]) listing.Column[T] {
	c.Min = 10
	return c
}

func text[T any](title string, of func(row *T) string) listing.Column[T] {
	return listing.Column[T]{Column: widget.Column{Title: title, Min: min(len(title)+4, 12), Max: 60}, Cell: func(row *T) styled.Line { return listing.OrDash(inspect.Sanitize(of(row))) }}
}

// number is a column of numbers; a role says how those above nought look.
func number[T any](title string, role styled.Role, of func(row *T) int) listing.Column[T] {
	return listing.NumberColumn(title, 0, of, func(row *T) styled.Line { return listing.Number(of(row), role) })
}

// age is a column of ages.
func age[T any](of func(row *T) screen.Age) listing.Column[T] { return listing.AgeColumn("AGE", 3, of) }

// ranked is a column that is left out before others where there is little room.
func ranked[T any](rank int, c listing.Column[T]) listing.Column[T] {
	c.Rank = rank
	return c
}

// spare is a column that is shown only where all others have the room that they want.
func spare[T any](c listing.Column[T]) listing.Column[T] {
	c.Spare = true
	return c
}
