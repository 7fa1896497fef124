package allocator

import (
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Partitionable devices: the devices of a pool draw on shared counters.
//
// Available is the value of a counter less what every allocated device of the pool consumes, on
// whatever node it is; it can be negative. A candidate fits if, with it, no counter of any set of the
// pool is overdrawn, whether the candidate consumes from it or not. Example: memory 4; one device
// that is allocated consumes 3, so a candidate that consumes 2 does not fit.

// poolCounters are the counters of a pool, flattened; devices refer to them by position.
type poolCounters struct {
	counters []counter
	position map[inspect.CounterID]int
	needs    map[*resourcev1.Device][]counterNeed
}

type counter struct {
	inspect.CounterID
	available resource.Quantity // before this search
	consumed  resource.Quantity // by devices picked in this search
}

type counterNeed struct {
	position int
	amount   resource.Quantity
}

// countersOf returns the pool's counters, computing them when they are first needed.
func (v *view) countersOf(pool *poolView) *poolCounters {
	if pool.counters != nil {
		return pool.counters
	}
	if known := v.countersByName[pool.ID.Pool]; known != nil {
		pool.counters = known
		return known
	}
	pc := &poolCounters{position: map[inspect.CounterID]int{}, needs: map[*resourcev1.Device][]counterNeed{}}
	for _, set := range pool.CounterSets {
		for _, name := range slices.Sorted(maps.Keys(set.Counters)) {
			n := inspect.CounterID{Set: set.Name, Counter: name}
			pc.position[n] = len(pc.counters)
			pc.counters = append(pc.counters, counter{CounterID: n, available: set.Counters[name].Value.DeepCopy()})
		}
	}
	holders := v.cluster.snapshot.HoldersIn(pool.ID)
	for _, slice := range pool.Slices {
		v.charge(pc, holders, slice.ResourceSlice)
	}
	for _, slice := range pool.Elsewhere {
		v.charge(pc, holders, slice)
	}
	pool.counters = pc
	if v.cluster.rules.countersByPoolName {
		if v.countersByName == nil {
			v.countersByName = map[string]*poolCounters{}
		}
		v.countersByName[pool.ID.Pool] = pc
	}
	return pc
}

// charge takes what the allocated devices of a slice consume.
func (v *view) charge(pc *poolCounters, holders *inspect.PoolHolders, slice *resourcev1.ResourceSlice) {
	for i := range slice.Spec.Devices {
		name := slice.Spec.Devices[i].Name
		if !v.cluster.held(holders, name) || v.cluster.rules.sharesDrawNothing && !v.cluster.usageOf(holders, name).exclusive {
			continue
		}
		for _, need := range pc.needsOf(&slice.Spec.Devices[i]) {
			pc.counters[need.position].available.Sub(need.amount)
		}
	}
}

// needsOf lists what a device consumes.
func (pc *poolCounters) needsOf(device *resourcev1.Device) []counterNeed {
	if needs, ok := pc.needs[device]; ok {
		return needs
	}
	var needs []counterNeed
	for id, amount := range inspect.Consumption(device) {
		if position, ok := pc.position[id]; ok {
			needs = append(needs, counterNeed{position, amount})
		}
	}
	pc.needs[device] = needs
	return needs
}

func (pc *poolCounters) add(device *resourcev1.Device) {
	for _, need := range pc.needsOf(device) {
		pc.counters[need.position].consumed.Add(need.amount)
	}
}

func (pc *poolCounters) remove(device *resourcev1.Device) {
	for _, need := range pc.needsOf(device) {
		pc.counters[need.position].consumed.Sub(need.amount)
	}
}

// overdrawn returns the first counter that is overdrawn, or nil.
func (pc *poolCounters) overdrawn() *counter {
	for i := range pc.counters {
		if c := &pc.counters[i]; c.available.Cmp(c.consumed) < 0 {
			return c
		}
	}
	return nil
}

// reserveCounters takes the counters that the candidate needs; it takes nothing when they do not suffice.
func (w *walk) reserveCounters(a *alternative, candidate int) bool {
	c := &w.view.candidates[candidate]
	pc := w.view.countersOf(c.pool)
	pc.add(c.device)
	short := pc.overdrawn()
	if short == nil {
		return true
	}
	pc.remove(c.device)
	w.reject(a, candidate, CountersExhausted, func(r *Rejection) {
		r.CounterSet, r.Counter = short.Set, short.Counter
		r.Overdrawn = short.available.Cmp(short.consumed) < 0
		left, needed := short.available.DeepCopy(), resource.Quantity{}
		left.Sub(short.consumed)
		for _, need := range pc.needsOf(c.device) {
			if &pc.counters[need.position] == short {
				needed.Add(need.amount)
			}
		}
		r.Needed, r.Available = &needed, &left
	})
	return false
}
