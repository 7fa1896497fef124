package allocator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestPruningKeepsTheAnswer compares searches with pruning from the first step on, with and without the
// bounds, to plain ones. Pruning off is what TestDifferential compares with the scheduler.
func TestPruningKeepsTheAnswer(t *testing.T) {
	n := effort.Of(100_000, 700)
	var pruned, plain, fewer, decided atomic.Int64
	t.Run("problems", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					choices := seeded(uint64(1_000_000 + i))
					q := generate(choices)
					long, short, d := pruningDifference(q, i%2 == 0)
					if d != "" {
						t.Fatalf("problem %d: %s\n%s", i, d, minimalPruning(choices.log, i%2 == 0))
					}
					plain.Add(long)
					pruned.Add(short)
					if short < long {
						fewer.Add(1)
					}
					decided.Add(1)
				}
			})
		}
	})
	t.Logf("%d problems: %d steps plain, %d pruned; %d problems shorter", decided.Load(), plain.Load(), pruned.Load(), fewer.Load())
	if fewer.Load() < decided.Load()/20 {
		t.Errorf("pruning made only %d of %d problems shorter", fewer.Load(), decided.Load())
	}
}

// pruningDifference returns the steps without and with pruning, and how the answers differ.
func pruningDifference(q *question, bounds bool) (long, short int64, differs string) {
	ctx := context.Background()
	plain := newOurs(q, stepBudget)
	c := newOurs(q, 4*stepBudget)
	c.plain, c.plainSteps, c.noBounds = false, 0, !bounds
	for _, node := range q.objects.Nodes {
		want := answerOf(ctx, plain, q, node, nil)
		if want.outcome == gotUndecided {
			continue
		}
		got := answerOf(ctx, c, q, node, nil)
		long, short = long+want.steps, short+got.steps
		want.steps, got.steps = 0, 0
		if d := difference(got, want); d != "" {
			return long, short, fmt.Sprintf("node %s, bounds %t: %s", node.Name, bounds, d)
		}
	}
	return long, short, ""
}

// minimalPruning shrinks a problem on which pruning changes the answer.
func minimalPruning(choices []byte, bounds bool) *question {
	choices = shrink(choices, func(c []byte) bool {
		_, _, d := pruningDifference(generate(recorded(c)), bounds)
		return d != ""
	})
	return generate(recorded(choices))
}

// TestAllIsWalkedInOrder: two devices without the attribute of a constraint are alike, but a request
// for all of them is walked in order. If the first is taken by another request that is harmless; if the
// second is, the first makes the scheduler give up.
func TestAllIsWalkedInOrder(t *testing.T) {
	all := exactCount("r1", 0)
	all.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	claim := claimOf("c", exactCount("r0", 1), all)
	claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{
		Requests: []string{"r1"}, MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("example.com/rack"))}}
	f := family{devices: makeDevices(2, nil), claims: []*resourcev1.ResourceClaim{claim}}
	c, node := f.cluster(Options{})
	c.plainSteps = 0
	var abort *AbortError
	if r, err := c.Allocate(context.Background(), node, f.claims, nil); !errors.As(err, &abort) {
		t.Errorf("got %+v, %v; want an abort", r, err)
	}
}

// TestSharesOfOneDevice lets many claims share a device: what pruning remembers of the device is worked out
// once for a claim, not once for each share that is there already, which would allocate memory ten times as
// often. Memory is counted because it is the same on every machine.
func TestSharesOfOneDevice(t *testing.T) {
	const claims = 160
	q := plainQuestion(1, exactly("r", 1))
	shareable := true
	q.objects.Slices[0].Spec.Devices[0].AllowMultipleAllocations = &shareable
	for len(q.pending) < claims {
		q.pending = append(q.pending, q.pending[0])
	}
	c := NewCluster(snapshotOf(q), Options{})
	allocations := testing.AllocsPerRun(1, func() {
		if a := answerOf(t.Context(), c, q, q.objects.Nodes[0], nil); a.outcome != gotDevices {
			t.Fatalf("%s, want devices", a.outcome)
		}
	})
	if allocations > claims*claims {
		t.Errorf("%v allocations of memory for %d claims", allocations, claims)
	}
}
