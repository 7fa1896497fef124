package allocator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestTwinsAreAnsweredLikeOthers asks with the same claim several times, and with copies of it that the
// allocator does not know to be the same. What one looked at stands for all, which may not change an answer.
func TestTwinsAreAnsweredLikeOthers(t *testing.T) {
	n := effort.Of(10_000, 300)
	var decided, allocated atomic.Int64
	t.Run("problems", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					twins := generate(seeded(uint64(7_000_000 + i)))
					if len(twins.pending) == 0 {
						continue
					}
					for range 1 + i%4 {
						twins.pending = slices.Insert(twins.pending, i%len(twins.pending), twins.pending[0])
					}
					if d := twinDifference(twins, &decided, &allocated); d != "" {
						t.Fatalf("problem %d: %s\n%s", i, d, twins)
					}
				}
			})
		}
	})
	t.Logf("%d answers, %d of them allocations", decided.Load(), allocated.Load())
	if decided.Load() < int64(n/2) || allocated.Load() < int64(n/20) {
		t.Errorf("only %d answers, %d of them allocations", decided.Load(), allocated.Load())
	}
}

func twinDifference(twins *question, decided, allocated *atomic.Int64) string {
	ctx := context.Background()
	others := *twins
	others.pending = nil
	for _, claim := range twins.pending {
		others.pending = append(others.pending, claim.DeepCopy())
	}
	reference := newOurs(&others, stepBudget)
	for _, node := range twins.objects.Nodes {
		want := answerOf(ctx, reference, &others, node, nil)
		if want.outcome == gotUndecided {
			continue
		}
		decided.Add(1)
		if want.outcome == gotDevices {
			allocated.Add(1)
		}
		for _, how := range []struct{ plain, bounds bool }{{true, true}, {false, true}, {false, false}} {
			c := newOurs(twins, 4*stepBudget)
			c.plain, c.plainSteps, c.noBounds = how.plain, 0, !how.bounds
			got := answerOf(ctx, c, twins, node, nil)
			if how.plain && got.steps != want.steps {
				return fmt.Sprintf("node %s: %d steps, for copies %d", node.Name, got.steps, want.steps)
			}
			got.steps = want.steps
			if d := difference(got, want); d != "" {
				return fmt.Sprintf("node %s, %+v: %s", node.Name, how, d)
			}
			if !reflect.DeepEqual(whereOf(got.err), whereOf(want.err)) {
				return fmt.Sprintf("node %s, %+v: error %v, for copies %v", node.Name, how, got.err, want.err)
			}
		}
	}
	return ""
}

// whereOf is an error without its cause: of a device with several bad attributes any may be named.
func whereOf(err error) AbortError {
	var abort *AbortError
	if !errors.As(err, &abort) {
		return AbortError{}
	}
	where := *abort
	where.Err = nil
	return where
}

// TestTwinsOfOneValueAreBounded: 8 values that 5 devices each have are enough for 16 pairs of one value,
// asked for by one request or by two. That a 17th does not fit is not left to the search, which would go
// through the ways to place 16.
func TestTwinsOfOneValueAreBounded(t *testing.T) {
	const values = 8
	f := familyD(values, 5)
	c, node := f.cluster(Options{})
	for _, pair := range []*resourcev1.ResourceClaim{claimOf("pair", exactCount("r", 2)), claimOf("pair", exactCount("r", 1), exactCount("s", 1))} {
		pair.Spec.Devices.Constraints = f.claims[0].Spec.Devices.Constraints
		for copies, want := range map[int]Outcome{2 * values: Allocated, 2*values + 1: Unsatisfiable} {
			result, err := c.Allocate(t.Context(), node, slices.Repeat([]*resourcev1.ResourceClaim{pair}, copies), nil)
			if err != nil {
				t.Fatal(err)
			}
			if result.Outcome != want || result.Steps > 2*plainSteps {
				t.Errorf("%d copies with %d requests: %s after %d steps, want %s", copies, len(pair.Spec.Devices.Requests), result.Outcome, result.Steps, want)
			}
		}
	}
}

// BenchmarkTwins asks for 512 copies on a node with as many devices, by turns as the same claim and as claims
// that are not known to be the same.
func BenchmarkTwins(b *testing.B) {
	const copies = 512
	f := familyA(copies)
	c, node := f.cluster(Options{})
	same := slices.Repeat([]*resourcev1.ResourceClaim{claimOf("c", exactCount("r", 1))}, copies)
	var others []*resourcev1.ResourceClaim
	for range copies {
		others = append(others, same[0].DeepCopy())
	}
	var took [2]time.Duration
	for b.Loop() {
		for i, claims := range [][]*resourcev1.ResourceClaim{same, others} {
			start := time.Now()
			if result, err := c.Allocate(b.Context(), node, claims, nil); err != nil || result.Outcome != Allocated {
				b.Fatal(result, err)
			}
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took[0].Seconds()*1000/float64(b.N), "same-ms")
	b.ReportMetric(took[1].Seconds()*1000/float64(b.N), "others-ms")
	b.ReportMetric(float64(took[1])/float64(took[0]), "times-faster")
}
