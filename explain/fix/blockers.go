package fix

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// maxBlockers is the number of other blockers that are described.
const maxBlockers = 3

// otherBlockers says why a change of several edits needs those that are not about the conflict. Each of them
// is left out, and the node of the conflict is asked again.
//
// Example: no GPU has the model that is asked for, and another term reads a field that they lack. The
// conflict is the model alone, but without it the other term makes the scheduler give up, so a fix drops
// both.
func (s *search) otherBlockers(ctx context.Context, change *requirement.Change) []explain.Requirement {
	c := s.conflict
	if c == nil || c.Sole || len(change.Edits) < 2 || change.Node != c.Node {
		return nil
	}
	var out []explain.Requirement
	b := s.Q.SandboxOf(c.Node)
	all := s.lists.On(ctx, b)
	for _, e := range change.Edits {
		r := relaxedBy(all, e)
		if r == nil || c.Contains(r) || len(out) == maxBlockers {
			continue
		}
		o := b.Try(ctx, slices.DeleteFunc(slices.Clone(change.Edits), func(e whatif.Edit) bool {
			other := relaxedBy(all, e)
			return other == r || other != nil && inseparable(*r, *other)
		}))
		if o == whatif.Refused || o == whatif.Aborted {
			blocker := *r.Describe()
			blocker.Fails = o == whatif.Aborted
			out = append(out, blocker)
		}
	}
	return out
}

// relaxedBy returns the requirement that an edit gives up, or nil if it is not among them.
func relaxedBy(all []requirement.Listed, e whatif.Edit) *requirement.Listed {
	at := slices.IndexFunc(all, func(r requirement.Listed) bool { return r.Key() == e.Key() })
	if at < 0 {
		return nil
	}
	return &all[at]
}
