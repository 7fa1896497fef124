package conflict

import (
	"cmp"
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// musSearch looks for minimal unsatisfiable sets among the requirements of a node. Requirements are known by
// their indices.
type musSearch struct {
	q            *whatif.Question
	sandbox      *whatif.Sandbox
	requirements []requirement.Listed
	outcomes     map[string]whatif.Outcome // of the tests made so far, by the requirements that were relaxed
}

func newMUSSearch(q *whatif.Question, sandbox *whatif.Sandbox, all []requirement.Listed) *musSearch {
	return &musSearch{q: q, sandbox: sandbox, requirements: all, outcomes: map[string]whatif.Outcome{}}
}

// core is what a search finds. Each requirement is a member of the core, belongs to the background, or is
// relaxed.
type core struct {
	members, background []int
	relaxed             []bool
	unproven            bool
}

// with returns a set of relaxed requirements with more of them relaxed.
func with(relaxed []bool, more ...int) []bool {
	out := slices.Clone(relaxed)
	for _, i := range more {
		out[i] = true
	}
	return out
}

// try asks the allocator with some requirements relaxed, once for each set of them.
func (m *musSearch) try(ctx context.Context, relaxed []bool) whatif.Outcome {
	key := make([]byte, len(relaxed))
	for i, r := range relaxed {
		if r {
			key[i] = 1
		}
	}
	if o, ok := m.outcomes[string(key)]; ok {
		return o
	}
	o := m.sandbox.Try(ctx, m.edits(relaxed))
	m.outcomes[string(key)] = o
	return o
}

// edits returns the edits that relax requirements.
func (m *musSearch) edits(relaxed []bool) []whatif.Edit {
	var out []whatif.Edit
	for i, r := range relaxed {
		if r {
			out = append(out, m.requirements[i].Relaxing())
		}
	}
	return out
}

// minimize returns the core that an order prefers.
func (m *musSearch) minimize(ctx context.Context, order []int) *core {
	c := &core{relaxed: make([]bool, len(m.requirements))}
	m.relax(ctx, c, order)
	m.verify(ctx, c)
	return c
}

// relax is the recursion of QuickXplain. It relaxes as many of the requirements of order as it can without
// making the node fit, and puts the others into the core or its background. The paper passes a flag to spare
// the test of the second half if all of the first was relaxed. Here try remembers the outcome of that test.
func (m *musSearch) relax(ctx context.Context, c *core, order []int) {
	if len(order) == 0 {
		return
	}
	o := m.try(ctx, with(c.relaxed, order...))
	switch {
	case o == whatif.Refused:
		c.relaxed = with(c.relaxed, order...)
	case len(order) > 1:
		m.relax(ctx, c, order[:len(order)/2])
		m.relax(ctx, c, order[len(order)/2:])
	case o == whatif.Aborted:
		c.background = append(c.background, order[0])
	default:
		c.members = append(c.members, order[0])
	}
}

// verify tests again that the node fits without each single member of a core, and aborts without each
// requirement of its background. What is not so is put right until nothing changes. Members are then in the
// order in which the reader expects them.
func (m *musSearch) verify(ctx context.Context, c *core) {
	for again := true; again; {
		again = false
		c.unproven = false
		for _, list := range []*[]int{&c.background, &c.members} {
			for i := 0; i < len(*list); {
				o := m.try(ctx, with(c.relaxed, (*list)[i]))
				again = again || o == whatif.Refused
				if !c.reassign(list, i, o) {
					i++
				}
			}
		}
	}
	slices.SortFunc(c.members, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.requirements[a].Importance, m.requirements[b].Importance), cmp.Compare(a, b))
	})
}

// reassign puts requirement i of a list of the core where the outcome of the test without it says. It reports
// whether the requirement left the list.
func (c *core) reassign(list *[]int, i int, without whatif.Outcome) bool {
	switch at := (*list)[i]; {
	case without == whatif.Refused:
		c.relaxed = with(c.relaxed, at)
	case without == whatif.Aborted && list == &c.members:
		c.background = append(c.background, at)
	case without == whatif.Fits && list == &c.background:
		c.members = append(c.members, at)
	default:
		c.unproven = c.unproven || without == whatif.Undecided
		return false
	}
	*list = slices.Delete(*list, i, i+1)
	return true
}
