package moves

import (
	"cmp"
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// search looks for plans of a number of moves.
//
// It goes backwards from the target: some pods have to leave a node for it, for each of these others may have
// to leave another node, and so on. Plans with a pod that makes room for nobody are not looked at. So if all
// others are refuted, there is none.
type search struct {
	*problem
	// moves is the number of pods that may be moved in all.
	moves int
	// cut says that more moves could find more.
	cut bool
	// best is the cheapest plan that was found, which costs bestCost.
	best     *trial
	bestCost cost
}

// found takes what was found on. It reports whether the search is over.
type found func(steps []step, node int) (over bool, err error)

// run looks for the cheapest plan of which a trial succeeds.
func (s *search) run(ctx context.Context) error {
	_, err := s.place(ctx, s.target, nil, s.moves, func(steps []step, node int) (bool, error) {
		steps, ok, err := s.settle(ctx, steps, node)
		if err != nil || !ok {
			return false, err
		}
		c := costOf(candidatesOf(steps))
		if s.best != nil && c.compare(s.bestCost) >= 0 {
			return false, nil
		}
		t, err := s.try(ctx, steps, node)
		switch {
		case err != nil:
			return false, err
		case t == nil:
			s.partly = true
		default:
			s.best, s.bestCost, s.left = t, c, min(s.left, fewAsks)
		}
		return false, nil
	})
	return err
}

func candidatesOf(steps []step) []*candidate {
	return words.Each(steps, func(s step) *candidate { return s.candidate })
}

// compare orders costs; the cheapest first.
func (c cost) compare(other cost) int {
	return cmp.Or(
		cmp.Compare(c.pods, other.pods), cmp.Compare(c.highest, other.highest), cmp.Compare(c.sum, other.sum),
		cmp.Compare(other.oldest, c.oldest), cmp.Compare(c.devices, other.devices),
	)
}

// tooDear reports whether a plan of which some pods are known cannot be cheaper than the best.
func (s *search) tooDear(steps []step, more []*candidate) bool {
	if s.best == nil {
		return false
	}
	c := costOf(append(candidatesOf(steps), more...))
	if c.pods < s.bestCost.pods {
		return c.highest > s.bestCost.highest
	}
	return c.compare(s.bestCost) >= 0
}

// place looks for room for a candidate, with so many more moves at most.
func (s *search) place(ctx context.Context, m *candidate, steps []step, budget int, next found) (over bool, err error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	roomy, err := s.roomy(ctx, m)
	if err != nil {
		return true, err
	}
	if roomy {
		return next(append(slices.Clip(steps), step{m, -1}), -1)
	}
	for node := range s.nodes {
		if node == m.from {
			continue
		}
		fits, err := s.fitsOn(ctx, m, node, steps)
		if err != nil {
			return true, err
		}
		if fits {
			if over, err := next(s.with(steps, m, node), node); over || err != nil {
				return over, err
			}
		}
	}
	return s.makeWay(ctx, m, steps, budget, next)
}

// with adds the step of a candidate that is not the target.
func (s *search) with(steps []step, m *candidate, node int) []step {
	if m == s.target {
		return steps
	}
	return append(slices.Clip(steps), step{m, node})
}

// way is a set of pods that has to leave a node.
type way struct {
	node int
	set  []*candidate
	cost cost
}

// makeWay looks for room for a candidate on nodes that others leave for it, the cheapest first.
func (s *search) makeWay(ctx context.Context, m *candidate, steps []step, budget int, next found) (over bool, err error) {
	v, err := s.victimsOf(ctx, m, budget)
	if err != nil {
		return true, err
	}
	var ways []way
	for node := range s.nodes {
		if node == m.from {
			continue
		}
		s.partly = s.partly || v.partly[node]
		sets, complete := v.upTo(node, budget)
		if len(stepsAt(steps, node)) > 0 {
			if sets, complete, err = s.victimsAfter(ctx, m, node, budget, steps); err != nil {
				return true, err
			}
		}
		s.cut = s.cut || !complete
		for _, set := range sets {
			if !slices.Contains(set, m) {
				ways = append(ways, way{node, set, costOf(set)})
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return a.cost.compare(b.cost) })
	for _, w := range ways {
		if s.tooDear(steps, w.set) {
			continue
		}
		over, err := s.inAnyOrder(ctx, w.set, nil, func(order []*candidate) (bool, error) {
			return s.leave(ctx, order, steps, budget-len(order), func(steps []step, _ int) (bool, error) {
				fits, err := s.fitsOn(ctx, m, w.node, steps)
				if err != nil || !fits {
					return err != nil, err
				}
				return next(s.with(steps, m, w.node), w.node)
			})
		})
		if over || err != nil {
			return over, err
		}
	}
	return false, nil
}

// maxOrdered is the number of pods of a node up to which they leave it in every order.
const maxOrdered = 3

// inAnyOrder tries all orders of a few pods, and one of many. Pods that have room wherever others go are not
// told apart.
func (s *search) inAnyOrder(
	ctx context.Context, rest, order []*candidate, try func([]*candidate) (bool, error),
) (over bool, err error) {
	if len(rest) == 0 {
		return try(order)
	}
	if len(rest)+len(order) > maxOrdered {
		s.partly = true
		return try(rest)
	}
	tried := false
	for i, m := range rest {
		roomy, err := s.roomy(ctx, m)
		if err != nil {
			return true, err
		}
		if roomy && tried {
			continue
		}
		tried = tried || roomy
		others := slices.Delete(slices.Clone(rest), i, i+1)
		if over, err := s.inAnyOrder(ctx, others, append(slices.Clip(order), m), try); over || err != nil {
			return over, err
		}
	}
	return false, nil
}

// leave finds other nodes for pods, one after the other.
func (s *search) leave(ctx context.Context, pods []*candidate, steps []step, budget int, next found) (over bool, err error) {
	if len(pods) == 0 {
		return next(steps, -1)
	}
	if slices.ContainsFunc(steps, func(done step) bool { return done.candidate == pods[0] }) {
		return false, nil // it went somewhere for another one
	}
	before := len(steps)
	return s.place(ctx, pods[0], steps, budget, func(steps []step, _ int) (bool, error) {
		if slices.ContainsFunc(steps[before:len(steps)-1], func(done step) bool { return slices.Contains(pods, done.candidate) }) {
			return false, nil
		}
		return s.leave(ctx, pods[1:], steps, budget-(len(steps)-before-1), next)
	})
}

// roomy reports whether a pod finds a node whatever becomes of all others: it fits on more nodes than they
// can touch.
func (s *search) roomy(ctx context.Context, m *candidate) (bool, error) {
	if m == s.target {
		return false, nil
	}
	fits, err := s.fits(ctx, m)
	if err != nil {
		return false, err
	}
	n := 0
	for node, ok := range fits {
		if ok && node != m.from {
			n++
		}
	}
	return n > 2*s.moves+1, nil
}

// settle gives nodes to the pods that have much choice: to each one that nothing else has touched.
func (s *search) settle(ctx context.Context, steps []step, node int) ([]step, bool, error) {
	touched := map[int]bool{node: true}
	for _, st := range steps {
		touched[st.from], touched[st.to] = true, true
	}
	steps = slices.Clone(steps)
	for i := range steps {
		if steps[i].to >= 0 {
			continue
		}
		fits, err := s.fits(ctx, steps[i].candidate)
		if err != nil {
			return nil, false, err
		}
		for n := range s.nodes {
			if fits[n] && !touched[n] {
				steps[i].to, touched[n] = n, true
				break
			}
		}
		if steps[i].to < 0 {
			return nil, false, nil
		}
	}
	return steps, true, nil
}
