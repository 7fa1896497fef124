package record

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
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

// TestLevelsAreKnown: what is only supposed, and what was not read, is no level.
func TestLevelsAreKnown(t *testing.T) {
	pods := []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}}}
	for name, tc := range map[string]struct {
		supposed []screen.Change
		pods     inspect.HealthState
		want     []int
	}{
		"all is known":      {want: []int{1}, pods: inspect.Synced},
		"pods are not read": {want: []int{-1}, pods: inspect.Forbidden},
		"supposed":          {supposed: []screen.Change{{}}, pods: inspect.Synced},
	} {
		t.Run(name, func(t *testing.T) {
			s := inspect.New(inspect.Objects{Pods: pods}, inspect.Config{Revision: 1, Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: tc.pods}}})
			w := screen.NewWorld(t.Context(), 1, s)
			w.Now, w.Supposed = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), tc.supposed
			tally := &Tally{}
			tally.Begin(w)
			tally.Take(tally.Look(w)())
			var got []int
			for _, level := range tally.History.Levels {
				got = append(got, level.Waiting)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("levels %v, want %v", got, tc.want)
			}
		})
	}
}
