package allocator

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// How many steps the scheduler's own search takes.
//
// A step is one call of walk.place, which is one call of the function that the scheduler's search consists
// of. The search with pruning tells how the plain one ends; the steps of the parts that end dead are then
// counted without walking them. A part that ends dead is walked to its end, so what it costs depends only on
// how many sets of devices can be picked in it, not on their order.
//
// Devices of one kind are interchangeable. So for a request it suffices to go through the numbers of devices
// of each kind that can be had together; "2 of these 8 and 1 of those 4" stands for 28 * 4 sets, each of
// which is one step. A set that completes the request is followed by the next request, whose steps are the
// same after each of the 112 and are remembered by the state between the requests (see walk.boundary).
//
//	24 equal devices, 25 wanted: the sum of C(24, i) for i = 0 to 24, which is 2^24 = 16,777,216 steps
//
// Before a solution or an error the search has walked dead parts only: at every device on the way there,
// those below the earlier devices. They are counted one by one; of the candidates only later ones are left.
//
// Where that goes through too many numbers itself, the sum so far is a lower bound.

// StepCount is a number of steps of the scheduler's own search.
type StepCount struct {
	Steps int64 `json:"steps"`
	// AtLeast says that the true number is Steps or more, because counting was given up or it does not fit.
	AtLeast bool `json:"atLeast"`
}

// tallyLimit bounds the devices tried while counting.
const tallyLimit = 200_000

// PlainSteps counts the steps that the scheduler's own search makes for the claims on a node, until it has a
// solution, has proved that there is none, or aborts. Faults found before the search take no steps. The error
// is that of the context.
func (c *Cluster) PlainSteps(ctx context.Context, node *corev1.Node, claims []*resourcev1.ResourceClaim) (StepCount, error) {
	w, err := c.newSearch(ctx, node, claims, nil)
	if err != nil || w.view.refused != nil {
		return StepCount{}, IgnoreAbort(err)
	}
	w.limit = min(c.plainSteps, c.stepLimit)
	if w.unorderly() {
		w.limit = c.stepLimit
		_, err = w.place(position{}, 0)
		return StepCount{Steps: w.steps, AtLeast: errors.Is(err, errStepLimit)}, ignoreLimit(err)
	}
	if _, err = w.place(position{}, 0); !errors.Is(err, errStepLimit) {
		return StepCount{Steps: w.steps}, IgnoreAbort(err)
	}
	w.limit, w.steps = c.stepLimit, 0
	infeasible, err := w.prune()
	if err != nil {
		return StepCount{}, err
	}
	end := dead
	if !infeasible {
		end, err = w.place(position{}, 0)
	}
	switch {
	case IgnoreAbort(err) != nil && !errors.Is(err, errStepLimit):
		return StepCount{}, err
	case errors.Is(err, errStepLimit), w.pruner == nil && !infeasible:
		// Each step of a search with pruning is one of the plain search as well.
		return StepCount{Steps: w.steps, AtLeast: err != nil && IgnoreAbort(err) != nil}, nil
	}
	count, err := c.tally(ctx, node, claims, w, end)
	count.AtLeast = count.AtLeast || c.rules.everyOrder // only the order of the candidates was counted
	return count, err
}

// ignoreLimit returns the error unless it is an abort or says that the steps are used up.
func ignoreLimit(err error) error {
	if errors.Is(err, errStepLimit) {
		return nil
	}
	return IgnoreAbort(err)
}

// tally counts the steps of a search whose end is known.
func (c *Cluster) tally(ctx context.Context, node *corev1.Node, claims []*resourcev1.ResourceClaim, ended *walk, end ending) (StepCount, error) {
	unknown := StepCount{Steps: min(c.plainSteps, c.stepLimit), AtLeast: true}
	w, err := c.newSearch(ctx, node, claims, nil) // the other may hold the devices of a solution
	if err != nil {
		return unknown, IgnoreAbort(err)
	}
	t := &tally{walk: w, memo: map[string]int64{}, left: tallyLimit}
	if ok, err := t.prepare(); err != nil || !ok {
		return unknown, err
	}
	switch {
	case end == found:
		t.follow(ended.picks, nil)
	case ended.halted != nil:
		t.follow(ended.halted.picks, ended.halted)
	default:
		t.total = t.boundary(position{})
	}
	return StepCount{Steps: t.total, AtLeast: t.partial || t.total == math.MaxInt64}, ctx.Err()
}

