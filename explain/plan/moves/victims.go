package moves

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxChoices is the number of choices among the pods of a node up to which all are tried.
	maxChoices = 400
	// maxSpared is the number of pods of a node up to which each is spared once, to see whether it has to
	// leave.
	maxSpared = 16
)

// victims are the pods that have to leave nodes, as the cluster is, so that a candidate fits there: the
// smallest sets for each node, by the index of the node. Since pods take room and give none, whoever fits
// without some pods fits without more of them.
type victims struct {
	*problem
	of   *candidate
	size int // up to which sets are known
	sets [][][]*candidate
	// hopeless are nodes on which the candidate does not even fit once all have left that may, or fits while
	// all stay.
	hopeless []bool
	// needed are the pods of a node that have to leave whatever others do, and relevant others without which
	// there may be more room.
	needed, relevant [][]*candidate
	// partly are nodes with more choices than were tried, from some size on.
	partly []bool
}

// victimsOf finds the sets of pods that have to leave, up to a size.
func (p *problem) victimsOf(ctx context.Context, m *candidate, size int) (*victims, error) {
	v, ok := p.victims[m.key()]
	if !ok {
		n := len(p.nodes)
		v = &victims{
			problem: p, of: m, sets: make([][][]*candidate, n), hopeless: make([]bool, n), partly: make([]bool, n),
			needed: make([][]*candidate, n), relevant: make([][]*candidate, n),
		}
		p.victims[m.key()] = v
		if err := v.findRelevant(ctx); err != nil {
			return nil, err
		}
		if err := v.findNeeded(ctx); err != nil {
			return nil, err
		}
	}
	for v.size < size && !p.spent() {
		if err := v.findSets(ctx, v.size+1); err != nil {
			return nil, err
		}
		v.size++
	}
	return v, nil
}

// findRelevant finds out who is in the way, and where that matters: on each node all leave at once.
func (v *victims) findRelevant(ctx context.Context) error {
	already, err := v.fits(ctx, v.of)
	if err != nil {
		return err
	}
	onlyDevices := func(inspect.NodeName) bool { return true }
	if pod, ok := v.of.subject.(*corev1.Pod); ok {
		prepared := v.base.Filters().Prepare(pod)
		onlyDevices = func(node inspect.NodeName) bool { return len(prepared.On(node).Refusals) == 0 }
	}
	for i, node := range v.nodes {
		if already[i] {
			continue
		}
		all := !onlyDevices(inspect.NodeName(node.Name))
		for _, other := range v.on[i] {
			if all || other.devices > 0 {
				v.relevant[i] = append(v.relevant[i], other)
			}
		}
	}
	fits, err := v.fitsWithout(ctx, func(i int) []*candidate { return v.relevant[i] })
	for i := range fits {
		v.hopeless[i] = !fits[i]
	}
	return err
}

// findNeeded finds out who has to leave in any case: on each node all leave but one.
func (v *victims) findNeeded(ctx context.Context) error {
	for spared := range maxSpared {
		asked := func(i int) bool {
			return !v.hopeless[i] && spared < len(v.relevant[i]) && len(v.relevant[i]) <= maxSpared
		}
		fits, err := v.fitsWithout(ctx, func(i int) []*candidate {
			if !asked(i) {
				return nil
			}
			return slices.Delete(slices.Clone(v.relevant[i]), spared, spared+1)
		})
		if err != nil {
			return err
		}
		for i := range v.nodes {
			if asked(i) && !fits[i] && len(v.relevant[i]) > 1 {
				v.needed[i] = append(v.needed[i], v.relevant[i][spared])
			}
		}
	}
	for i, needed := range v.needed {
		v.relevant[i] = slices.DeleteFunc(v.relevant[i], func(other *candidate) bool { return slices.Contains(needed, other) })
	}
	return nil
}

// findSets finds the sets of one size of which no smaller one is enough.
func (v *victims) findSets(ctx context.Context, size int) error {
	choices := make([][][]int, len(v.nodes))
	most := 0
	for i := range v.nodes {
		n, more := len(v.relevant[i]), size-len(v.needed[i])
		if !v.hopeless[i] && more >= 0 && more <= n {
			if choices[i] = choose(n, more, maxChoices); choices[i] == nil {
				v.partly[i] = true
			}
			most = max(most, len(choices[i]))
		}
	}
	for round := 0; round < most && !v.spent(); round++ {
		pick := func(i int) []*candidate {
			if round >= len(choices[i]) {
				return nil
			}
			out := slices.Clone(v.needed[i])
			for _, at := range choices[i][round] {
				out = append(out, v.relevant[i][at])
			}
			if holdsAny(out, v.sets[i]) {
				return nil
			}
			return out
		}
		fits, err := v.fitsWithout(ctx, pick)
		if err != nil {
			return err
		}
		for i := range v.nodes {
			if fits[i] {
				v.sets[i] = append(v.sets[i], pick(i))
			}
		}
	}
	return nil
}

// fitsWithout asks nodes without some of their pods, all at once: what leaves one node changes nothing on
// another one.
func (v *victims) fitsWithout(ctx context.Context, pick func(node int) []*candidate) ([]bool, error) {
	gone := v.of.holding()
	var nodes []*corev1.Node
	for i, node := range v.nodes {
		leaving := pick(i)
		if len(leaving) == 0 {
			continue
		}
		nodes = append(nodes, node)
		for _, other := range leaving {
			gone = append(gone, other.pod)
		}
	}
	if len(nodes) == 0 {
		return make([]bool, len(v.nodes)), nil
	}
	return v.ask(ctx, without(v.base, gone...), v.of, nodes)
}

// upTo returns the sets of a node up to a size. complete says that there are no larger ones.
func (v *victims) upTo(node, size int) (sets [][]*candidate, complete bool) {
	for _, set := range v.sets[node] {
		if len(set) <= size {
			sets = append(sets, set)
		}
	}
	return sets, v.hopeless[node] || len(v.relevant[node])+len(v.needed[node]) <= size
}

// victimsAfter returns the sets of pods, up to a size, that have to leave a node which steps have changed:
// all that are still there are tried. complete says that there are no larger ones.
func (p *problem) victimsAfter(
	ctx context.Context, m *candidate, node, size int, steps []step,
) (sets [][]*candidate, complete bool, err error) {
	there := slices.DeleteFunc(slices.Clone(p.on[node]), func(other *candidate) bool {
		return other == m || slices.ContainsFunc(steps, func(s step) bool { return s.candidate == other })
	})
	for k := 1; k <= min(size, len(there)); k++ {
		choices := choose(len(there), k, maxChoices)
		p.partly = p.partly || choices == nil
		for _, choice := range choices {
			var set []*candidate
			trial := slices.Clone(steps)
			for _, i := range choice {
				set = append(set, there[i])
				trial = append(trial, step{there[i], -1})
			}
			if holdsAny(set, sets) {
				continue
			}
			fits, err := p.fitsOn(ctx, m, node, trial)
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

// holdsAny reports whether a set holds all of another one.
func holdsAny(set []*candidate, of [][]*candidate) bool {
	return slices.ContainsFunc(of, func(smaller []*candidate) bool {
		return !slices.ContainsFunc(smaller, func(m *candidate) bool { return !slices.Contains(set, m) })
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
