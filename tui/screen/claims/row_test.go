package claims

import (
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestWhatNeedsALookComesFirst: the rows are those of the namespace, each claim once: those that are helped,
// then those that are stuck, then by state, and among these in the order of the claims.
func TestWhatNeedsALookComesFirst(t *testing.T) {
	w := screentest.Demo(t)
	reasons := map[inspect.ClaimRef]*reason{}
	for i, claim := range w.Snapshot.Objects().Claims {
		if inspect.StateOf(claim) == inspect.ClaimPending && i%2 == 0 {
			reasons[inspect.RefOf(claim)] = &reason{text: "no", verdict: explain.Unsatisfiable}
		}
	}
	for _, namespace := range []string{"", "ml"} {
		w.Namespace = namespace
		rows, err := builder(reasons, nil)(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, claim := range w.Snapshot.Objects().Claims {
			if w.InNamespace(claim.Namespace) {
				want++
			}
		}
		if len(rows) != want || !slices.IsSortedFunc(rows, func(a, b row) int { return a.rank() - b.rank() }) || !rows[0].stuck() {
			t.Errorf("%q: %d rows of %d claims, the first %+v", namespace, len(rows), want, rows[0])
		}
		for i := 1; i < len(rows); i++ {
			if rows[i-1].rank() == rows[i].rank() && rows[i-1].ref.String() >= rows[i].ref.String() {
				t.Errorf("%q: %s comes before %s", namespace, rows[i-1].ref, rows[i].ref)
			}
		}
	}
}
