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
// that refuse, the nearest first. It returns nil if no conflict is found on any of them. The error is that of
// the context, or one of the allocator that is no abort.
func Nearest(ctx context.Context, lists *requirement.Lists, nodes []whatif.RankedNode) (*Conflict, error) {
	var best *Conflict
	var bestRank []int
	for _, n := range nodes[:min(len(nodes), MaxCandidates)] {
		sandbox := lists.Q.SandboxOf(n.Name)
		if sandbox == nil {
			continue
		}
		c, err := On(ctx, lists, sandbox)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if rank := c.rank(n.Score); best == nil || slices.Compare(rank, bestRank) < 0 {
			best, bestRank = c, rank
		}
	}
	return best, nil
}

// On returns the conflict on the node of a sandbox. It returns nil if the node does not refuse, or if the
// scheduler gives up there. Errors are those of [Nearest].
func On(ctx context.Context, lists *requirement.Lists, sandbox *whatif.Sandbox) (*Conflict, error) {
	all, err := lists.On(ctx, sandbox)
	if err != nil || all == nil {
		return nil, err
	}
	m := newMUSSearch(lists.Q, sandbox, all)
	best, err := m.smallest(ctx)
	if err != nil || best == nil {
		return nil, err
	}
	if len(best.members) == 0 {
		if all, err = lists.WithRequests(ctx, sandbox); err != nil {
			return nil, err
		}
		m = newMUSSearch(lists.Q, sandbox, all)
		if best, err = m.smallest(ctx); err != nil || best == nil || len(best.members) == 0 {
			return nil, err
		}
	}
	return m.describe(ctx, best)
}

// describe makes a Conflict of a core, and tests which of its requirements help alone.
func (m *musSearch) describe(ctx context.Context, found *core) (*Conflict, error) {
	c := &Conflict{Conflict: explain.Conflict{Node: inspect.NodeName(m.sandbox.Node.Name), Unproven: found.unproven, Sole: true}}
	none := make([]bool, len(m.requirements))
	var err error
	if c.lacks, err = requirement.ShortfallOn(ctx, m.sandbox); err != nil {
		return nil, err
	}
	for _, i := range found.members {
		listed := &m.requirements[i]
		r := *listed.Describe()
		o, err := m.try(ctx, with(none, i))
		if err != nil {
			return nil, err
		}
		if l, ok := listed.Relaxable.(requirement.Clarifier); ok {
			if r.Actual, err = l.Clarify(ctx, m.sandbox, m.edits(found.relaxed)); err != nil {
				return nil, err
			}
		}
		r.Alone = o == whatif.Fits
		c.Sole = c.Sole && r.Alone
		c.Requirements = append(c.Requirements, r)
		c.keys, c.efforts = append(c.keys, listed.Key()), append(c.efforts, listed.Effort(m.q))
	}
	slices.Sort(found.background)
	for _, i := range found.background {
		c.Background = append(c.Background, *m.requirements[i].Describe())
	}
	return c, nil
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
