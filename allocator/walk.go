package allocator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// walk is one search. See the package documentation for the order in which it goes.
type walk struct {
	ctx      context.Context
	view     *view
	problem  *problem
	observer Observer

	state       []candidateState     // per candidate
	constraints [][]*constraintState // per claim
	picks       [][]pick             // per claim: what is chosen so far
	steps       int64
	limit       int64   // of steps
	pruner      *pruner // nil in a plain walk
	halted      *halt   // where it met an error
}

// candidateState is what this search has taken of a candidate.
type candidateState struct {
	claims   []int // claims that picked it as a whole, in the order of the picks
	shares   int
	marked   bool     // as shared; differs from shares > 0 only where rules.leaks
	taken    []uint64 // the numbers of the shares, while pruning, in the order of the picks
	consumed map[resourcev1.QualifiedName]resource.Quantity
}

// pick is a chosen device.
type pick struct {
	alternative *alternative
	candidate   int
	consumed    map[resourcev1.QualifiedName]resource.Quantity // of a share
}

// position is a place in the question: the next device of an alternative of a request of a claim.
type position struct {
	claim, request, sub, slot int
	// inside says that the alternative is chosen; otherwise all alternatives of the request are tried.
	inside bool
	// visit is the memo of this visit to the request, while pruning.
	visit *visit
}

// ending is how a subtree of the search ended.
type ending int8

const (
	dead ending = iota // no solution in it
	found
	// overfull says that whatever is picked, the claim would need more devices than a claim may have. That
	// depends on counts only, so the loops over devices above it need not try other devices.
	overfull
)

var errStepLimit = errors.New("step limit reached")

func newWalk(ctx context.Context, v *view, p *problem, observer Observer) *walk {
	w := &walk{
		ctx: ctx, view: v, problem: p, observer: observer, limit: v.cluster.stepLimit,
		state:       make([]candidateState, len(v.candidates)),
		constraints: make([][]*constraintState, len(p.claims)),
		picks:       make([][]pick, len(p.claims)),
	}
	for i, c := range p.claims {
		w.constraints[i] = newConstraints(c.claim, v.cluster)
	}
	return w
}

// run searches and makes the result.
func (w *walk) run() (*Result, error) {
	if refused := w.view.refused; refused != nil {
		return &Result{Node: nodeName(w.view.node), Outcome: Unsatisfiable, InvalidPools: true, Refused: refused}, nil
	}
	end, err := w.search()
	result := &Result{Node: nodeName(w.view.node), Steps: w.steps}
	switch {
	case errors.Is(err, errStepLimit):
		result.Outcome = Undecided
		return result, nil
	case err != nil:
		return nil, err
	case end == overfull && w.view.cluster.rules.countsWrap:
		// Otherwise the checks before the search make sure that the first claim can be small enough.
		return nil, w.problem.claims[0].requests[0].alternatives[0].abort(TooManyDevices, "the allocation has too many devices")
	case end != found:
		result.Outcome = Unsatisfiable
		result.InvalidPools = w.view.invalidPools() && !w.view.cluster.rules.noInvalidPools
		return result, nil
	}
	result.Outcome = Allocated
	result.Allocations, err = w.allocations()
	if err != nil {
		return nil, err
	}
	return result, nil
}

// search walks plainly first, because that is enough for nearly every question, and prunes when it is
// not.
func (w *walk) search() (ending, error) {
	if w.view.cluster.plain || w.limit <= w.view.cluster.plainSteps || w.unorderly() {
		return w.place(position{}, 0)
	}
	limit := w.limit
	w.limit = w.view.cluster.plainSteps
	end, err := w.place(position{}, 0)
	if !errors.Is(err, errStepLimit) {
		return end, err
	}
	w.limit = limit
	infeasible, err := w.prune()
	if infeasible || err != nil {
		return dead, err
	}
	return w.place(position{}, 0)
}

// place decides everything from a position on. start is the first candidate that may be taken for the
// next device of a request that already has some.
func (w *walk) place(p position, start int) (ending, error) {
	w.steps++
	if w.steps > w.limit {
		return dead, errStepLimit
	}
	if w.ctx.Err() != nil {
		return dead, fmt.Errorf("search interrupted: %w", context.Cause(w.ctx))
	}
	if p.claim >= len(w.problem.claims) {
		return found, nil
	}
	claim := w.problem.claims[p.claim]
	if p.request >= len(claim.requests) {
		end, err := w.place(position{claim: p.claim + 1}, 0)
		if end == overfull {
			end = dead // the limit is per claim: other choices for the claims before may still help
		}
		return end, err
	}
	request := claim.requests[p.request]
	if w.pruner != nil && p.slot == 0 && !p.inside {
		return w.placeOnce(p, request)
	}
	return w.placeRequest(p, request, start)
}

