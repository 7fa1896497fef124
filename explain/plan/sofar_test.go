package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestInterrupted: what is known of a plan when the context ends is the beginning of the run, of which
// nothing is said for certain, and no pod is missing.
func TestInterrupted(t *testing.T) {
	c := explaintest.DemoCluster(t)
	pods, _ := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	whole, err := Place(t.Context(), c, pods, Options{})
	if err != nil {
		t.Fatal(err)
	}
	partial := 0
	for _, at := range []string{
		"placing pods 1", "placing pods 14", "placing pods 15", "explaining why pods are left waiting 0", "looking at other choices of kube-scheduler 0",
		"looking for a way to place all 0",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		got, err := Place(progress.With(ctx, func(doing string, done, _ int) {
			if fmt.Sprint(doing, " ", done) == at {
				cancel()
			}
		}), c, pods, Options{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", at, err)
		}
		if got == nil {
			continue
		}
		partial++
		r := &got.Replay
		if len(r.Placed) == 0 || len(r.Placed)+len(r.Pending) != len(whole.Replay.Placed)+len(whole.Replay.Pending) || !explainedBy(r.Placed, whole.Replay.Placed) {
			t.Errorf("%s: %d are placed and %d left waiting", at, len(r.Placed), len(r.Pending))
		}
		if last := got.Partial[len(got.Partial)-1]; !strings.HasPrefix(last, "interrupted: ") || got.Joint != nil {
			t.Errorf("%s: it says %q", at, last)
		}
		if strings.HasPrefix(at, "looking for a way") {
			continue
		}
		if r.Certain || len(r.Ties) > 0 || slices.ContainsFunc(r.Pending, func(p explain.PendingPod) bool { return p.Verdict != explain.Unknown }) {
			t.Errorf("%s: more is said than is known: %+v", at, r)
		}
	}
	if partial < 4 {
		t.Errorf("only %d answers were partial", partial)
	}
}

// explainedBy reports whether pods are placed as they are in the beginning of a run.
func explainedBy(some, all []explain.PlacedPod) bool {
	return len(some) <= len(all) && slices.EqualFunc(some, all[:len(some)], func(a, b explain.PlacedPod) bool { return a.Subject == b.Subject && a.Node == b.Node })
}

// TestInterruptedGroup: of a pod group whose turn is interrupted, no pod is said to be placed.
func TestInterruptedGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := explaintest.SmallFarm(4)
	pods := group(o, "g", 3, 3, "one")
	s := inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})})
	c, pods := Admitted(scheduler.NewCluster(s, scheduler.Options{}), pods)
	r := replay.New(c, nil)
	turns := 0
	r.Choose = func(*corev1.Pod, []*corev1.Node) int {
		if turns++; turns == 2 {
			cancel()
		}
		return 0
	}
	if err := r.Run(ctx, pods); !errors.Is(err, context.Canceled) || len(r.Placed) > 0 || turns != 2 {
		t.Errorf("%v; %d turns, placed: %v", err, turns, r.Placed)
	}
}