// halt is where a search met an error: with the devices picked until then, it looked at a candidate for an
// alternative.
type halt struct {
	picks       [][]pick
	alternative *alternative
	candidate   int
}

// halts notes where the first error came up, and returns it.
func (w *walk) halts(a *alternative, candidate int, err error) error {
	if err != nil && w.halted == nil {
		w.halted = &halt{alternative: a, candidate: candidate}
		for _, picks := range w.picks {
			w.halted.picks = append(w.halted.picks, slices.Clone(picks))
		}
	}
	return err
}

// tally counts steps. Its walk is used for its state and its checks; it does not search.
type tally struct {
	*walk
	memo    map[string]int64 // steps from a boundary on, that of the boundary included
	total   int64
	left    int  // devices that may still be tried
	partial bool // something was left out of the count
}

// prepare sorts the candidates into equivalence classes. It returns false if the sets of devices that can be
// had together depend on the order in which they are picked, so that they cannot be counted like this.
func (t *tally) prepare() (bool, error) {
	table, err := newTable(t.walk)
	if err != nil {
		return false, err
	}
	if !table.orderly || t.problem.mayOverfill() {
		return false, nil
	}
	// The members of "all" are taken in order. At which of them that ends depends on which of them are picked
	// before, so no two are alike.
	for _, a := range table.alternatives {
		for _, candidate := range a.allSet {
			table.equivalence[candidate] = table.equivalences
			table.equivalences++
		}
	}
	t.pruner = newPruner(t.walk, table)
	return true, nil
}

// boundary counts the steps from the start of a request on, in a part that ends dead.
func (t *tally) boundary(p position) int64 {
	if p.claim >= len(t.problem.claims) {
		t.partial = true // a solution, where none was said to be; never seen
		return 0
	}
	claim := t.problem.claims[p.claim]
	if p.request >= len(claim.requests) {
		return plus(1, t.boundary(position{claim: p.claim + 1}))
	}
	key := t.walk.boundary(p)
	if n, known := t.memo[key]; known {
		return n
	}
	request, n := claim.requests[p.request], int64(1)
	for _, a := range request.alternatives {
		if request.prioritized {
			n = plus(n, 1)
		}
		n = plus(n, t.below(p, a, 0, 0))
	}
	t.memo[key] = n
	return n
}

// below counts the steps below the one at which slot devices of an alternative are picked and start is the
// next candidate.
func (t *tally) below(p position, a *alternative, slot, start int) int64 {
	next := position{claim: p.claim, request: p.request + 1}
	switch {
	case a.all && len(a.allSet) == 0:
		return 0
	case slot >= a.count:
		return t.boundary(next)
	case a.all:
		return t.all(p, a, slot)
	}
	kinds := t.kindsFrom(a, start)
	return t.sets(kinds, a.count-slot, 1, func() int64 { return t.boundary(next) })
}

// all counts the steps of taking the devices of "all" from a slot on.
func (t *tally) all(p position, a *alternative, slot int) int64 {
	undo, err := t.take(a, a.allSet[slot])
	t.spend()
	if err != nil || undo == nil {
		t.partial = t.partial || err != nil
		return 0
	}
	n := plus(1, t.below(p, a, slot+1, 0))
	t.giveBack(a, a.allSet[slot], undo)
	return n
}

// members are candidates of one kind.
type members struct {
	alternative *alternative
	candidates  []int
}

// kindsFrom lists the candidates from a start on that the alternative could take, by kind.
func (t *tally) kindsFrom(a *alternative, start int) []members {
	var out []members
	index := map[int]int{}
	for candidate := start; candidate < len(t.view.candidates); candidate++ {
		ok, err := t.eligible(a, candidate)
		if err != nil {
			t.partial = true
		}
		if err != nil || !ok {
			continue
		}
		kind := t.kindOf(candidate)
		at, known := index[kind]
		if !known {
			at = len(out)
			index[kind] = at
			out = append(out, members{alternative: a})
		}
		out[at].candidates = append(out[at].candidates, candidate)
	}
	return out
}