// placeRequest decides a request, and everything after it, from a position in it on.
func (w *walk) placeRequest(p position, request *requestProblem, start int) (ending, error) {
	if request.prioritized && !p.inside {
		return w.placeFirstAvailable(p, request)
	}
	a := request.alternatives[p.sub]
	if a.all && len(a.allSet) == 0 {
		return dead, nil
	}
	if p.slot >= a.count {
		return w.place(position{claim: p.claim, request: p.request + 1}, 0)
	}
	if w.exceedsLimit(a.count-p.slot, len(w.picks[p.claim])) {
		if w.view.cluster.rules.noOverfull {
			return dead, nil
		}
		return overfull, nil
	}
	switch {
	case a.all:
		return w.placeAll(p, a)
	case w.pruner != nil:
		return w.placeDistinctly(p, a, start)
	}
	return w.placeExact(p, a, start)
}

// exceedsLimit reports whether a claim that has some devices may not have so many more.
func (w *walk) exceedsLimit(more, have int) bool {
	if w.view.cluster.rules.countsWrap {
		return have+more > resourcev1.AllocationResultsMaxSize // wraps around
	}
	return more > resourcev1.AllocationResultsMaxSize-have
}

// placeFirstAvailable tries the subrequests in order. It is overfull only if every one of them is.
func (w *walk) placeFirstAvailable(p position, request *requestProblem) (ending, error) {
	result := overfull
	for sub := range request.alternatives {
		end, err := w.place(position{claim: p.claim, request: p.request, sub: sub, inside: true}, 0)
		if err != nil {
			return dead, err
		}
		if end == found {
			request.settled = sub
			return found, nil
		}
		if end == dead {
			result = dead
		}
	}
	return result, nil
}

// placeAll takes the next device of the set; there is no choice.
func (w *walk) placeAll(p position, a *alternative) (ending, error) {
	candidate := a.allSet[p.slot]
	undo, err := w.take(a, candidate)
	if err != nil || undo == nil {
		return dead, w.halts(a, candidate, err)
	}
	next := p
	next.slot++
	if w.view.cluster.rules.subrequestSlips {
		next.sub = 0
	}
	end, err := w.place(next, 0)
	if err == nil && end == found {
		return found, nil
	}
	w.giveBack(a, candidate, undo)
	if end == overfull {
		return overfull, nil
	}
	return dead, err
}

// placeExact tries the candidates in order. Inside a request only increasing positions are tried:
// the order of its devices does not matter. While pruning, one of a kind is enough.
func (w *walk) placeExact(p position, a *alternative, start int) (ending, error) {
	next := p
	next.slot++
	if w.pruner == nil && w.view.cluster.rules.everyOrder {
		start = 0
	}
	var failed []int // kinds
	for candidate := start; candidate < len(w.view.candidates); candidate++ {
		if p.visit != nil && len(failed) > 0 && slices.Contains(failed, w.kindOf(candidate)) {
			continue
		}
		end, tried, err := w.try(next, a, candidate)
		if err != nil || end != dead {
			return end, err
		}
		if tried && p.visit != nil {
			failed = append(failed, w.kindOf(candidate))
		}
	}
	if w.view.cluster.rules.invalidPoolsAbort && w.view.invalidPools() {
		return dead, a.abort(PoolInvalid, "a resource pool on the node is invalid, and no device of the others does")
	}
	return dead, nil
}

// try takes one candidate, if it can be taken, and goes on from there.
func (w *walk) try(next position, a *alternative, candidate int) (end ending, tried bool, err error) {
	ok, err := w.eligible(a, candidate)
	if err != nil || !ok {
		return dead, false, w.halts(a, candidate, err)
	}
	kind := 0
	if next.visit != nil {
		kind = w.kindOf(candidate) // as it is before it is taken
	}
	undo, err := w.take(a, candidate)
	if err != nil || undo == nil {
		return dead, false, w.halts(a, candidate, err)
	}
	if next.visit != nil {
		next.visit.pick(kind)
	}
	end, err = w.place(next, candidate+1)
	if err == nil && end == found {
		return found, true, nil
	}
	if next.visit != nil {
		next.visit.unpick(kind)
	}
	w.giveBack(a, candidate, undo)
	return end, true, err
}

// eligible makes the checks that come before a device is taken, in the scheduler's order.
func (w *walk) eligible(a *alternative, candidate int) (bool, error) {
	if w.taken(a, candidate) {
		return false, nil
	}
	ok, err := w.selectable(a, candidate)
	if err != nil || !ok {
		return false, err
	}
	if !w.view.cluster.features.ConsumableCapacity {
		return true, nil
	}
	return w.fitsLeft(a, candidate)
}

// taken reports whether somebody has the device. Admin access only minds its own claim.
func (w *walk) taken(a *alternative, candidate int) bool {
	s := &w.state[candidate]
	persisted := !a.admin && w.view.candidates[candidate].inUse()
	picked := len(s.claims) > 0
	if a.admin {
		picked = slices.Contains(s.claims, a.claim.index)
	}
	if !persisted && !picked {
		return false
	}
	w.reject(a, candidate, DeviceInUse, func(r *Rejection) { r.InQuestion = !persisted })
	return true
}

func (w *walk) interrupted(err error) error {
	if w.ctx.Err() != nil {
		return fmt.Errorf("search interrupted: %w", context.Cause(w.ctx))
	}
	return err
}

func itoa(i int) string { return strconv.Itoa(i) }
