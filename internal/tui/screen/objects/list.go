package objects

import (
	"context"
	"strconv"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// kind says how the objects of a kind are listed.
type kind[T any] struct {
	noun      string
	resource  inspect.Resource
	build     func(ctx context.Context, w *screen.World) ([]T, error)
	ref       func(row *T) screen.Ref
	columns   []listing.Column[T]
	groupings []listing.Grouping[T]
}

// newList makes the list of a kind.
func newList[T any](k kind[T]) screen.Screen {
	return listing.New(listing.Config[T]{
		Noun: k.noun, Build: k.build, Columns: k.columns, Groupings: k.groupings, Ref: k.ref,
		Key:   func(row *T) string { return k.ref(row).String() },
		Empty: func(w *screen.World) string { return whyEmpty(w, k.resource) },
	})
}

// whyEmpty says why there may be nothing to see.
func whyEmpty(w *screen.World, r inspect.Resource) string {
	if h := w.Snapshot.Health(r); !h.Complete() {
		return inspect.Sanitize(h.Message)
	}
	return ""
}

// name is a column with a name that comes from the cluster, text one with anything else.
func name[T any](title string, of func(row *T) string) listing.Column[T] {
	c := text(title, of)
	c.Min, c.Max = 24, 48
	c.Cell = func(row *T) styled.Line { return styled.Text(styled.Name, inspect.Sanitize(of(row))) }
	return c
}

func text[T any](title string, of func(row *T) string) listing.Column[T] {
	return listing.Column[T]{Column: widget.Column{Title: title, Min: min(len(title)+4, 12), Max: 60}, Cell: func(row *T) styled.Line {
		s := of(row)
		if s == "" {
			return styled.Text(styled.Dim, "–")
		}
		return styled.Text(styled.Plain, inspect.Sanitize(s))
	}}
}

// number is a column of numbers; a role says how those above nought look.
func number[T any](title string, role styled.Role, of func(row *T) int) listing.Column[T] {
	return listing.Column[T]{
		Column: widget.Column{Title: title, Right: true},
		Cell: func(row *T) styled.Line {
			n := of(row)
			if n == 0 {
				return styled.Text(styled.Dim, "0")
			}
			return styled.Text(role, strconv.Itoa(n))
		},
		Compare: func(a, b *T) int { return of(a) - of(b) },
		Amount:  func(row *T) (float64, bool) { return float64(of(row)), true },
	}
}

// age is a column of ages.
func age[T any](of func(row *T) time.Duration) listing.Column[T] {
	return listing.Column[T]{
		Column:  widget.Column{Title: "AGE", Right: true, Rank: 3},
		Cell:    func(row *T) styled.Line { return styled.Text(styled.Plain, screen.FormatAge(of(row))) },
		Compare: func(a, b *T) int { return int(of(a)/time.Second - of(b)/time.Second) },
		Amount:  func(row *T) (float64, bool) { return of(row).Seconds(), of(row) >= 0 },
		Number:  screen.ParseAge,
	}
}

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
