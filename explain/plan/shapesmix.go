package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

const (
	// maxMixed is the number of shapes of which pairs are tried, and maxPairs how many of these.
	maxMixed, maxPairs = 12, 30
)

// expense is what decides which of two answers is better.
type expense struct {
	price   float64
	nodes   int
	devices int
}

// costOf is what nodes cost. Without a price of each of them they cost more than any with one.
func (s *shaper) costOf(n counts) (c expense, priced bool) {
	priced = true
	for shape, count := range n {
		if count == 0 {
			continue
		}
		c.nodes += count
		c.devices += count * s.shapes[shape].Devices()
		if price := s.shapes[shape].Price; price != nil {
			c.price += *price * float64(count)
		} else {
			priced = false
		}
	}
	return c, priced
}

// cheaper compares what nodes cost: by price where all have one, then by their number, then by their devices.
func (s *shaper) cheaper(a, b counts) int {
	costA, pricedA := s.costOf(a)
	costB, pricedB := s.costOf(b)
	switch {
	case pricedA && pricedB:
		if by := cmp.Compare(costA.price, costB.price); by != 0 {
			return by
		}
	case pricedA:
		return -1
	case pricedB:
		return 1
	}
	return cmp.Or(cmp.Compare(costA.nodes, costB.nodes), cmp.Compare(costA.devices, costB.devices))
}

// mix tries nodes of two shapes together, and keeps the best of them if it is better than those of one shape. Where no two do, it
// tries as many as it takes.
func (s *shaper) mix(ctx context.Context) error {
	var err error
	best, useful := s.bestSingle(), s.useful()
	switch {
	case len(useful) < 2 || s.opts.Max == 1:
		return nil
	case !s.local:
		s.sayUnmixed()
		return nil
	case len(useful) > maxMixed:
		s.out.Untried = append(s.out.Untried, fmt.Sprintf("of %d kinds of nodes that help some pods, mixtures of the first %d were tried", len(useful), maxMixed))
		useful = useful[:maxMixed]
	}
	for _, shape := range useful {
		if err := s.block(ctx, shape); err != nil {
			return err
		}
	}
	var pairs []counts
	for i, a := range useful {
		for _, b := range useful[i+1:] {
			if n := s.enoughOf(a, b); n != nil {
				pairs = append(pairs, n)
			}
		}
	}
	slices.SortStableFunc(pairs, s.cheaper)
	if len(pairs) > maxPairs {
		s.out.Untried = append(s.out.Untried, fmt.Sprintf("of %d mixtures the %d most promising were tried", len(pairs), maxPairs))
		pairs = pairs[:maxPairs]
	}
	for _, n := range pairs {
		n, err := s.lessen(ctx, n)
		if err != nil {
			return err
		}
		if len(n) == 2 && (best == nil || s.cheaper(n, best) < 0) {
			best = n
		}
	}
	if best == nil {
		if best, err = s.cover(ctx, useful); err != nil {
			return err
		}
	}
	if best == nil {
		s.out.Untried = append(s.out.Untried, "not all mixtures were tried: of all kinds of nodes, and in all numbers")
	}
	if len(best) < 2 {
		return nil
	}
	return s.keep(ctx, best)
}

// sayUnmixed says why no mixtures are tried. Of what is not known it is said elsewhere.
func (s *shaper) sayUnmixed() {
	if !slices.ContainsFunc(s.kinds, func(k *podKind) bool { return k.unsure }) {
		s.out.Untried = append(s.out.Untried, "mixtures of two kinds of nodes were not tried: pods depend on more than what is left of their nodes")
	}
}

// cover is a mixture of as many shapes as it takes so that each pod fits on a node of one, of which it is certain that it does. It
// returns nil if there is none up to the limits.
func (s *shaper) cover(ctx context.Context, useful []int) (counts, error) {
	n := counts{}
	left := slices.DeleteFunc(slices.Clone(s.kinds), func(k *podKind) bool { return !slices.Contains(k.onFresh, true) })
	for len(left) > 0 {
		best, most := -1, 0
		for _, shape := range useful {
			held := 0
			for _, kind := range left {
				held += words.Btoi(kind.onFresh[shape])
			}
			if held > most {
				best, most = shape, held
			}
		}
		if best < 0 {
			return nil, nil
		}
		n[best] = s.limit(best)
		left = slices.DeleteFunc(left, func(k *podKind) bool { return k.onFresh[best] })
	}
	for shape := range s.shapes {
		for n[shape] > 1 {
			n[shape]--
			if !s.enough(n) {
				n[shape]++
				break
			}
		}
	}
	if s.opts.Max > 0 && n.total() > s.opts.Max || !s.enough(n) {
		return nil, nil
	}
	return s.lessen(ctx, n)
}

