package record

import (
	"slices"
	"testing"
	"time"
)

// TestLevels: they reach from the first moment to the last, however long that is and however often something
// comes, with the newest state at the end. What was handed out stays as it is.
func TestLevels(t *testing.T) {
	begin := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, every := range []time.Duration{100 * time.Millisecond, time.Second, time.Minute} {
		var l levels
		for i := range 3_000 {
			handedOut, was := l.all, slices.Clone(l.all)
			l.add(begin.Add(time.Duration(i)*every), &Tallied{waiting: i})
			for k := range was {
				if handedOut[k].Time != was[k].Time || handedOut[k].Waiting != was[k].Waiting {
					t.Fatalf("every %v: level %d of what was handed out was written", every, k)
				}
			}
			if n := len(l.all); n >= mostLevels || l.all[0].Time != begin || l.all[n-1].Waiting != i {
				t.Fatalf("every %v: after %d: %d levels from %v, the newest says %d", every, i, n, l.all[0].Time, l.all[n-1].Waiting)
			}
		}
		gap := time.Duration(0)
		for k := 1; k < len(l.all); k++ {
			gap = max(gap, l.all[k].Time.Sub(l.all[k-1].Time))
		}
		if whole := 3_000 * every; gap > whole/50 {
			t.Errorf("every %v: a gap of %v in %v", every, gap, whole)
		}
	}
}
