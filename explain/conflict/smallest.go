package conflict

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

const (
	// maxRetried is the size of a core up to which smaller ones are looked for.
	maxRetried = 8
	// maxSets is the number of smaller sets up to which all are tried.
	maxSets = 400
)

// smallest returns the smallest core that it finds, the first of several. It minimizes in a few orders. As
// long as that helps, it then tries to do without one of the members and, where they are few, all smaller
// sets. It returns nil if the node does not refuse after all.
func (m *musSearch) smallest(ctx context.Context) *core {
	if m.try(ctx, make([]bool, len(m.requirements))) != whatif.Refused {
		return nil
	}
	var best *core
	for _, order := range m.orders() {
		c := m.minimize(ctx, order)
		if best == nil || len(c.members) < len(best.members) {
			best = c
		}
		if len(best.members) <= 1 {
			return best
		}
	}
	for smaller := best; smaller != nil && len(smaller.members) <= maxRetried; {
		best = smaller
		if smaller = m.withoutOne(ctx, best); smaller == nil {
			smaller = m.exhaust(ctx, best)
		}
	}
	return best
}

// orders are those in which requirements are relaxed: first what a user can do least about; the same, but
// what belongs to others last; and first what a user can do most about, so that facts about the cluster
// remain.
func (m *musSearch) orders() [][]int {
	order := func(key func(r *requirement.Listed) int) []int {
		out := make([]int, len(m.requirements))
		for i := range out {
			out[i] = i
		}
		slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(key(&m.requirements[i]), key(&m.requirements[j])) })
		return out
	}
	othersLast := func(r *requirement.Listed) int {
		if r.OfOthers {
			return len(requirement.Kinds)
		}
		return r.Rank
	}
	return [][]int{
		order(func(r *requirement.Listed) int { return r.Rank }),
		order(othersLast),
		order(func(r *requirement.Listed) int { return -r.Rank }),
	}
}

// withoutOne looks for a smaller core by relaxing one member of another first. It returns nil if it finds
// none.
func (m *musSearch) withoutOne(ctx context.Context, than *core) *core {
	none := make([]bool, len(m.requirements))
	for _, k := range than.members {
		if m.try(ctx, with(none, k)) == whatif.Fits {
			continue // it is part of every conflict
		}
		for _, order := range m.orders() {
			order = slices.Insert(slices.DeleteFunc(order, func(i int) bool { return i == k }), 0, k)
			if c := m.minimize(ctx, order); len(c.members) > 0 && len(c.members) < len(than.members) {
				return c
			}
		}
	}
	return nil
}

// exhaust tries all sets of requirements that have one requirement less than a core, those first that a user
// can do most about. What helps alone is part of every conflict, so only the rest is varied. A still smaller
// core is part of such a set. It returns nil if there is none, or if there are more than maxSets sets.
func (m *musSearch) exhaust(ctx context.Context, than *core) *core {
	none := make([]bool, len(m.requirements))
	relaxed := with(none)
	for i := range relaxed {
		relaxed[i] = !slices.Contains(than.background, i)
	}
	size := len(than.members) - 1
	for _, k := range than.members {
		if m.try(ctx, with(none, k)) == whatif.Fits {
			relaxed[k] = false
			size--
		}
	}
	var rest []int
	for i, r := range relaxed {
		if r {
			rest = append(rest, i)
		}
	}
	if size < 0 || new(big.Int).Binomial(int64(len(rest)), int64(size)).Cmp(big.NewInt(maxSets)) > 0 {
		return nil
	}
	slices.SortStableFunc(rest, func(i, j int) int { return m.requirements[j].Rank - m.requirements[i].Rank })
	return m.refusedSet(ctx, than, relaxed, rest, size)
}

// refusedSet looks for size requirements of rest with which, put in force, the node refuses, and minimizes
// that set. It returns nil if none gives a smaller core.
func (m *musSearch) refusedSet(ctx context.Context, than *core, relaxed []bool, rest []int, size int) *core {
	if size > 0 {
		for i := range rest {
			chosen := with(relaxed)
			chosen[rest[i]] = false
			if c := m.refusedSet(ctx, than, chosen, rest[i+1:], size-1); c != nil {
				return c
			}
		}
		return nil
	}
	if m.try(ctx, relaxed) != whatif.Refused {
		return nil
	}
	c := &core{relaxed: relaxed, background: slices.Clone(than.background)}
	for i, r := range relaxed {
		if !r && !slices.Contains(than.background, i) {
			c.members = append(c.members, i)
		}
	}
	if m.verify(ctx, c); len(c.members) == 0 || len(c.members) >= len(than.members) {
		return nil
	}
	return c
}