// sets counts the steps of picking up to count devices of the kinds, each weighed by the number of sets that
// it stands for, with those of what follows a full set.
func (t *tally) sets(kinds []members, count int, weight int64, follow func() int64) int64 {
	if len(kinds) == 0 || count == 0 {
		return 0
	}
	n := t.sets(kinds[1:], count, weight, follow) // none of the first kind
	first := kinds[0]
	var undos []*undo
	for picked := 1; picked <= min(count, len(first.candidates)) && t.spend(); picked++ {
		candidate := first.candidates[picked-1]
		undo, err := t.take(first.alternative, candidate)
		t.partial = t.partial || err != nil
		if err != nil || undo == nil {
			break
		}
		undos = append(undos, undo)
		sets := times(weight, choose(len(first.candidates), picked))
		each := int64(1)
		if picked == count {
			each = plus(each, follow())
		}
		n = plus(n, times(sets, each))
		n = plus(n, t.sets(kinds[1:], count-picked, sets, follow))
	}
	for i := len(undos) - 1; i >= 0; i-- {
		t.giveBack(first.alternative, first.candidates[i], undos[i])
	}
	return n
}

// spend reports whether one more device may be tried.
func (t *tally) spend() bool {
	t.left--
	if t.left < 0 || t.ctx.Err() != nil {
		t.partial = true
		return false
	}
	return true
}

// follow counts the steps along the way to a solution, or to where the search met an error.
func (t *tally) follow(picks [][]pick, end *halt) {
	for c, claim := range t.problem.claims {
		rest := picks[c]
		for r, request := range claim.requests {
			t.total = plus(t.total, 1)
			n := 0 // of the picks are for this request
			for n < len(rest) && rest[n].alternative.request.index == r {
				n++
			}
			here := end != nil && end.alternative.claim.index == c && end.alternative.request.index == r
			if t.through(position{claim: c, request: r}, request, rest[:n], end, here) {
				return
			}
			rest = rest[n:]
		}
		t.total = plus(t.total, 1)
	}
	t.total = plus(t.total, 1)
}

// through follows the way through one request. It returns true when the way ends in it.
func (t *tally) through(p position, request *requestProblem, picks []pick, end *halt, here bool) bool {
	chosen := t.chosen(request, picks, end, here)
	a := request.alternatives[chosen]
	if request.prioritized {
		for _, earlier := range request.alternatives[:chosen] {
			t.total = plus(t.total, plus(1, t.below(p, earlier, 0, 0)))
		}
		t.total = plus(t.total, 1)
	}
	start := 0
	for slot := range picks {
		t.passOver(p, a, slot, start, picks[slot].candidate)
		if undo, err := t.take(a, picks[slot].candidate); err != nil || undo == nil {
			t.partial = true // never seen
			return true
		}
		t.total = plus(t.total, 1)
		start = picks[slot].candidate + 1
	}
	if here {
		t.passOver(p, a, len(picks), start, end.candidate)
	}
	return here
}

// chosen is the alternative of the request that is on the way.
func (t *tally) chosen(request *requestProblem, picks []pick, end *halt, here bool) int {
	switch {
	case here:
		return end.alternative.sub
	case len(picks) > 0:
		return picks[0].alternative.sub
	}
	// A way that goes on without a device went by the first alternative that needs none.
	return max(0, slices.IndexFunc(request.alternatives, func(a *alternative) bool { return !a.all && a.count == 0 }))
}

// passOver counts the steps below the candidates before the one that is on the way.
func (t *tally) passOver(p position, a *alternative, slot, start, until int) {
	if a.all {
		return
	}
	for candidate := start; candidate < until; candidate++ {
		ok, err := t.eligible(a, candidate)
		if err != nil || !ok || !t.spend() {
			continue
		}
		undo, err := t.take(a, candidate)
		if err != nil || undo == nil {
			continue
		}
		t.total = plus(t.total, plus(1, t.below(p, a, slot+1, candidate+1)))
		t.giveBack(a, candidate, undo)
	}
}

// plus, times and choose end at the largest number that there is.

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// choose counts the sets of k out of n.
func choose(n, k int) int64 {
	if b := new(big.Int).Binomial(int64(n), int64(k)); b.IsInt64() {
		return b.Int64()
	}
	return math.MaxInt64
}
