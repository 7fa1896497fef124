package listing

import (
	"cmp"

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
