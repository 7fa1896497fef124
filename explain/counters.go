package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Counters that devices of a pool share.

// plenty stands for an amount that never runs out.
const plenty = int64(1) << 50

// maxCounters is the number of counters up to which each is looked at.
const maxCounters = 16

// maxWritten is the number of counters up to which they are written out.
const maxWritten = 2

// counterAtoms lists the pools whose devices share counters.
func (l *local) counterAtoms(exam *allocator.Examination) []atom {
	if !l.snapshot.Features().Enabled(inspect.GatePartitionableDevices) {
		return nil
	}
	var out []atom
	for _, p := range exam.Pools {
		sets := setsUsed(p)
		if !p.Usable() || len(sets) == 0 {
			continue
		}
		out = append(out, atom{
			Requirement{
				Kind: CountersRequired, Path: "resourceslices of pool " + p.ID.String(),
				Message: "devices share " + counterWords(sets),
			},
			edit{kind: editCounters, pool: p.ID},
		})
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

// runsOut names the counter of a pool that is in the way: the only one that has to be plenty for the requirements of
// the conflict to hold together, or a few that have to be together. "" when it may be one or another.
func (m *minimizer) runsOut(ctx context.Context, d *division, counters int) (string, error) {
	pool := m.atoms[counters].edit.pool
	names := map[string]bool{}
	for _, p := range m.exam.Pools {
		if p.ID == pool {
			for _, set := range setsUsed(p) {
				for name := range set.Counters {
					names[name] = true
				}
			}
		}
	}
	if len(names) > maxCounters {
		return "", nil
	}
	var edits []edit
	for i, relaxed := range d.relaxed {
		if relaxed {
			edits = append(edits, m.atoms[i].edit)
		}
	}
	suffice := func(counters ...string) (bool, error) {
		all := slices.Clip(edits)
		for _, name := range counters {
			all = append(all, edit{kind: editCounters, pool: pool, counter: name})
		}
		o, err := m.local.try(ctx, all)
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

// countersOf collects the names of the counters of a set.
func countersOf(s *resourcev1.ResourceSlice, set string, into map[string]bool) {
	for i := range s.Spec.SharedCounters {
		if s.Spec.SharedCounters[i].Name == set {
			for name := range s.Spec.SharedCounters[i].Counters {
				into[name] = true
			}
		}
	}
}

// raiseCounters makes some counters of a slice plenty.
func raiseCounters(s *resourcev1.ResourceSlice, wanted func(set, counter string) bool) {
	for i := range s.Spec.SharedCounters {
		set := &s.Spec.SharedCounters[i]
		for name, counter := range set.Counters {
			if wanted(set.Name, name) {
				counter.Value = *resource.NewQuantity(plenty, counter.Value.Format)
				set.Counters[name] = counter
			}
		}
	}
}

// raisePools makes counters of pools plenty: those named, or with "" all.
func raisePools(o *inspect.Objects, counters map[inspect.PoolID]map[string]bool) {
	for i, slice := range o.Slices {
		names := counters[inspect.PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}]
		if len(names) == 0 || len(slice.Spec.SharedCounters) == 0 {
			continue
		}
		o.Slices[i] = slice.DeepCopy()
		raiseCounters(o.Slices[i], func(_, counter string) bool { return names[""] || names[counter] })
	}
}

// countersKey lists what raisePools is asked for.
func countersKey(counters map[inspect.PoolID]map[string]bool) []string {
	var out []string
	for pool, names := range counters {
		for name := range names {
			out = append(out, fmt.Sprintf("counters %s %s", pool, name))
		}
	}
	slices.Sort(out)
	return out
}
