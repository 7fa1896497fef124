package plan

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
)

// Part is something that may be lost by itself: a node, a pool, a device.
type Part struct {
	Name string
	// Lose is its loss, by itself.
	Lose *Event
}

// Weakest is the loss that does most harm: after which most pods run nowhere that run now, or would.
type Weakest struct {
	// Parts are those that are lost together, in the order in which they were given, and Disruption is what becomes of the pods.
	Parts      []Part
	Disruption *explain.Disruption
	// Proven says that no other loss of so many parts does more harm. Otherwise AtMost bounds what others may do.
	Proven bool
	AtMost int
	// Tried is the number of losses that were played.
	Tried int
}

// maxLosses is the number of losses that are played at most.
const maxLosses = 400

// FindWeakest looks for the k parts whose loss together does most harm. lose is their loss together. No loss does more harm than it
// ends pods and there are pods that wait and fit, so losses are played in the order of the pods that they end until the rest cannot
// be worse. Of losses that are as bad the first is taken. The result is nil if there are fewer than k parts.
func FindWeakest(ctx context.Context, c *allocator.Cluster, parts []Part, k int, lose func([]Part) *Event) (*Weakest, error) {
	if k < 1 || k > len(parts) {
		return nil, nil
	}
	order := make([]weighed, len(parts))
	for i := range parts {
		order[i] = weighed{at: i, weight: len(parts[i].Lose.Evicted)}
	}
	slices.SortStableFunc(order, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	without, _, err := unplanned(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &Weakest{}
	queue := newCombinations(order, k)
	for queue.Len() > 0 {
		next := heap.Pop(queue).(combination)
		if out.Disruption != nil && next.weight+len(without.Placed) <= out.Disruption.Harm() {
			out.Proven = true
			return out, nil
		}
		if out.Tried == maxLosses {
			out.AtMost = next.weight + len(without.Placed)
			return out, nil
		}
		out.Tried++
		chosen := queue.parts(next, parts)
		d, err := play(ctx, c, lose(chosen), without)
		if err != nil {
			return nil, err
		}
		if out.Disruption == nil || d.Harm() > out.Disruption.Harm() {
			out.Parts, out.Disruption = chosen, d
		}
		queue.spread(next)
	}
	out.Proven = true
	return out, nil
}

// weighed is a part with the number of pods that its loss ends.
type weighed struct{ at, weight int }

// combination is k positions in the order of weights, ascending.
type combination struct {
	positions []int
	weight    int
}

// combinations yields combinations of parts, the heaviest first. Each is reached once: from the one whose last position that can
// be smaller is smaller by one.
type combinations struct {
	order []weighed
	queue []combination
}

func newCombinations(order []weighed, k int) *combinations {
	first := make([]int, k)
	for i := range first {
		first[i] = i
	}
	c := &combinations{order: order}
	heap.Push(c, c.weigh(first))
	return c
}

func (c *combinations) weigh(positions []int) combination {
	out := combination{positions: positions}
	for _, at := range positions {
		out.weight += c.order[at].weight
	}
	return out
}

// spread adds those that follow a combination: one position is moved on by one, of which all before are still where they began.
func (c *combinations) spread(of combination) {
	for i, at := range of.positions {
		if at+1 < len(c.order) && (i+1 == len(of.positions) || at+1 < of.positions[i+1]) {
			next := slices.Clone(of.positions)
			next[i]++
			heap.Push(c, c.weigh(next))
		}
		if at != i {
			break
		}
	}
}

func (c *combinations) parts(of combination, parts []Part) []Part {
	var at []int
	for _, position := range of.positions {
		at = append(at, c.order[position].at)
	}
	slices.Sort(at)
	out := make([]Part, len(at))
	for i, n := range at {
		out[i] = parts[n]
	}
	return out
}

func (c *combinations) Len() int { return len(c.queue) }

// Less puts heavier ones first, and of equal ones that with the smaller positions.
func (c *combinations) Less(i, j int) bool {
	a, b := &c.queue[i], &c.queue[j]
	return cmp.Or(cmp.Compare(b.weight, a.weight), slices.Compare(a.positions, b.positions)) < 0
}

func (c *combinations) Swap(i, j int) { c.queue[i], c.queue[j] = c.queue[j], c.queue[i] }
func (c *combinations) Push(x any)    { c.queue = append(c.queue, x.(combination)) }
func (c *combinations) Pop() any {
	last := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	return last
}
