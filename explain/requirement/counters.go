package requirement

import (
	"context"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var countersKind = Kind{name: explain.CountersRequired, Importance: 6, list: listCounters}

const (
	// maxWritten is the number of counters up to which they are written out.
	maxWritten = 2
)

// countersRequirement is that devices of a pool must not draw more than there is of the counters that they
// share. It is given up by making them plenty. Nobody can do that; it says why devices cannot be had
// together.
type countersRequirement struct {
	relaxable[whatif.CountersEdit]
	pool *inspect.NodePool
}

func listCounters(_ context.Context, s *site) []Relaxable {
	if !s.Snapshot.Features().Enabled(inspect.GatePartitionableDevices) {
		return nil
	}
	var out []Relaxable
	for _, p := range s.exam.Pools {
		sets := setsUsed(p)
		if !p.Usable() || len(sets) == 0 {
			continue
		}
		out = append(out, countersRequirement{relaxable[whatif.CountersEdit]{explain.Requirement{
			Kind: explain.CountersRequired, Path: "resourceslices of pool " + p.ID.String(), Pool: p.ID,
			Message: "devices share " + counterWords(sets),
		}, whatif.CountersEdit{Pool: p.ID}, OutOfReach, CostDrop}, p})
	}
	return out
}

// setsUsed are the counter sets of a pool on which devices draw that reach the node.
func setsUsed(p *inspect.NodePool) []*resourcev1.CounterSet {
	used := map[string]bool{}
	for _, slice := range p.Slices {
		for i := range slice.Spec.Devices {
			for _, use := range slice.Spec.Devices[i].ConsumesCounters {
				used[use.CounterSet] = true
			}
		}
	}
	var out []*resourcev1.CounterSet
	for _, set := range p.CounterSets {
		if used[set.Name] {
			out = append(out, set)
		}
	}
	return out
}

// counterWords names the sets, or where there are few counters, says how much there is of each.
func counterWords(sets []*resourcev1.CounterSet) string {
	var parts []string
	if len(sets) > 1 || len(sets[0].Counters) > maxWritten {
		parts = words.Each(sets, func(s *resourcev1.CounterSet) string { return s.Name })
		return "the counters of " + words.Plural(len(parts), "set ", "sets ") + words.Shorten(parts, maxValues)
	}
	for _, name := range slices.Sorted(maps.Keys(sets[0].Counters)) {
		value := sets[0].Counters[name].Value
		parts = append(parts, name+" "+value.String())
	}
	return strings.Join(parts, " and ") + " of counter set " + sets[0].Name
}

// Clarify names the counter that is in the way: the only one that has to be plenty for the requirements of
// the conflict to hold together, or a few that have to be together. It is "" when it may be one or another.
func (r countersRequirement) Clarify(ctx context.Context, b *whatif.Sandbox, relaxed []whatif.Edit) string {
	names := map[string]bool{}
	for _, set := range setsUsed(r.pool) {
		for name := range set.Counters {
			names[name] = true
		}
	}
	if len(names) > suppose.MaxCounters {
		return ""
	}
	suffice := func(counters ...string) bool {
		all := slices.Clip(relaxed)
		for _, name := range counters {
			all = append(all, whatif.CountersEdit{Pool: r.pool.ID, Counter: name})
		}
		return b.Try(ctx, all) == whatif.Fits
	}
	needed := slices.Sorted(maps.Keys(names))
	if !suffice(needed...) {
		return "" // not known: a search was given up
	}
	alone := 0
	for _, name := range slices.Clone(needed) {
		alone += words.Btoi(suffice(name))
		others := slices.DeleteFunc(slices.Clone(needed), func(n string) bool { return n == name })
		if suffice(others...) {
			needed = others
		}
	}
	if alone > 1 || len(needed) > maxWritten {
		return ""
	}
	return strings.Join(needed, " and ") + words.Plural(len(needed), " runs out", " run out")
}
