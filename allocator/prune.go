package allocator

import (
	"encoding/binary"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// Pruning cuts branches of the search that provably hold neither a solution nor an error, so the answer
// stays the scheduler's first solution. A plain walk comes first; only one that is not done after
// plainSteps is worth the preparation, and starts again with pruning.
//
// Two memos, both of subtrees that ended dead (explored to the end, no solution, no error, and never
// cut short because a claim would become overfull):
//
//   - Between requests. What the rest of the search can do depends on how many members of each equivalence
//     class are picked, not on which. The key is the position and these counts, with the state of the current
//     claim's constraints. Example: 24 equal devices, 4 claims of 3, then a request that nothing matches:
//     each boundary is reached once, instead of 4.9 million times.
//   - Inside a request. With the same devices picked before the request, the first arrival at "these
//     many of each class" uses the earliest members, so what remains for it includes what remains for
//     any later arrival. Example: 25 of 24 equal devices takes 25 steps instead of 2^24.
//
// And siblings: after a device failed, the next untouched devices of its class fail as well.
//
// Before all that, bounds on the problem as a whole (see bounds.go) may already prove that there is no
// solution.

// plainSteps is the length of the plain walk. Typical questions are answered in fewer steps.
const plainSteps = 256

// pruner is the part of a walk that prunes. It is nil in a walk that does not.
type pruner struct {
	table *table
	dead  map[string]struct{} // between requests
	// countMatters says that a claim could become overfull, so the number of its devices is part of a state.
	countMatters bool
	amounts      map[string]int // numbers for the consumptions of shares
	kinds        map[string]int // numbers for what was done to candidates
	// Scratch space, of boundaries and kinds:
	buf   []byte
	whole []uint64
	seen  []int // by candidate; all zero
}

func newPruner(w *walk, t *table) *pruner {
	return &pruner{table: t, dead: map[string]struct{}{}, amounts: map[string]int{}, kinds: map[string]int{}, seen: make([]int, len(w.view.candidates))}
}

// prune prepares a walk for pruning, unless that is not possible for this problem. It returns true when
// there is no solution and so no need to search.
func (w *walk) prune() (infeasible bool, err error) {
	t, err := newTable(w)
	if err != nil {
		return false, err
	}
	p := newPruner(w, t)
	p.countMatters = w.problem.mayOverfill()
	if !w.view.cluster.noBounds && w.infeasible(t) {
		return true, nil
	}
	// When claims can become overfull, parts of the search are cut short depending on the order of the
	// candidates, and that decides which errors are reached.
	if t.orderly && (!p.countMatters || !t.someMayAbort) {
		w.pruner = p
	}
	return false, nil
}

// mayOverfill reports whether a claim could become overfull.
func (p *problem) mayOverfill() bool {
	for _, claim := range p.claims {
		most := 0
		for _, r := range claim.requests {
			n := 0
			for _, a := range r.alternatives {
				n = max(n, a.count)
			}
			most += min(n, resourcev1.AllocationResultsMaxSize+1)
		}
		if most > resourcev1.AllocationResultsMaxSize {
			return true
		}
	}
	return false
}

// boundary returns the key of the state before a request.
func (w *walk) boundary(p position) string {
	buf := w.pruner.buf[:0]
	buf = binary.AppendUvarint(buf, uint64(p.claim))
	buf = binary.AppendUvarint(buf, uint64(p.request))
	buf = binary.AppendUvarint(buf, uint64(p.sub))
	if p.inside {
		buf = append(buf, 1)
	} else {
		buf = append(buf, 0)
	}
	if w.pruner.countMatters && p.claim < len(w.picks) {
		buf = binary.AppendUvarint(buf, uint64(len(w.picks[p.claim])))
	}
	buf = w.appendPicks(buf, p.claim)
	if p.claim < len(w.constraints) {
		for _, c := range w.constraints[p.claim] {
			buf = c.appendState(buf)
		}
	}
	w.pruner.buf = buf
	return string(buf)
}

// appendPicks writes how many members of each class are picked as a whole, by the current claim or only
// by others, and which shares were taken of how many members.
func (w *walk) appendPicks(buf []byte, current int) []byte {
	whole, seen := w.pruner.whole[:0], w.pruner.seen
	var states []string
	for claim, picks := range w.picks {
		for _, p := range picks {
			at := seen[p.candidate] - 1
			if w.view.candidates[p.candidate].shareable {
				if at < 0 {
					seen[p.candidate] = 1
					states = append(states, w.sharesOf(p.candidate))
				}
				continue
			}
			if at < 0 {
				at = len(whole)
				whole = append(whole, uint64(w.pruner.table.equivalence[p.candidate])<<1)
				seen[p.candidate] = at + 1
			}
			if claim == current { // only admin access minds whose pick it is
				whole[at] |= 1
			}
		}
	}
	for candidate, times := range w.repeated() {
		if at := seen[candidate] - 1; at >= 0 {
			whole[at] += times << 32
		}
	}
	for _, picks := range w.picks {
		for _, p := range picks {
			seen[p.candidate] = 0
		}
	}
	slices.Sort(whole)
	w.pruner.whole = whole
	buf = appendNumbers(buf, whole)
	slices.Sort(states)
	for _, s := range states {
		buf = append(buf, s...)
	}
	return buf
}

// sharesOf describes which shares were taken of a candidate.
func (w *walk) sharesOf(candidate int) string {
	taken := slices.Clone(w.state[candidate].taken)
	slices.Sort(taken)
	return string(appendNumbers(binary.AppendUvarint(nil, uint64(w.pruner.table.equivalence[candidate])), taken))
}

// repeated says of candidates that several claims picked as a whole, which takes admin access, how many times
// more than once: every pick draws on their counters.
func (w *walk) repeated() map[int]uint64 {
	var out map[int]uint64
	for _, picks := range w.picks {
		for _, p := range picks {
			if n := len(w.state[p.candidate].claims); n > 1 {
				if out == nil {
					out = map[int]uint64{}
				}
				out[p.candidate] = uint64(n - 1)
			}
		}
	}
	return out
}

func appendNumbers(buf []byte, numbers []uint64) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(numbers)))
	for _, n := range numbers {
		buf = binary.AppendUvarint(buf, n)
	}
	return buf
}

