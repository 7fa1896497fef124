package triage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
)

// interruptedAt is what is known when the context ends at some point of the work. It is nil if that point is
// never reached.
func interruptedAt(t *testing.T, doing string, step int) (*explain.Triage, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return triage.Of(progress.With(ctx, func(at string, done, _ int) {
		if at == doing && done == step {
			cancel()
		}
	}), explaintest.DemoCluster(t), triage.Options{})
}

// TestInterrupted: what is known when the context ends is a part of what would be known in the end, and says
// what it lacks.
func TestInterrupted(t *testing.T) {
	whole, err := triage.Of(t.Context(), explaintest.DemoCluster(t), triage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := interruptedAt(t, "placing pods", 1); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("before anything is known: %v, %v", got, err)
	}
	points := 0
	for _, doing := range []string{"explaining kinds of pods and claims", "trying changes on all that waits"} {
		for _, step := range []int{0, 1, 4} {
			got, err := interruptedAt(t, doing, step)
			if err == nil { // nothing after that asked anything
				continue
			}
			points++
			name := fmt.Sprintf("%s %d", doing, step)
			if got == nil || !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v, %v", name, got, err)
			}
			if last := got.Partial[len(got.Partial)-1]; !strings.HasPrefix(last, "interrupted: of ") {
				t.Errorf("%s: it says %q", name, last)
			}
			if diff := cmp.Diff(whole.Ready, got.Ready); diff != "" || got.Waiting != whole.Waiting {
				t.Errorf("%s: what fits is another: %s", name, diff)
			}
			compareSoFar(t, name, got, whole)
			if doing[0] == 'e' && len(got.NotLookedInto) == 0 {
				t.Errorf("%s: all was looked into", name)
			}
		}
	}
	if points < 4 {
		t.Errorf("interrupted at %d points only", points)
	}
}

// compareSoFar checks that what is known so far is a part of the whole, and the rest not looked into.
func compareSoFar(t *testing.T, name string, got, whole *explain.Triage) {
	t.Helper()
	keys := map[explain.Subject]string{}
	fixes := map[string][]explain.CauseFix{}
	for i := range whole.Causes {
		fixes[whole.Causes[i].Key] = whole.Causes[i].Fixes
		for _, s := range whole.Causes[i].Subjects {
			keys[s.Subject] = whole.Causes[i].Key
		}
	}
	left := len(whole.NotLookedInto)
	for i := range got.Causes {
		c := &got.Causes[i]
		for _, s := range c.Subjects {
			if keys[s.Subject] != c.Key {
				t.Errorf("%s: %s has the cause %q, and %q in the end", name, s.FullName(), c.Key, keys[s.Subject])
			}
			delete(keys, s.Subject)
		}
		for j := range c.Fixes {
			f := &c.Fixes[j]
			if !slices.ContainsFunc(fixes[c.Key], func(g explain.CauseFix) bool { return g.Key == f.Key && cmp.Equal(g.Frees, f.Frees) }) {
				t.Errorf("%s: %s is no fix of %q in the end", name, f.Message, c.Key)
			}
		}
	}
	if left += len(keys); left != len(got.NotLookedInto) {
		t.Errorf("%s: %d are not looked into, want %d", name, len(got.NotLookedInto), left)
	}
}

// TestLooked: causes come as they are found, and in the end are all there, without fixes.
func TestLooked(t *testing.T) {
	var mutex sync.Mutex
	var told []*explain.Triage
	whole, err := triage.Of(t.Context(), explaintest.DemoCluster(t), triage.Options{Looked: func(_ int, soFar func() *explain.Triage) {
		mutex.Lock()
		defer mutex.Unlock()
		told = append(told, soFar())
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range told {
		compareSoFar(t, fmt.Sprint(i), got, whole)
	}
	if n := len(told); n < 5 || len(told[0].NotLookedInto) == 0 || len(told[n-1].NotLookedInto) > 0 {
		t.Errorf("told %d times", n)
	}
	if again, err := triage.Of(t.Context(), explaintest.DemoCluster(t), triage.Options{}); err != nil || !cmp.Equal(outline(again), outline(whole)) {
		t.Errorf("the answer is another when it is told so far (%v)", err)
	}
}
