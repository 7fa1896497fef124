package plan

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// maxChoices is the number of choices among the pods of a node up to which all are tried.
const maxChoices = 400

// clearings are the pods that have to leave nodes so that a piece fits there: of each node the smallest sets, by the index of the
// node. Since pods take room and give none, whoever fits without some pods fits without more of them.
type clearings struct {
	size int // up to which sets are known
	sets [][][]*piece
	// hopeless are nodes on which the piece does not even fit once all have left that may, or fits while all stay.
	hopeless []bool
	// relevant are the pods of a node without which there may be more room for the piece, but for those that are needed.
	relevant [][]*piece
	// needed are those of them that have to leave whatever others do: it does not fit where all others have left.
	needed [][]*piece
	// partly are nodes with more choices than were tried, from some size on.
	partly []bool
}

// clearingsOf looks for sets up to a size, as the cluster is.
func (a *arena) clearingsOf(ctx context.Context, p *piece, size int) (*clearings, error) {
	c, ok := a.clears[p.key()]
	if !ok {
		c = &clearings{sets: make([][][]*piece, len(a.nodes)), hopeless: make([]bool, len(a.nodes)), partly: make([]bool, len(a.nodes))}
		a.clears[p.key()] = c
		if err := a.lookAtRelevant(ctx, p, c); err != nil {
			return nil, err
		}
	}
	for c.size < size && !a.spent() {
		if err := a.lookForSets(ctx, p, c, c.size+1); err != nil {
			return nil, err
		}
		c.size++
	}
	return c, nil
}

// lookAtRelevant finds out who is in the way, and where that matters: on each node all leave at once.
func (a *arena) lookAtRelevant(ctx context.Context, p *piece, c *clearings) error {
	c.relevant = make([][]*piece, len(a.nodes))
	pod, isPod := p.subject.(*corev1.Pod)
	var prepared *filters.Prepared
	if isPod {
		prepared = a.base.Filters().Prepare(pod)
	}
	already, err := a.fits(ctx, p)
	if err != nil {
		return err
	}
	for i, node := range a.nodes {
		if already[i] {
			continue
		}
		onlyDevices := !isPod
		if isPod {
			onlyDevices = len(prepared.On(inspect.NodeName(node.Name)).Refusals) == 0
		}
		for _, other := range a.on[i] {
			if !onlyDevices || other.devices > 0 {
				c.relevant[i] = append(c.relevant[i], other)
			}
		}
	}
	fits, err := a.layer(ctx, p, func(i int) []*piece { return c.relevant[i] })
	if err != nil {
		return err
	}
	for i := range a.nodes {
		c.hopeless[i] = !fits[i]
	}
	return a.lookAtNeeded(ctx, p, c)
}

// maxSpared is the number of pods of a node up to which each is spared once, to see whether it has to leave.
const maxSpared = 16

// lookAtNeeded finds out who has to leave in any case: on each node all leave but one.
func (a *arena) lookAtNeeded(ctx context.Context, p *piece, c *clearings) error {
	c.needed = make([][]*piece, len(a.nodes))
	for spared := range maxSpared {
		asked := func(i int) bool {
			return !c.hopeless[i] && spared < len(c.relevant[i]) && len(c.relevant[i]) <= maxSpared
		}
		alone := func(i int) bool { return asked(i) && len(c.relevant[i]) == 1 }
		fits, err := a.layer(ctx, p, func(i int) []*piece {
			if !asked(i) {
				return nil
			}
			return slices.Delete(slices.Clone(c.relevant[i]), spared, spared+1)
		})
		if err != nil {
			return err
		}
		for i := range a.nodes {
			if asked(i) && !fits[i] && !alone(i) {
				c.needed[i] = append(c.needed[i], c.relevant[i][spared])
			}
		}
	}
	for i, needed := range c.needed {
		c.relevant[i] = slices.DeleteFunc(c.relevant[i], func(other *piece) bool { return slices.Contains(needed, other) })
	}
	return nil
}