// shareNumber numbers what a share takes of a device, so that equal shares get equal numbers.
func (w *walk) shareNumber(p pick) int {
	v := &p.alternative.verdict[p.candidate]
	if v.share == 0 {
		key := v.consumption.key()
		n, ok := w.pruner.amounts[key]
		if !ok {
			n = len(w.pruner.amounts) + 1
			w.pruner.amounts[key] = n
		}
		v.share = n
	}
	return v.share
}

// placeOnce decides a request from its start, unless that is known to be in vain.
func (w *walk) placeOnce(p position, request *requestProblem) (ending, error) {
	key := w.boundary(p)
	if _, known := w.pruner.dead[key]; known {
		return dead, nil
	}
	end, err := w.placeRequest(p, request, 0)
	if end == dead && err == nil && len(w.pruner.dead) < memoLimit {
		w.pruner.dead[key] = struct{}{}
	}
	return end, err
}

// placeDistinctly is placeExact without trying the same counts of kinds twice.
func (w *walk) placeDistinctly(p position, a *alternative, start int) (ending, error) {
	if p.visit == nil {
		p.visit = &visit{dead: map[string]struct{}{}}
	}
	if w.short(a, start, a.count-p.slot) {
		return dead, nil
	}
	key := p.visit.key()
	if _, known := p.visit.dead[key]; known {
		return dead, nil
	}
	end, err := w.placeExact(p, a, start)
	if end == dead && err == nil && len(p.visit.dead) < memoLimit {
		p.visit.dead[key] = struct{}{}
	}
	return end, err
}

// memoLimit bounds the memory of a memo.
const memoLimit = 1 << 18

// visit is the memo of one visit to a request.
type visit struct {
	dead map[string]struct{}
	kept []int // kinds of the devices picked on this visit, sorted
}

// kindOf numbers what a candidate is at this point of the search: those of one kind are interchangeable. One
// that nothing was taken of is like all of its class, others are only like those that were touched in the
// same way. During a visit it is asked of candidates that the visit has not picked.
func (w *walk) kindOf(candidate int) int {
	class, state := w.pruner.table.equivalence[candidate], &w.state[candidate]
	if len(state.claims) == 0 && len(state.taken) == 0 {
		return class
	}
	buf := binary.AppendUvarint(w.pruner.buf[:0], uint64(class))
	for _, claim := range state.claims {
		buf = binary.AppendUvarint(buf, uint64(claim)+1)
	}
	taken := slices.Clone(state.taken)
	slices.Sort(taken)
	buf = appendNumbers(append(buf, 0), taken)
	kind, ok := w.pruner.kinds[string(buf)]
	if !ok {
		kind = w.pruner.table.equivalences + len(w.pruner.kinds)
		w.pruner.kinds[string(buf)] = kind
	}
	w.pruner.buf = buf
	return kind
}

// key describes what the visit has picked.
func (v *visit) key() string {
	buf := make([]byte, 0, 2*len(v.kept))
	for _, kind := range v.kept {
		buf = binary.AppendUvarint(buf, uint64(kind))
	}
	return string(buf)
}

func (v *visit) pick(kind int) {
	at, _ := slices.BinarySearch(v.kept, kind)
	v.kept = slices.Insert(v.kept, at, kind)
}

func (v *visit) unpick(kind int) {
	at, _ := slices.BinarySearch(v.kept, kind)
	v.kept = slices.Delete(v.kept, at, at+1)
}

// short reports that fewer devices are left than slots, and that no error can be met among them.
func (w *walk) short(a *alternative, start, slots int) bool {
	left := 0
	row := w.pruner.table.fitness[a.id]
	for candidate := start; candidate < len(row); candidate++ {
		switch row[candidate] {
		case mayAbort:
			return false
		case fit:
			if left++; left >= slots {
				return false
			}
		}
	}
	return true
}

// appendState writes what the constraint remembers of the devices picked.
func (c *constraintState) appendState(buf []byte) []byte {
	var values []string
	switch {
	case c.lists && !c.distinct:
		if len(c.shared) > 0 {
			for _, v := range c.shared[len(c.shared)-1] {
				values = append(values, v.String())
			}
		}
	case c.distinct:
		for _, a := range c.picked {
			for _, v := range c.values(a) {
				values = append(values, v.String())
			}
		}
	case len(c.picked) > 0:
		if s, ok := scalarOf(c.picked[0]); ok {
			values = append(values, s.String())
		}
	}
	slices.Sort(values)
	buf = binary.AppendUvarint(buf, uint64(len(values)))
	for _, v := range values {
		buf = binary.AppendUvarint(buf, uint64(len(v)))
		buf = append(buf, v...)
	}
	return buf
}
