package explain_test

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// TestBest: one change is the best only if it is certain that no other that was tried frees as many.
func TestBest(t *testing.T) {
	fix := func(frees, loses int, atLeast bool) explain.CauseFix {
		return explain.CauseFix{Frees: make([]explain.Subject, frees), Loses: make([]explain.Subject, loses), AtLeast: atLeast}
	}
	for name, c := range map[string]struct {
		causes [][]explain.CauseFix
		cause  int // -1 if there is none
	}{
		"nothing is stuck":             {nil, -1},
		"no change helps":              {[][]explain.CauseFix{{}}, -1},
		"each frees one":               {[][]explain.CauseFix{{fix(1, 0, false)}, {fix(1, 0, false)}}, -1},
		"one frees two":                {[][]explain.CauseFix{{fix(1, 0, false)}, {fix(2, 0, false), fix(1, 0, false)}}, 1},
		"two free as many":             {[][]explain.CauseFix{{fix(2, 0, false)}, {fix(2, 0, false)}}, -1},
		"it takes room from others":    {[][]explain.CauseFix{{fix(1, 0, false)}, {fix(4, 1, false)}}, -1},
		"another is worse in the end":  {[][]explain.CauseFix{{fix(4, 3, false)}, {fix(2, 0, false)}}, 1},
		"another may free more":        {[][]explain.CauseFix{{fix(1, 0, true)}, {fix(3, 0, false)}}, -1},
		"it frees at least as many":    {[][]explain.CauseFix{{fix(1, 0, false)}, {fix(3, 0, true)}}, 1},
		"the first of the first cause": {[][]explain.CauseFix{{fix(3, 0, false)}, {fix(2, 0, false)}}, 0},
	} {
		tr := &explain.Triage{}
		for _, fixes := range c.causes {
			tr.Causes = append(tr.Causes, explain.Cause{Fixes: fixes})
		}
		cause, best := tr.Best()
		if best == nil {
			cause = -1
		}
		if cause != c.cause {
			t.Errorf("%s: the best change is under cause %d, want %d", name, cause, c.cause)
		}
	}
}
