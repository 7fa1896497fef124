package allocator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// stepBudget bounds the searches, in steps; problems for which the scheduler needs more are left out
// and counted.
const stepBudget = 20_000

// comparison is what came of one problem.
type comparison struct {
	ours    []answer // per node
	left    int      // nodes that were left out because the search is too long
	panics  int      // nodes on which the scheduler's allocator panics
	pruned  int      // nodes on which pruning was compared as well
	differs string   // the first difference, or ""
}

// compare asks both allocators about every node of a problem, each node with a new instance of the
// scheduler's: its counters are cached per instance, as they look from the first node that asks.
func compare(q *question, observer Observer) comparison {
	ctx := context.Background()
	out := comparison{}
	cluster := newOurs(q, stepBudget)
	pruning := NewCluster(cluster.Snapshot(), Options{StepLimit: 2 * stepBudget})
	for _, node := range q.objects.Nodes {
		scheduler, err := newScheduler(ctx, q)
		if err != nil {
			out.differs = err.Error()
			return out
		}
		theirs := ask(ctx, scheduler, q, node, stepBudget)
		switch theirs.outcome {
		case gotUndecided:
			out.left++
			continue
		case gotPanic:
			out.panics++
			continue
		}
		ours := answerOf(ctx, cluster, q, node, observer)
		out.ours = append(out.ours, ours)
		if d := difference(ours, theirs); d != "" {
			out.differs = fmt.Sprintf("node %s: %s", node.Name, d)
			return out
		}
		if theirs.steps <= plainSteps {
			continue // pruning begins later
		}
		out.pruned++
		if d := otherAnswer(answerOf(ctx, pruning, q, node, observer), theirs); d != "" {
			out.differs = fmt.Sprintf("node %s, with pruning: %s", node.Name, d)
			return out
		}
	}
	return out
}

// shrink makes the choices of a disagreeing problem simpler as long as it still disagrees.
func shrink(choices []byte, disagrees func([]byte) bool) []byte {
	for improved := true; improved; {
		improved = false
		for size := len(choices) / 2; size > 0; size /= 2 {
			for at := 0; at+size <= len(choices); {
				without := append(append([]byte{}, choices[:at]...), choices[at+size:]...)
				if disagrees(without) {
					choices, improved = without, true
				} else {
					at += size
				}
			}
		}
		for i := range choices {
			for _, value := range []byte{0, choices[i] / 2, choices[i] - 1} {
				if choices[i] == 0 || value >= choices[i] {
					continue
				}
				simpler := append([]byte{}, choices...)
				simpler[i] = value
				if disagrees(simpler) {
					choices, improved = simpler, true
				}
			}
		}
	}
	return choices
}

// report fails the test with the smallest problem that shows the disagreement.
func report(t *testing.T, name string, choices []byte) {
	t.Helper()
	choices = shrink(choices, func(c []byte) bool { return compare(generate(recorded(c)), nil).differs != "" })
	q := generate(recorded(choices))
	t.Errorf("%s: %s\nreplay: recorded([]byte(%q))\n%s", name, compare(q, nil).differs, choices, q)
}

// String shows the problem as YAML.
func (q *question) String() string {
	text, err := yaml.Marshal(struct {
		Gates map[inspect.Gate]bool
		inspect.Objects
		Pending any
	}{q.gates, q.objects, q.pending})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// The seeds are fixed, so a run always asks the same questions.
const shards = 8

// TestDifferential compares with both variants of the scheduler's allocator; the features of a problem
// choose the variant. Not one answer may differ.
func TestDifferential(t *testing.T) {
	structured.EnableAllocators("incubating", "experimental")
	t.Cleanup(func() { structured.EnableAllocators() })
	n := effort.Of(40_000, 1_000)
	seen := newCoverage()
	t.Run("problems", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
				t.Parallel()
				differentialShard(t, shard, n, seen)
			})
		}
	})
	seen.check(t, n)
}

func differentialShard(t *testing.T, shard, n int, seen *coverage) {
	mine := newCoverage()
	for seed := shard; seed < n && !t.Failed(); seed += shards {
		d := seeded(uint64(seed))
		q := generate(d)
		var observer Observer
		codes := codesSeen{}
		if seed/shards%2 == 0 { // an observer must not change the answer, so half go without
			observer = codes
		}
		got := compare(q, observer)
		if got.differs != "" {
			report(t, fmt.Sprintf("seed %d", seed), d.log)
		}
		mine.problem(q, got, codes)
	}
	seen.merge(mine)
}

// TestDifferentialOfLongSearches compares where the scheduler needs so many steps that a search without
// pruning is too slow to be compared often.
func TestDifferentialOfLongSearches(t *testing.T) {
	ctx := context.Background()
	compared, want := 0, effort.Of(10, 1)
	for seed := uint64(8_000_000); compared < want; seed++ {
		q := generate(seeded(seed))
		plain := newOurs(q, stepBudget)
		for _, node := range q.objects.Nodes {
			if answerOf(ctx, plain, q, node, nil).outcome != gotUndecided {
				continue
			}
			scheduler, err := newScheduler(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			theirs := ask(ctx, scheduler, q, node, 20*stepBudget)
			if theirs.outcome == gotUndecided || theirs.outcome == gotPanic {
				continue
			}
			compared++
			ours := answerOf(ctx, NewCluster(plain.Snapshot(), Options{}), q, node, nil)
			if d := otherAnswer(ours, theirs); d != "" {
				t.Fatalf("seed %d, node %s: %s\n%s", seed, node.Name, d, q)
			}
		}
	}
}

// TestOneSchedulerInstanceForAllNodes compares with an instance that decides about all nodes, as the
// scheduler uses it. Problems with counters are left out: an instance remembers the counters of a pool
// as they look from the first node that asks, so there the answer depends on the order of the nodes.
func TestOneSchedulerInstanceForAllNodes(t *testing.T) {
	ctx := context.Background()
	n, compared := effort.Of(1_500, 250), 0
	for seed := range uint64(n) {
		q := generate(seeded(1_000_000 + seed))
		if slices.ContainsFunc(q.objects.Slices, func(s *resourcev1.ResourceSlice) bool { return len(s.Spec.SharedCounters) > 0 }) {
			continue
		}
		cluster := newOurs(q, stepBudget)
		scheduler, err := newScheduler(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		steps := int64(0)
		for _, node := range q.objects.Nodes {
			theirs := ask(ctx, scheduler, q, node, stepBudget)
			theirs.steps, steps = theirs.steps-steps, theirs.steps
			if theirs.outcome == gotUndecided || theirs.outcome == gotPanic {
				continue
			}
			if d := difference(answerOf(ctx, cluster, q, node, nil), theirs); d != "" {
				t.Fatalf("seed %d, node %s: %s\n%s", seed, node.Name, d, q)
			}
			compared++
		}
	}
	if compared < n {
		t.Errorf("only %d nodes were compared", compared)
	}
}

// TestAllocateConcurrently asks about all nodes at once, several times, and wants the answers that
// come one at a time.
func TestAllocateConcurrently(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(effort.Of(300, 60)) {
		q := generate(seeded(2_000_000 + seed))
		shared := newOurs(q, 2_000)
		var group sync.WaitGroup
		for _, node := range q.objects.Nodes {
			want := answerOf(ctx, newOurs(q, 2_000), q, node, nil)
			for range 3 {
				group.Go(func() {
					if d := difference(answerOf(ctx, shared, q, node, nil), want); d != "" {
						t.Errorf("seed %d, node %s: %s", seed, node.Name, d)
					}
				})
			}
		}
		group.Wait()
	}
}
