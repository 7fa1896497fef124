package allocator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// The table is what pruning stands on: for every alternative and candidate, what the search would find
// out if it looked at the pair with nothing picked. Errors are not raised but noted as mayAbort, because
// the search may never reach them.
//
// Candidates that are alike in everything that can matter to any alternative form an equivalence class: they
// are interchangeable. Example: eight identical GPUs are one such class; with a constraint on numa, two.

// fitness is what is known of an alternative and a candidate by themselves.
type fitness byte

const (
	never    fitness = iota // the search never gets to look at it: a claim holds the device
	unfit                   // refused whatever else is picked
	mayAbort                // looking at it may abort the pod
	fit                     // not refused by itself
)

// table holds the fitness of all pairs and the equivalence classes of the candidates.
type table struct {
	alternatives []*alternative
	fitness      [][]fitness // by alternative and candidate; like alternatives have the same row
	equivalence  []int       // by candidate
	equivalences int
	// someMayAbort says that at least one pair is mayAbort.
	someMayAbort bool
	// orderly says that which devices are refused does not depend on the order in which they are picked, so
	// that equivalence classes and counts describe a state. See walk.pruner.
	orderly bool
}

// newTable evaluates all pairs. The error is that of the context.
func newTable(w *walk) (*table, error) {
	t := &table{orderly: true}
	for _, claim := range w.problem.claims {
		for _, request := range claim.requests {
			for _, a := range request.alternatives {
				a.id = len(t.alternatives)
				t.alternatives = append(t.alternatives, a)
			}
		}
	}
	quiet := *w // evaluating pairs is not searching: nobody is told
	quiet.observer = nil
	for _, a := range t.alternatives {
		if a.like != nil {
			t.fitness = append(t.fitness, t.fitness[a.like.id])
			continue
		}
		row := make([]fitness, len(w.view.candidates))
		for i := range row {
			f, err := quiet.fitnessOf(a, i)
			if err != nil {
				return nil, err
			}
			row[i] = f
			t.someMayAbort = t.someMayAbort || f == mayAbort
			// "All" is walked in order: whether a picked device or an error comes first decides.
			t.orderly = t.orderly && (!a.all || f != mayAbort)
		}
		t.fitness = append(t.fitness, row)
	}
	t.classify(&quiet)
	return t, nil
}

// fitnessOf looks at one pair with nothing picked.
func (w *walk) fitnessOf(a *alternative, candidate int) (fitness, error) {
	c := &w.view.candidates[candidate]
	if !a.admin && c.inUse() {
		return never, nil
	}
	capacity := func() (bool, error) {
		return w.fitsLeft(a, candidate)
	}
	if !w.view.cluster.features.ConsumableCapacity {
		capacity = func() (bool, error) { return true, nil }
	}
	ok, err := w.selectable(a, candidate)
	if err == nil && ok && !a.all { // for "all", capacity comes after the constraints
		ok, err = capacity()
	}
	if err == nil && ok {
		for _, check := range []check{(*walk).checkShares, (*walk).checkNodeOperations, (*walk).checkPartitionable, (*walk).checkTaints} {
			passes, _ := check(w, a, candidate, nil) // these checks neither fail nor change anything
			ok = ok && passes
		}
	}
	if err == nil && ok {
		ok, err = w.constraintsBearable(a, candidate)
	}
	if err == nil && ok && a.all {
		ok, err = capacity()
	}
	var abort *AbortError
	switch {
	case errors.As(err, &abort):
		return mayAbort, nil
	case err != nil:
		return never, err
	case !ok:
		return unfit, nil
	}
	return fit, nil
}

// constraintsBearable reports whether the device has the attributes of all constraints. For "all" a
// constraint that refuses a device aborts the pod, so with any constraint it may abort there.
func (w *walk) constraintsBearable(a *alternative, candidate int) (bool, error) {
	for _, c := range w.constraints[a.claim.index] {
		if !c.applies(a) {
			continue
		}
		if a.all {
			return false, a.abort(c.code(), "a constraint applies to all devices")
		}
		attribute, err := w.attributeOf(a, candidate, c.name)
		if err != nil || attribute == nil {
			return false, err
		}
	}
	return true, nil
}

