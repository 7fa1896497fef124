package conflict

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// MaxCandidates is the number of nodes whose conflicts [Nearest] compares.
const MaxCandidates = 8

// Conflict is the conflict of a node, with what the search for fixes asks of it.
type Conflict struct {
	explain.Conflict
	// keys and efforts are those of the requirements, in their order.
	keys    []string
	efforts []int
	lacks   requirement.Shortfall
}

// Contains reports whether a requirement is part of the conflict. The background is not.
func (c *Conflict) Contains(r *requirement.Listed) bool { return slices.Contains(c.keys, r.Key()) }

// Nearest returns the best conflict for the reader of the first [MaxCandidates] nodes. The nodes are those
// that refuse, the nearest first. It returns nil if no conflict is found on any of them.
func Nearest(ctx context.Context, lists *requirement.Lists, nodes []whatif.RankedNode) *Conflict {
	var best *Conflict
	var bestRank []int
	for _, n := range nodes[:min(len(nodes), MaxCandidates)] {
		sandbox := lists.Q.SandboxOf(n.Name)
		if sandbox == nil {
			continue
		}
		if c := On(ctx, lists, sandbox); c != nil {
			if rank := c.rank(n.Score); best == nil || slices.Compare(rank, bestRank) < 0 {
				best, bestRank = c, rank
			}
		}
	}
	return best
}

// On returns the conflict on the node of a sandbox. It returns nil if the node does not refuse, or if the
// scheduler gives up there.
func On(ctx context.Context, lists *requirement.Lists, sandbox *whatif.Sandbox) *Conflict {
	all := lists.On(ctx, sandbox)
	if all == nil {
		return nil
	}
	m := newMUSSearch(lists.Q, sandbox, all)
	best := m.smallest(ctx)
	if best != nil && len(best.members) == 0 {
		m = newMUSSearch(lists.Q, sandbox, lists.WithRequests(ctx, sandbox))
		best = m.smallest(ctx)
	}
	if best == nil || len(best.members) == 0 {
		return nil
	}
	return m.describe(ctx, best)
}

// describe makes a Conflict of a core, and tests which of its requirements help alone.
func (m *musSearch) describe(ctx context.Context, found *core) *Conflict {
	c := &Conflict{Conflict: explain.Conflict{Node: inspect.NodeName(m.sandbox.Node.Name), Unproven: found.unproven, Sole: true}}
	none := make([]bool, len(m.requirements))
	c.lacks = requirement.ShortfallOn(ctx, m.sandbox)
	for _, i := range found.members {
		listed := &m.requirements[i]
		r := *listed.Describe()
		r.Alone = m.try(ctx, with(none, i)) == whatif.Fits
		if l, ok := listed.Relaxable.(requirement.Clarifier); ok {
			r.Actual = l.Clarify(ctx, m.sandbox, m.edits(found.relaxed))
		}
		c.Sole = c.Sole && r.Alone
		c.Requirements = append(c.Requirements, r)
		c.keys, c.efforts = append(c.keys, listed.Key()), append(c.efforts, listed.Effort())
	}
	slices.Sort(found.background)
	for _, i := range found.background {
		c.Background = append(c.Background, *m.requirements[i].Describe())
	}
	return c
}

// rank says how good a conflict is for the reader. The ranks of conflicts are compared number by number, and
// the lowest is the best. In this order, a conflict is better if it is proved, if a single step of the user
// leads out of it, if its node comes nearer, if nothing else is in the way, if the step takes less effort, if
// less is missing on the node, if it has fewer requirements, and if fewer devices have to be released.
func (c *Conflict) rank(score int) []int {
	effort, devices := requirement.OutOfReach, 0
	for i := range c.Requirements {
		if c.Requirements[i].Alone {
			effort = min(effort, c.efforts[i])
		}
		if h := c.Requirements[i].Holder; h != nil {
			devices += len(h.Devices)
		}
	}
	return []int{
		words.Btoi(c.Unproven), words.Btoi(effort == requirement.OutOfReach), -score, words.Btoi(!c.Sole), effort,
		c.lacks.Devices, c.lacks.Capacity, len(c.Requirements), devices,
	}
}