// lookForSets finds the sets of one size, of which no smaller one is enough.
func (a *arena) lookForSets(ctx context.Context, p *piece, c *clearings, size int) error {
	choices := make([][][]int, len(a.nodes))
	most := 0
	for i := range a.nodes {
		n, more := len(c.relevant[i]), size-len(c.needed[i])
		if !c.hopeless[i] && more >= 0 && more <= n {
			if choices[i] = choose(n, more, maxChoices); choices[i] == nil {
				c.partly[i] = true
			}
			most = max(most, len(choices[i]))
		}
	}
	for round := 0; round < most && !a.spent(); round++ {
		pick := func(i int) []*piece {
			if round >= len(choices[i]) {
				return nil
			}
			out := slices.Clone(c.needed[i])
			for _, at := range choices[i][round] {
				out = append(out, c.relevant[i][at])
			}
			if holdsAny(out, c.sets[i]) {
				return nil
			}
			return out
		}
		fits, err := a.layer(ctx, p, pick)
		if err != nil {
			return err
		}
		for i := range a.nodes {
			if fits[i] {
				c.sets[i] = append(c.sets[i], pick(i))
			}
		}
	}
	return nil
}

// layer asks nodes without some of their pods, all at once: what leaves one node says nothing of another one.
func (a *arena) layer(ctx context.Context, p *piece, pick func(node int) []*piece) ([]bool, error) {
	var gone []*corev1.Pod
	var nodes []*corev1.Node
	for i, node := range a.nodes {
		if leaving := pick(i); len(leaving) > 0 {
			nodes = append(nodes, node)
			for _, other := range leaving {
				gone = append(gone, other.pod)
			}
		}
	}
	if len(nodes) == 0 {
		return make([]bool, len(a.nodes)), nil
	}
	return a.ask(ctx, without(a.base, append(gone, p.holding()...)), p, nodes)
}

// holdsAny reports whether a set holds all of another one.
func holdsAny(set []*piece, of [][]*piece) bool {
	return slices.ContainsFunc(of, func(smaller []*piece) bool {
		return !slices.ContainsFunc(smaller, func(p *piece) bool { return !slices.Contains(set, p) })
	})
}

// choose returns all choices of k of n indices. It is nil if these are more than limit.
func choose(n, k, limit int) [][]int {
	var out [][]int
	current := make([]int, 0, k)
	var walk func(from int) bool
	walk = func(from int) bool {
		if len(current) == k {
			out = append(out, slices.Clone(current))
			return len(out) <= limit
		}
		for i := from; i <= n-(k-len(current)); i++ {
			current = append(current, i)
			if !walk(i + 1) {
				return false
			}
			current = current[:len(current)-1]
		}
		return true
	}
	if !walk(0) {
		return nil
	}
	return out
}

// clearing returns the sets, up to a size, that make room for a piece on a node once steps were made. complete says that there
// are no others of the pods that have not moved, of whatever size.
func (a *arena) clearing(ctx context.Context, p *piece, node, size int, steps []step) (sets [][]*piece, complete bool, err error) {
	c, err := a.clearingsOf(ctx, p, size)
	if err != nil {
		return nil, false, err
	}
	if c.partly[node] {
		a.partly = true
	}
	if len(at(steps, node)) == 0 {
		complete = c.hopeless[node] || len(c.relevant[node])+len(c.needed[node]) <= size
		for _, set := range c.sets[node] {
			if len(set) <= size && !slices.Contains(set, p) {
				sets = append(sets, set)
			}
		}
		return sets, complete, nil
	}
	return a.clearingAfter(ctx, p, node, size, steps)
}

// clearingAfter is clearing for a node that has changed: what is relevant there is tried anew.
func (a *arena) clearingAfter(ctx context.Context, p *piece, node, size int, steps []step) (sets [][]*piece, complete bool, err error) {
	var there []*piece
	for _, other := range a.on[node] {
		if other != p && !slices.ContainsFunc(steps, func(s step) bool { return s.piece == other }) {
			there = append(there, other)
		}
	}
	for k := 1; k <= min(size, len(there)); k++ {
		choices := choose(len(there), k, maxChoices)
		if choices == nil {
			a.partly = true
		}
		for _, choice := range choices {
			var set []*piece
			trial := slices.Clone(steps)
			for _, i := range choice {
				set = append(set, there[i])
				trial = append(trial, step{there[i], -1})
			}
			if holdsAny(set, sets) {
				continue
			}
			fits, err := a.fitsOn(ctx, p, node, trial)
			if err != nil {
				return nil, false, err
			}
			if fits {
				sets = append(sets, set)
			}
		}
	}
	return sets, len(there) <= size, nil
}
