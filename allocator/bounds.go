package allocator

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bounds on a problem as a whole. Each looks at a relaxed problem, in which only some of the conditions
// hold; if even that has no solution, there is none. A bound must not hide an error that the search
// would meet, so they are only asked when no pair may abort, except the first.
//
//   - starved: a request has too few fit candidates, and no error can be met up to it.
//   - matching: requests compete for devices that only one can have (Hall's theorem).
//   - distinct: the devices need different values, and there are too few values.
//   - match: for no value are there enough devices that have it, or not for so many twins.
//   - counters: of the devices on a counter set only so many can be had at a time.

// infeasible reports whether a bound proves that there is no solution.
func (w *walk) infeasible(t *table) bool {
	if w.starves(t) {
		return true
	}
	if t.someMayAbort || !t.orderly {
		return false
	}
	demand, m := w.demand(t), &matching{}
	if !m.fillable(demand, w.exclusive(t), len(w.view.candidates)) {
		return true
	}
	for _, claim := range w.problem.claims {
		if claim.twin != nil {
			continue
		}
		for _, c := range w.constraints[claim.index] {
			if w.constraintHopeless(t, demand, m, claim, c) {
				return true
			}
		}
	}
	return w.countersHopeless(demand)
}

// starves looks for a request without enough candidates, reached before any error.
func (w *walk) starves(t *table) bool {
	for _, claim := range w.problem.claims {
		if claim.twin != nil {
			continue
		}
		for _, request := range claim.requests {
			starved := true
			for _, a := range request.alternatives {
				n := 0
				for _, f := range t.fitness[a.id] {
					if f == mayAbort {
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
	times       int   // how often the slot is there: once for each of the claims that are twins
	from        []int // candidates, or values; none twice
}

// demand lists what every plain request needs. Prioritized requests are left out: they may need less.
func (w *walk) demand(t *table) []slot {
	var out []slot
	index := map[*alternative]int{}
	for _, claim := range w.problem.claims {
		for _, request := range claim.requests {
			if request.prioritized {
				continue
			}
			a := request.alternatives[0]
			if a.like != nil {
				out[index[a.like]].times++
				continue
			}
			index[a] = len(out)
			out = append(out, slot{alternative: a, count: a.count, times: 1, from: t.members(a)})
		}
	}
	return out
}

// members are the candidates that fit an alternative, ascending.
func (t *table) members(a *alternative) []int {
	row := t.fitness[a.id]
	if a.all {
		return slices.DeleteFunc(slices.Clone(a.allSet), func(i int) bool { return row[i] != fit })
	}
	var out []int
	for i, f := range row {
		if f == fit {
			out = append(out, i)
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

// matching gives members to slots. It can be used again and again.
type matching struct {
	owner []int // of an exclusive member: its slot and 1, or 0 for nobody
	next  []int // of a slot: members before it have an owner
	seen  []int // of a slot: the last attempt that came by
	tries int
}

// fillable reports whether every slot can get as many members as it needs, none twice in a slot and
// exclusive members in one slot only. It finds a matching by augmenting paths. Members are below most.
func (m *matching) fillable(slots []slot, exclusive func(int) bool, most int) bool {
	m.owner = append(m.owner, make([]int, max(0, most-len(m.owner)))...)
	m.next, m.seen = make([]int, len(slots)), make([]int, len(slots))
	defer m.forget(slots)
	only := make([]slot, len(slots))
	for i, s := range slots {
		only[i].from = make([]int, 0, len(s.from))
		for _, member := range s.from {
			if exclusive(member) {
				only[i].from = append(only[i].from, member)
			}
		}
		// Those that are not exclusive are there for each of the twins.
		only[i].count = s.times * max(0, s.count-(len(s.from)-len(only[i].from)))
	}
	for i := range only {
		for range only[i].count {
			m.tries++
			if !m.augment(only, i) {
				return false
			}
		}
	}
	return true
}

// forget makes all members nobody's.
func (m *matching) forget(slots []slot) {
	for i := range slots {
		for _, member := range slots[i].from {
			m.owner[member] = 0
		}
	}
}

// augment finds one more member for a slot, moving others if that helps.
func (m *matching) augment(slots []slot, i int) bool {
	if m.seen[i] == m.tries {
		return false
	}
	m.seen[i] = m.tries
	from := slots[i].from
	for ; m.next[i] < len(from); m.next[i]++ { // what has an owner keeps having one
		if member := from[m.next[i]]; m.owner[member] == 0 {
			m.owner[member] = i + 1
			return true
		}
	}
	for _, member := range from {
		if have := m.owner[member] - 1; have != i && m.augment(slots, have) {
			m.owner[member] = i + 1
			return true
		}
	}
	return false
}

// constraintHopeless looks at one constraint and the plain requests that it applies to.
func (w *walk) constraintHopeless(t *table, demand []slot, m *matching, claim *claimProblem, c *constraintState) bool {
	var slots []slot
	values := map[scalar]int{}
	having := map[int][]int{} // value -> candidates, over all slots
	for _, s := range demand {
		if s.alternative.claim != claim || !c.applies(s.alternative) || len(s.alternative.derived) > 0 {
			continue
		}
		byValue := slot{alternative: s.alternative, count: s.count, times: 1}
		for _, candidate := range s.from {
			attribute, err := w.attributeOf(s.alternative, candidate, c.name)
			if err != nil || attribute == nil {
				continue
			}
			for _, v := range c.values(attribute) {
				n, ok := values[v]
				if !ok {
					n = len(values)
					values[v] = n
				}
				byValue.from = append(byValue.from, n)
				having[n] = append(having[n], candidate)
			}
		}
		byValue.from = unique(byValue.from)
		slots = append(slots, byValue)
	}
	for value := range having {
		having[value] = unique(having[value]) // requests may have candidates in common
	}
	if c.distinct {
		// Each device uses up at least one value of its own.
		return !m.fillable(slots, func(int) bool { return true }, len(values))
	}
	return !w.someValueFits(t, m, slots, having) || w.twinsExceed(t, claim, slots, having)
}

// someValueFits reports whether there is a value that enough devices have for every slot.
func (w *walk) someValueFits(t *table, m *matching, slots []slot, having map[int][]int) bool {
	if len(slots) == 0 || !slices.ContainsFunc(slots, func(s slot) bool { return s.count > 0 }) {
		return true
	}
	exclusive := w.exclusive(t)
	for _, candidates := range having {
		restricted := make([]slot, len(slots))
		for i, s := range slots {
			restricted[i] = slot{alternative: s.alternative, count: s.count, times: 1}
			for _, candidate := range candidates {
				if t.fitness[s.alternative.id][candidate] == fit {
					restricted[i].from = append(restricted[i].from, candidate)
				}
			}
		}
		if m.fillable(restricted, exclusive, len(w.view.candidates)) {
			return true
		}
	}
	return false
}

// twinsExceed reports whether there are more twins of a claim than sets of devices with a common value. Twins
// that settle on the same value share the devices that have it.
//
//	8 values, 4 of 63 devices and 4 of 62; 249 claims for 2 devices of one value: 8 * 31 = 248 at most
func (w *walk) twinsExceed(t *table, claim *claimProblem, slots []slot, having map[int][]int) bool {
	twins := 0
	for _, c := range w.problem.claims {
		if c == claim || c.twin == claim {
			twins++
		}
	}
	each := 0
	for _, s := range slots {
		each += s.count
	}
	if twins == 1 || each == 0 {
		return false
	}
	exclusive := w.exclusive(t)
	for _, candidates := range having {
		if slices.ContainsFunc(candidates, func(c int) bool { return !exclusive(c) }) {
			return false
		}
		twins -= len(candidates) / each
	}
	return twins > 0
}

// unique sorts numbers and drops those that are there already.
func unique(numbers []int) []int {
	slices.Sort(numbers)
	return slices.Compact(numbers)
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
		if counter.Set != g.set {
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
