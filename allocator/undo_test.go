package allocator

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestUndoRestoresEverything: after a search that found nothing, all of its state is as it was before
// the first step. An undo that forgets something makes later branches of a search wrong.
func TestUndoRestoresEverything(t *testing.T) {
	ctx := context.Background()
	n, dead, deep := effort.Of(6_000, 900), 0, 0
	for seed := range uint64(n) {
		q := generate(seeded(4_000_000 + seed))
		cluster := newOurs(q, 2_000)
		for _, node := range q.objects.Nodes {
			v, err := cluster.viewOf(node, q.pending)
			if err != nil {
				continue
			}
			p, err := v.prepare(ctx, q.pending, nil)
			if err != nil {
				continue
			}
			w := newWalk(ctx, v, p, nil)
			result, err := w.run()
			if err != nil {
				continue
			}
			if result.Outcome == Allocated && len(result.Allocations) > 0 && len(result.Allocations[0].Devices.Results) > 0 && leftBehind(w) == "" {
				t.Fatalf("seed %d, node %s: devices are picked, but nothing seems taken", seed, node.Name)
			}
			if result.Outcome != Unsatisfiable {
				continue
			}
			dead++
			if result.Steps > 5 {
				deep++
			}
			if left := leftBehind(w); left != "" {
				t.Fatalf("seed %d, node %s: after %d steps %s\n%s", seed, node.Name, result.Steps, left, q)
			}
		}
	}
	t.Logf("%d searches ended dead, %d of them after more than five steps", dead, deep)
	if deep < n/12 {
		t.Errorf("only %d searches went deep", deep)
	}
}

// leftBehind says what a search has not given back, or "".
func leftBehind(w *walk) string {
	for i := range w.state {
		s := &w.state[i]
		if len(s.claims) > 0 || s.shares != 0 || len(s.consumed) > 0 {
			return "candidate " + w.view.candidates[i].id.String() + " is still taken"
		}
	}
	for i := range w.picks {
		if len(w.picks[i]) > 0 {
			return "picks are left"
		}
		for j, fresh := range newConstraints(w.problem.claims[i].claim, w.view.cluster) {
			used := *w.constraints[i][j]
			if len(used.picked) > 0 || len(used.shared) > 0 {
				return "a constraint remembers devices"
			}
			used.picked, used.shared = fresh.picked, fresh.shared // empty slices count as nil
			if !reflect.DeepEqual(&used, fresh) {
				return "a constraint has changed"
			}
		}
	}
	for _, pool := range w.view.pools {
		if left := leftInPool(w.view, pool); left != "" {
			return "pool " + pool.ID.String() + ": " + left
		}
	}
	return ""
}

func leftInPool(v *view, pool *poolView) string {
	fresh := &poolView{NodePool: pool.NodePool}
	if pool.counters != nil {
		want := v.countersOf(fresh)
		for i := range pool.counters.counters {
			have := &pool.counters.counters[i]
			if !have.consumed.IsZero() {
				return "counter " + have.Counter + " of " + have.Set + " is still drawn on"
			}
			if have.available.Cmp(want.counters[i].available) != 0 {
				return "counter " + have.Counter + " of " + have.Set + " has another value"
			}
		}
	}
	if pool.groups != nil {
		want := v.groupsOf(fresh)
		for set, have := range pool.groups {
			if before := want[set]; have.occupied != before.occupied || have.ungrouped != before.ungrouped || !slices.Equal(have.groups, before.groups) {
				return "counter set " + set + " has other groups"
			}
		}
		for set := range maps.Keys(want) {
			if _, ok := pool.groups[set]; !ok {
				return "counter set " + set + " has lost its groups"
			}
		}
	}
	return ""
}
