package explain

import (
	"context"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var countersKind = kind{name: CountersRequired, importance: 6, list: listCounters}

const (
	// maxCounters is the number of counters up to which each is looked at.
	maxCounters = 16
	// maxWritten is the number of counters up to which they are written out.
	maxWritten = 2
)

// countersRequirement is that devices of a pool must not draw more than there is of the counters that they share. It is
// given up by making them plenty. Nobody can do that; it says why devices cannot be had together.
type countersRequirement struct {
	Requirement
	pool *inspect.NodePool
	edit countersEdit
}

func listCounters(_ context.Context, s *site) []requirement {
	if !s.snapshot.Features().Enabled(inspect.GatePartitionableDevices) {
		return nil
	}
	var out []requirement
	for _, p := range s.exam.Pools {
		sets := setsUsed(p)
		if !p.Usable() || len(sets) == 0 {
			continue
		}
		out = append(out, countersRequirement{Requirement{
			Kind: CountersRequired, Path: "resourceslices of pool " + p.ID.String(), Pool: p.ID,
			Message: "devices share " + counterWords(sets),
		}, p, countersEdit{pool: p.ID}})
	}
	return out
}

func (r countersRequirement) describe() *Requirement { return &r.Requirement }
func (r countersRequirement) relaxing() edit         { return r.edit }
func (r countersRequirement) effort(*question) int   { return outOfReach }
func (r countersRequirement) price(*question) int    { return costDrop }

func (r countersRequirement) propose(context.Context, *clusterSandbox, inspect.NodeName) ([]change, error) {
	return nil, nil
}

func (r countersRequirement) combine(context.Context, *combination, int) (part, error) {
	return part{}, nil
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
		for _, set := range sets {
			parts = append(parts, set.Name)
		}
		return "the counters of " + plural(len(parts), "set ", "sets ") + shorten(parts, maxValues)
	}
	for _, name := range slices.Sorted(maps.Keys(sets[0].Counters)) {
		value := sets[0].Counters[name].Value
		parts = append(parts, name+" "+value.String())
	}
	return strings.Join(parts, " and ") + " of counter set " + sets[0].Name
}

// clarify names the counter that is in the way: the only one that has to be plenty for the requirements of the conflict
// to hold together, or a few that have to be together. It is "" when it may be one or another.
func (r countersRequirement) clarify(ctx context.Context, b *sandbox, relaxed []edit) (string, error) {
	names := map[string]bool{}
	for _, set := range setsUsed(r.pool) {
		for name := range set.Counters {
			names[name] = true
		}
	}
	if len(names) > maxCounters {
		return "", nil
	}
	suffice := func(counters ...string) (bool, error) {
		all := slices.Clip(relaxed)
		for _, name := range counters {
			all = append(all, countersEdit{r.pool.ID, name})
		}
		o, err := b.try(ctx, all)
		return o == fits, err
	}
	needed := slices.Sorted(maps.Keys(names))
	if ok, err := suffice(needed...); err != nil || !ok {
		return "", err // not known: a search was given up
	}
	alone := 0
	for _, name := range slices.Clone(needed) {
		ok, err := suffice(name)
		if err != nil {
			return "", err
		}
		alone += btoi(ok)
		others := slices.DeleteFunc(slices.Clone(needed), func(n string) bool { return n == name })
		if ok, err = suffice(others...); err != nil {
			return "", err
		}
		if ok {
			needed = others
		}
	}
	if alone > 1 || len(needed) > maxWritten {
		return "", nil
	}
	return strings.Join(needed, " and ") + plural(len(needed), " runs out", " run out"), nil
}