// code is the refusal that the constraint gives.
func (c *constraintState) code() Code {
	if c.distinct {
		return DistinctAttributeConflict
	}
	return MatchAttributeConflict
}

// classify finds the equivalence classes of interchangeable candidates.
func (t *table) classify(w *walk) {
	t.equivalence = make([]int, len(w.view.candidates))
	index := map[string]int{}
	var b strings.Builder
	for i := range w.view.candidates {
		b.Reset()
		t.signature(&b, w, i)
		class, ok := index[b.String()]
		if !ok {
			class = len(index)
			index[b.String()] = class
		}
		t.equivalence[i] = class
	}
	t.equivalences = len(index)
}

// signature writes everything about a candidate that a check of the search can depend on.
func (t *table) signature(b *strings.Builder, w *walk, candidate int) {
	c := &w.view.candidates[candidate]
	fmt.Fprintf(b, "%t %t %t|", c.shareable, c.inUse(), c.usage != nil && c.usage.shared)
	for i, a := range t.alternatives {
		if a.like != nil {
			continue // it would write the same once more
		}
		f := t.fitness[i][candidate]
		b.WriteByte('0' + byte(f))
		if a.all && slices.Contains(a.allSet, candidate) {
			b.WriteByte('a')
		}
		if f != fit {
			continue
		}
		if c.shareable {
			t.writeAmounts(b, w, a, candidate)
		}
		t.writeAttributes(b, w, a, candidate)
	}
	if len(c.device.ConsumesCounters) > 0 && w.view.cluster.features.PartitionableDevices {
		t.writeCounters(b, w, c)
	}
}

// writeAmounts writes what the alternative takes of each capacity, and what is left of it.
func (t *table) writeAmounts(b *strings.Builder, w *walk, a *alternative, candidate int) {
	c := &w.view.candidates[candidate]
	amounts := w.consumptionOf(a, candidate).amounts
	names := make([]string, 0, len(amounts))
	for name := range amounts {
		names = append(names, string(name))
	}
	slices.Sort(names)
	for _, name := range names {
		taken := amounts[resourcev1.QualifiedName(name)]
		left := c.capacity[resourcev1.QualifiedName(name)].Value.DeepCopy()
		if c.usage != nil {
			left.Sub(c.usage.consumed[resourcev1.QualifiedName(name)])
		}
		fmt.Fprintf(b, "%q %s %s,", name, taken.AsDec().String(), left.AsDec().String())
	}
}

// writeAttributes writes the values that constraints look at.
func (t *table) writeAttributes(b *strings.Builder, w *walk, a *alternative, candidate int) {
	for _, c := range w.constraints[a.claim.index] {
		if !c.applies(a) {
			continue
		}
		attribute, _ := w.attributeOf(a, candidate, c.name) // the pair is fit, so this succeeds
		if attribute == nil {
			continue
		}
		values := c.values(attribute)
		// Without list support a list is accepted as the first device only: order matters. It also
		// matters for an attribute with several values, which the API server refuses: a string that
		// the first device has beside an integer is not looked at when the second has an integer only.
		t.orderly = t.orderly && len(values) > 0 && (c.lists || scalarKinds(attribute) == 1)
		fmt.Fprintf(b, "%d%q", c.index, values)
	}
}

func (t *table) writeCounters(b *strings.Builder, w *walk, c *candidate) {
	fmt.Fprintf(b, "%q", c.id.PoolID())
	pc := w.view.countersOf(c.pool)
	needs := slices.Clone(pc.needsOf(c.device))
	slices.SortFunc(needs, func(x, y counterNeed) int { return cmp.Compare(x.position, y.position) })
	for _, need := range needs {
		amount := need.amount.DeepCopy()
		// Giving something back would make room for others later.
		t.orderly = t.orderly && amount.Sign() >= 0
		fmt.Fprintf(b, " %d:%s", need.position, amount.AsDec().String())
	}
	if w.view.cluster.features.CompatibilityGroups {
		for i := range c.device.ConsumesCounters {
			use := &c.device.ConsumesCounters[i]
			fmt.Fprintf(b, "%q%q", use.CounterSet, use.CompatibilityGroups)
		}
	}
}