// bestSingle is the best answer of one shape. It is nil if none is certain to do.
func (s *shaper) bestSingle() counts {
	var best counts
	for i := range s.out.Shapes {
		if a := &s.out.Shapes[i]; a.Verdict == explain.ShapeFits {
			if n := (counts{i: a.Parts[0].Count}); best == nil || s.cheaper(n, best) < 0 {
				best = n
			}
		}
	}
	return best
}

// useful are the shapes that hold any pod, the cheapest first.
func (s *shaper) useful() []int {
	var out []int
	for i := range s.shapes {
		if slices.ContainsFunc(s.kinds, func(k *podKind) bool { return k.onFresh[i] }) && !s.shapes[i].Unsure {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return s.cheaper(counts{a: 1}, counts{b: 1}) })
	return out
}

// enoughOf is the cheapest mixture of which it is certain without trying that it does, or nil if there is none up to the limits.
func (s *shaper) enoughOf(a, b int) counts {
	var best counts
	most := len(s.pods)
	if s.opts.Max > 0 {
		most = min(most, s.opts.Max)
	}
	second := s.limit(b)
	for first := 1; first <= s.limit(a); first++ {
		for second > 0 && s.enough(counts{a: first, b: second - 1}) {
			second--
		}
		n := counts{a: first, b: second}
		if second > 0 && first+second <= most && s.enough(n) && (best == nil || s.cheaper(n, best) < 0) {
			best = n
		}
	}
	return best
}

// lessen takes away nodes of a mixture as long as it is certain to do, of the dearer first. What is left of one shape alone is no mixture.
func (s *shaper) lessen(ctx context.Context, n counts) (counts, error) {
	shapes := make([]int, 0, len(n))
	for shape := range n {
		shapes = append(shapes, shape)
	}
	slices.SortFunc(shapes, func(a, b int) int { return cmp.Or(s.cheaper(counts{b: 1}, counts{a: 1}), cmp.Compare(a, b)) })
	for _, shape := range shapes {
		for n[shape] > 1 {
			less := counts{}
			for k, v := range n {
				less[k] = v
			}
			less[shape]--
			state, _, err := s.attempt(ctx, less)
			if err != nil {
				return nil, err
			}
			if state != sure {
				break
			}
			n = less
		}
	}
	return n, nil
}

// keep adds a mixture to the answers, once all pods were placed with it.
func (s *shaper) keep(ctx context.Context, n counts) error {
	a := &explain.ShapeAnswer{Verdict: explain.ShapeFits}
	for i := range s.shapes {
		if n[i] > 0 {
			a.Parts = append(a.Parts, s.part(i, n[i]))
			a.Assumes = cmp.Or(a.Assumes, s.shapes[i].Assumes)
		}
	}
	if err := s.finish(ctx, a, n); err != nil || a.Verdict != explain.ShapeFits {
		return err
	}
	s.out.Shapes = append(s.out.Shapes, *a)
	return nil
}

// rank sorts the answers: those first that are certain to do, then the cheapest.
func (s *shaper) rank() {
	order := map[explain.ShapeVerdict]int{explain.ShapeFits: 0, explain.ShapeMayFit: 1, explain.ShapeUnknown: 2, explain.ShapeFails: 3}
	index := map[string]int{}
	for i := range s.shapes {
		index[s.shapes[i].Name] = i
	}
	countsOf := func(a *explain.ShapeAnswer) counts {
		n := counts{}
		for _, p := range a.Parts {
			n[index[p.Name]] = max(p.Count, 1)
		}
		return n
	}
	slices.SortStableFunc(s.out.Shapes, func(a, b explain.ShapeAnswer) int {
		return cmp.Or(cmp.Compare(order[a.Verdict], order[b.Verdict]), s.cheaper(countsOf(&a), countsOf(&b)))
	})
}
