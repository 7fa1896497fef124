package plan

import (
	"cmp"
	"context"
	"slices"
)

// movesearch looks for plans of a number of moves.
//
// It goes backwards from what is to find room: some pods have to leave a node for it, for each of these others may have to leave
// another node, and so on. Plans that no pod is in for anything else are not looked at: to take a pod away that makes room for nobody helps
// nobody. So if all are refuted, there is none.
type movesearch struct {
	*arena
	// moves is the number of pods that may be moved in all.
	moves int
	// cut says that more moves could find more.
	cut  bool
	best []step
	// bestCost is that of best, and node where the target then fits.
	bestCost cost
	node     int
	// verify has the last word about a plan.
	verify func(steps []step, node int) (bool, error)
}

// found takes what was found on. It reports whether the search is over.
type found func(steps []step, node int) (over bool, err error)

// run looks for the cheapest plan.
func (s *movesearch) run(ctx context.Context) error {
	_, err := s.place(ctx, s.target, nil, s.moves, func(steps []step, node int) (bool, error) {
		steps, ok, err := s.settle(ctx, steps, node)
		if err != nil || !ok {
			return false, err
		}
		if c := costOf(piecesOf(steps)); s.best == nil || c.compare(s.bestCost) < 0 {
			ok, err := s.verify(steps, node)
			if err != nil || !ok {
				return false, err
			}
			s.best, s.bestCost, s.node = steps, c, node
		}
		return false, nil
	})
	return err
}

func piecesOf(steps []step) []*piece {
	out := make([]*piece, len(steps))
	for i, s := range steps {
		out[i] = s.piece
	}
	return out
}

// compare orders costs; the cheapest first.
func (c cost) compare(other cost) int {
	return cmp.Or(
		cmp.Compare(c.pods, other.pods), cmp.Compare(c.highest, other.highest), cmp.Compare(c.sum, other.sum),
		cmp.Compare(other.oldest, c.oldest), cmp.Compare(c.devices, other.devices),
	)
}

// hopeless reports whether a plan of which some pods are known cannot be cheaper than the best.
func (s *movesearch) hopeless(steps []step, more []*piece) bool {
	if s.best == nil {
		return false
	}
	c := costOf(append(piecesOf(steps), more...))
	if c.pods < s.bestCost.pods {
		return c.highest > s.bestCost.highest
	}
	return c.compare(s.bestCost) >= 0
}

// place looks for room for a piece, with so many more moves at most.
func (s *movesearch) place(ctx context.Context, p *piece, steps []step, budget int, next found) (over bool, err error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	roomy, err := s.roomy(ctx, p)
	if err != nil {
		return true, err
	}
	if roomy {
		return next(append(slices.Clip(steps), step{p, -1}), -1)
	}
	for node := range s.nodes {
		if node == p.from {
			continue
		}
		fits, err := s.fitsOn(ctx, p, node, steps)
		if err != nil {
			return true, err
		}
		if fits {
			if over, err := next(s.with(steps, p, node), node); over || err != nil {
				return over, err
			}
		}
	}
	return s.makeWay(ctx, p, steps, budget, next)
}

// with adds the step of a piece, but for what is to find room.
func (s *movesearch) with(steps []step, p *piece, node int) []step {
	if p == s.target {
		return steps
	}
	return append(slices.Clip(steps), step{p, node})
}

// way is what has to leave a node.
type way struct {
	node int
	set  []*piece
	cost cost
}

// makeWay looks for room for a piece on nodes that others leave for it, the cheapest first.
func (s *movesearch) makeWay(ctx context.Context, p *piece, steps []step, budget int, next found) (over bool, err error) {
	var ways []way
	for node := range s.nodes {
		if node == p.from {
			continue
		}
		sets, complete, err := s.clearing(ctx, p, node, budget, steps)
		if err != nil {
			return true, err
		}
		s.cut = s.cut || !complete
		for _, set := range sets {
			ways = append(ways, way{node, set, costOf(set)})
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return a.cost.compare(b.cost) })
	for _, w := range ways {
		if s.hopeless(steps, w.set) {
			continue
		}
		over, err := s.inAnyOrder(ctx, w.set, nil, func(order []*piece) (bool, error) {
			return s.leave(ctx, order, steps, budget-len(order), func(steps []step, _ int) (bool, error) {
				fits, err := s.fitsOn(ctx, p, w.node, steps)
				if err != nil || !fits {
					return err != nil, err
				}
				return next(s.with(steps, p, w.node), w.node)
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

// inAnyOrder tries all orders of a few pods, and one of many. Who has room wherever others go is not told apart.
func (s *movesearch) inAnyOrder(ctx context.Context, rest, order []*piece, try func([]*piece) (bool, error)) (over bool, err error) {
	if len(rest) == 0 {
		return try(order)
	}
	if len(rest)+len(order) > maxOrdered {
		s.partly = s.partly || len(order) == 0
		return try(rest)
	}
	tried := false
	for i, p := range rest {
		roomy, err := s.roomy(ctx, p)
		if err != nil {
			return true, err
		}
		if roomy && tried {
			continue
		}
		tried = tried || roomy
		others := slices.Delete(slices.Clone(rest), i, i+1)
		if over, err := s.inAnyOrder(ctx, others, append(slices.Clip(order), p), try); over || err != nil {
			return over, err
		}
	}
	return false, nil
}

// leave finds other nodes for pods, one after the other.
func (s *movesearch) leave(ctx context.Context, pods []*piece, steps []step, budget int, next found) (over bool, err error) {
	if len(pods) == 0 {
		return next(steps, -1)
	}
	if slices.ContainsFunc(steps, func(done step) bool { return done.piece == pods[0] }) {
		return false, nil // it went somewhere for another one
	}
	before := len(steps)
	return s.place(ctx, pods[0], steps, budget, func(steps []step, _ int) (bool, error) {
		if slices.ContainsFunc(steps[before:len(steps)-1], func(done step) bool { return slices.Contains(pods, done.piece) }) {
			return false, nil
		}
		return s.leave(ctx, pods[1:], steps, budget-(len(steps)-before-1), next)
	})
}

// roomy reports whether a piece finds a node whatever becomes of all others: it fits on more nodes than they can touch.
func (s *movesearch) roomy(ctx context.Context, p *piece) (bool, error) {
	if p == s.target {
		return false, nil
	}
	fits, err := s.fits(ctx, p)
	if err != nil {
		return false, err
	}
	n := 0
	for node, ok := range fits {
		if ok && node != p.from {
			n++
		}
	}
	return n > 2*s.moves+1, nil
}

// settle gives nodes to the pieces that have much choice: each one that nothing else has touched.
func (s *movesearch) settle(ctx context.Context, steps []step, node int) ([]step, bool, error) {
	touched := map[int]bool{node: true}
	for _, st := range steps {
		touched[st.from], touched[st.to] = true, true
	}
	steps = slices.Clone(steps)
	for i := range steps {
		if steps[i].to >= 0 {
			continue
		}
		fits, err := s.fits(ctx, steps[i].piece)
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
