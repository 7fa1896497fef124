package allocator

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bounds on a problem as a whole. Each looks at a relaxed problem, in which only some of the conditions
// hold; if even that has no solution, there is none. A bound must not hide an error that the search
// would meet, so they are only asked when no pair is poison, except the first.
//
//   - starved: a request has too few fit candidates, and no error can be met up to it.
//   - matching: requests compete for devices that only one can have (Hall's theorem).
//   - distinct: the devices need different values, and there are too few values.
//   - match: for no value are there enough devices that have it.
//   - counters: of the devices on a counter set only so many can be had at a time.

// hopeless reports whether a bound proves that there is no solution.
func (w *walk) hopeless(t *table) bool {
	if w.starves(t) {
		return true
	}
	if t.poisoned || !t.orderly {
		return false
	}
	demand := w.demand(t)
	if !fillable(demand, w.exclusive(t)) {
		return true
	}
	for _, claim := range w.problem.claims {
		for _, c := range w.constraints[claim.index] {
			if w.constraintHopeless(t, claim, c) {
				return true
			}
		}
	}
	return w.countersHopeless(demand)
}

// starves looks for a request without enough candidates, reached before any error.
func (w *walk) starves(t *table) bool {
	for _, claim := range w.problem.claims {
		for _, request := range claim.requests {
			starved := true
			for _, a := range request.alternatives {
				n := 0
				for _, f := range t.fitness[a.id] {
					if f == poison {
						return false
					}
					if f == fit {
						n++
					}
				}
				starved = starved && (n < a.count || a.all && a.count == 0)
			}
			if starved {
				return true
			}
		}
	}
	return false
}

// slot is a number of devices that an alternative needs from a set of candidates.
type slot struct {
	alternative *alternative
	count       int
	from        []int // candidates, or values
}

// demand lists what every plain request needs. Prioritized requests are left out: they may need less.
func (w *walk) demand(t *table) []slot {
	var out []slot
	for _, claim := range w.problem.claims {
		for _, request := range claim.requests {
			if request.prioritized {
				continue
			}
			a := request.alternatives[0]
			s := slot{alternative: a, count: a.count}
			for i, f := range t.fitness[a.id] {
				if f == fit && (!a.all || slices.Contains(a.allSet, i)) {
					s.from = append(s.from, i)
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// exclusive tells which candidates only one request can have. Admin access is not modelled: its
// candidates count as available to all.
func (w *walk) exclusive(t *table) func(int) bool {
	admin := slices.ContainsFunc(t.alternatives, func(a *alternative) bool { return a.admin })
	return func(candidate int) bool { return !admin && !w.view.candidates[candidate].shareable }
}

// fillable reports whether every slot can get as many members as it needs, none twice in a slot and
// exclusive members in one slot only. It finds a matching by augmenting paths.
func fillable(slots []slot, exclusive func(int) bool) bool {
	owner := map[int]int{} // exclusive member -> index of the slot
	for i := range slots {
		free := 0
		for _, m := range slots[i].from {
			if !exclusive(m) {
				free++
			}
		}
		for n := free; n < slots[i].count; n++ {
			if !augment(slots, i, exclusive, owner, map[int]bool{}) {
				return false
			}
		}
	}
	return true
}

// augment finds one more exclusive member for a slot, moving others if that helps.
func augment(slots []slot, i int, exclusive func(int) bool, owner map[int]int, visited map[int]bool) bool {
	for _, m := range slots[i].from {
		if !exclusive(m) || visited[m] {
			continue
		}
		have, taken := owner[m]
		if taken && have == i {
			continue
		}
		visited[m] = true
		if !taken || augment(slots, have, exclusive, owner, visited) {
			owner[m] = i
			return true
		}
	}
	return false
}

// constraintHopeless looks at one constraint and the plain requests that it applies to.
func (w *walk) constraintHopeless(t *table, claim *claimProblem, c *constraintState) bool {
	var slots []slot
	values := map[scalar]int{}
	having := map[int][]int{} // value -> candidates, over all slots
	for _, s := range w.demand(t) {
		if s.alternative.claim != claim || !c.applies(s.alternative) || len(s.alternative.derived) > 0 {
			continue
		}
		byValue := slot{alternative: s.alternative, count: s.count}
		for _, candidate := range s.from {
			device := &w.view.candidates[candidate]
			attribute := LookupAttribute(device.device, device.id.Driver, c.name)
			if attribute == nil {
				continue
			}
			for _, v := range c.values(attribute) {
				n, ok := values[v]
				if !ok {
					n = len(values)
					values[v] = n
				}
				if !slices.Contains(byValue.from, n) {
					byValue.from = append(byValue.from, n)
				}
				having[n] = append(having[n], candidate)
			}
		}
		slots = append(slots, byValue)
	}
	if c.distinct {
		// Each device uses up at least one value of its own.
		return !fillable(slots, func(int) bool { return true })
	}
	return !w.someValueFits(t, slots, having)
}

// someValueFits reports whether there is a value that enough devices have for every slot.
func (w *walk) someValueFits(t *table, slots []slot, having map[int][]int) bool {
	if len(slots) == 0 || !slices.ContainsFunc(slots, func(s slot) bool { return s.count > 0 }) {
		return true
	}
	exclusive := w.exclusive(t)
	for value := range having {
		restricted := make([]slot, len(slots))
		for i, s := range slots {
			restricted[i] = slot{alternative: s.alternative, count: s.count}
			for _, candidate := range having[value] {
				if t.fitness[s.alternative.id][candidate] == fit && !slices.Contains(restricted[i].from, candidate) {
					restricted[i].from = append(restricted[i].from, candidate)
				}
			}
		}
		if fillable(restricted, exclusive) {
			return true
		}
	}
	return false
}

// countersHopeless bounds, for each plain request, how many of its candidates the counters allow at a
// time. A candidate counts towards the first counter set that it consumes from.
func (w *walk) countersHopeless(demand []slot) bool {
	if !w.view.cluster.features.PartitionableDevices {
		return false
	}
	for _, s := range demand {
		if s.alternative.admin || s.alternative.all {
			continue
		}
		groups := map[counterGroup][]int{}
		room := 0
		for _, candidate := range s.from {
			c := &w.view.candidates[candidate]
			if len(c.device.ConsumesCounters) == 0 || c.shareable {
				room++
				continue
			}
			g := counterGroup{c.pool, c.device.ConsumesCounters[0].CounterSet}
			groups[g] = append(groups[g], candidate)
		}
		for g, members := range groups {
			room += w.allowed(g, members)
		}
		if room < s.count {
			return true
		}
	}
	return false
}

type counterGroup struct {
	pool *poolView
	set  string
}

// allowed is the lowest, over the counters of a set, of how many members fit if the most modest come first.
func (w *walk) allowed(g counterGroup, members []int) int {
	pc := w.view.countersOf(g.pool)
	least := len(members)
	for position := range pc.counters {
		counter := &pc.counters[position]
		if counter.set != g.set {
			continue
		}
		amounts := make([]resource.Quantity, 0, len(members))
		for _, candidate := range members {
			total := resource.Quantity{}
			for _, need := range pc.needsOf(w.view.candidates[candidate].device) {
				if need.position == position {
					total.Add(need.amount)
				}
			}
			amounts = append(amounts, total)
		}
		slices.SortFunc(amounts, func(a, b resource.Quantity) int { return a.Cmp(b) })
		left, n := counter.available.DeepCopy(), 0
		for _, amount := range amounts {
			left.Sub(amount)
			if left.Sign() < 0 {
				break
			}
			n++
		}
		least = min(least, n)
	}
	return least
}
