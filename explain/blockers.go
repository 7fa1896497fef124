package explain

import (
	"context"
	"slices"
)

// maxBlockers is the number of further requirements that are described.
const maxBlockers = 3

// otherBlockers finds out why a fix of several changes needs those that are not about the conflict: each is left out,
// and the node of the conflict asked again.
//
// Example: no GPU has the model that is asked for, and another term reads a field that they lack. The conflict is
// the model alone, but without it the other term makes the scheduler give up, so a fix drops both.
func (s *search) otherBlockers(ctx context.Context, fix *change) ([]Requirement, error) {
	c := s.conflict
	if c == nil || c.Sole || len(fix.edits) < 2 || fix.node != c.Node {
		return nil, nil
	}
	var out []Requirement
	b := s.q.sandboxOf(c.Node)
	all, err := s.lists.on(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, e := range fix.edits {
		r := relaxedBy(all, e)
		if r == nil || slices.Contains(c.keys, r.key()) || len(out) == maxBlockers {
			continue
		}
		o, err := b.try(ctx, slices.DeleteFunc(slices.Clone(fix.edits), func(e edit) bool {
			other := relaxedBy(all, e)
			return other == r || other != nil && inseparable(*r, *other)
		}))
		if err != nil {
			return nil, err
		}
		if o == refused || o == aborted {
			blocker := *r.describe()
			blocker.Fails = o == aborted
			out = append(out, blocker)
		}
	}
	return out, nil
}

// relaxedBy returns the requirement that an edit gives up, or nil if it is not among them.
func relaxedBy(all []listed, e edit) *listed {
	at := slices.IndexFunc(all, func(r listed) bool { return r.key() == e.key() })
	if at < 0 {
		return nil
	}
	return &all[at]
}
