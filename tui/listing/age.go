package listing

import (
	"cmp"
	"strconv"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// AgeColumn is a column of ages.
func AgeColumn[T any](title string, rank int, of func(row *T) screen.Age) Column[T] {
	return Column[T]{
		Column:  widget.Column{Title: title, Right: true, Rank: rank},
		Cell:    func(row *T) styled.Line { return styled.Text(styled.Plain, of(row).String()) },
		Compare: func(a, b *T) int { return cmp.Compare(of(a).Length(), of(b).Length()) },
		Amount:  func(row *T) (float64, bool) { age := of(row).Length(); return age.Seconds(), age >= 0 },
		Number:  screen.ParseAge,
	}
}

// NumberColumn is a column of numbers. One below 0 is not known.
func NumberColumn[T any](title string, rank int, of func(row *T) int, cell func(row *T) styled.Line) Column[T] {
	return Column[T]{
		Column:  widget.Column{Title: title, Right: true, Rank: rank},
		Cell:    cell,
		Compare: func(a, b *T) int { return cmp.Compare(of(a), of(b)) },
		Amount:  func(row *T) (float64, bool) { n := of(row); return float64(max(n, 0)), n >= 0 },
	}
}

// Number is a number, or a dash for one that is not known; a role says how those above nought look.
func Number(n int, role styled.Role) styled.Line {
	switch {
	case n < 0:
		return OrDash("")
	case n == 0:
		return styled.Text(styled.Dim, "0")
	}
	return styled.Text(role, strconv.Itoa(n))
}

// OrDash is a text, which must be safe to show, or a dash where there is none.
func OrDash(text string) styled.Line {
	if text == "" {
		return styled.Text(styled.Dim, "–")
	}
	return styled.Text(styled.Plain, text)
}
