package commit

import (
	"context"
	"errors"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestPartialViewAfterConflict: whatever read of a run is partial, nothing is written on it, and what the run
// had announced is undone.
func TestPartialViewAfterConflict(t *testing.T) {
	states := []inspect.HealthState{inspect.Broken, inspect.Forbidden, inspect.Narrowed, inspect.Syncing, inspect.NotRead}
	resources := append([]inspect.Resource{inspect.Pods}, decisive...)
	for _, resource := range resources {
		for i, state := range states {
			for first := 1; first <= 2; first++ {
				w := newWorld(2, "a")
				p := &process{w: w}
				reads, disturbed := 0, false
				p.before = func(request string) error {
					if request == "read" {
						if reads++; reads == first {
							w.health = map[inspect.Resource]inspect.Health{resource: {State: state, Message: map[bool]string{true: "the reason"}[i%2 == 0]}}
						}
					}
					if request == "updateStatus" && !disturbed { // somebody changes the claim: the run begins again
						disturbed = true
						w.version++
						w.claims[ref("a")].ResourceVersion = "touched"
					}
					return nil
				}
				c := p.committer("1")
				c.Needs = []inspect.Resource{inspect.Pods}
				_, claims, err := c.Allocate(t.Context(), wanting("a"))
				if partial := (*PartialError)(nil); !errors.As(err, &partial) || partial.Resource != resource || claims != nil {
					t.Fatalf("%s is %s from read %d on: %v", resource, state, first, err)
				}
				if !strings.Contains(err.Error(), "nothing is written, because without all "+string(resource)) || reads != first {
					t.Errorf("%d reads: %v", reads, err)
				}
				inOrder(t, w, "")
			}
		}
	}
}

// TestPartialViewAfterTheQuestion: the cluster is read again when the user has said yes.
func TestPartialViewAfterTheQuestion(t *testing.T) {
	w := newWorld(1, "a")
	c := (&process{w: w}).committer("1")
	c.Confirm = func(context.Context, *Decision) (bool, error) {
		w.health = map[inspect.Resource]inspect.Health{inspect.TaintRules: {State: inspect.Broken}}
		return true, nil
	}
	if _, _, err := c.Allocate(t.Context(), wanting("a")); !errors.As(err, new(*PartialError)) {
		t.Error(err)
	}
	inOrder(t, w, "")
}

// TestPartialViewOfOthers: an allocation of a killed run is not cleared because of devices that were not all
// read; one of which others of the same run were never written is, because that needs no devices.
func TestPartialViewOfOthers(t *testing.T) {
	for _, incomplete := range []bool{false, true} {
		w := newWorld(3, "a", "b", "z")
		names, last := []string{"a"}, "updateStatus"
		if incomplete {
			names = []string{"a", "b"}
		}
		killed := 0
		killAt(w, 0, func(ctx context.Context, p *process) error {
			kill := p.before
			p.before, p.after = nil, func(request string) error {
				if request == last {
					if killed++; killed == 1 {
						return kill(request)
					}
				}
				return nil
			}
			_, _, err := p.committer("5").Allocate(ctx, wanting(names...))
			return err
		})
		if w.allocated() != "a" {
			t.Fatalf("the killed run left %q", w.allocated())
		}
		other := w.claims[ref("z")] // holds the same device
		other.Status.Allocation = w.claims[ref("a")].Status.Allocation.DeepCopy()
		other.Finalizers = []string{resourcev1.Finalizer}
		w.health = map[inspect.Resource]inspect.Health{inspect.Slices: {State: inspect.Broken}}
		var told []string
		c := (&process{w: w}).committer("9")
		c.Observe = func(e Event) { told = append(told, e.String()) }
		w.add("y")
		if _, err := c.Deallocate(t.Context(), []inspect.ClaimRef{ref("y")}); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{false: "a z", true: "z"}[incomplete]
		if w.allocated() != want {
			t.Errorf("incomplete %v: allocated %q, want %q, after %q", incomplete, w.allocated(), want, told)
		}
		if !incomplete && !strings.Contains(strings.Join(told, "\n"), "without all resourceslices") {
			t.Errorf("told %q", told)
		}
	}
}
