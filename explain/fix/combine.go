package fix

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/conflict"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// combineChanges proposes changes that help only together, if nothing else helps that is in the reach of the
// user, or only more changes than these. Of the nodes that have the score of the conflict's node, they are
// those for the node where they cost least and leave most devices.
func (s *search) combineChanges(ctx context.Context) {
	fewest := s.fewestInReach()
	if s.conflict == nil || fewest > 0 && (fewest <= 2 || s.conflict.Sole) {
		return
	}
	var best *requirement.Change
	tried := 0
	for _, n := range s.Q.Near {
		if n.Score < s.Q.Near[0].Score || tried == conflict.MaxCandidates {
			continue // the first is the node of the conflict
		}
		tried++
		c := s.combineOn(ctx, s.Q.SandboxOf(n.Name))
		if c != nil && (best == nil || cmp.Or(cmp.Compare(c.Cost, best.Cost), cmp.Compare(devicesAsked(best.Edits), devicesAsked(c.Edits))) < 0) {
			best = c
		}
	}
	if best = s.endingFewest(ctx, best); best == nil || fewest > 0 && (len(best.Edits) >= fewest || !inReach(best)) {
		return
	}
	s.changes = append(s.changes, *best)
	s.moveConflict(ctx, best.Node)
}

// maxMoved is the number of nodes that are tried one after the other because fewer pods have to end for the
// next.
const maxMoved = 3

// endingFewest returns changes that end no pod for nothing: where one could stay since the question then fits
// on some other node, those for that node. It is nil if none are found.
func (s *search) endingFewest(ctx context.Context, c *requirement.Change) *requirement.Change {
	for range maxMoved {
		if c == nil {
			return nil
		}
		node := s.fitsWithFewer(ctx, c.Edits)
		if node == "" {
			return c
		}
		c = s.combineOn(ctx, s.Q.SandboxOf(node))
	}
	return nil
}

// fitsWithFewer is a node on which the question fits although one of the pods stays that the edits end. It is
// "" if there is none.
func (s *search) fitsWithFewer(ctx context.Context, edits []whatif.Edit) inspect.NodeName {
	for _, fewer := range endingFewer(s.Q.Cluster.Snapshot(), edits) {
		if node := s.Q.FittingWith(ctx, fewer, "").First(); node != "" {
			return node
		}
	}
	return ""
}

// endingFewer are the edits without one of the pods that they end, for each of these.
func endingFewer(s *inspect.Snapshot, edits []whatif.Edit) [][]whatif.Edit {
	var out [][]whatif.Edit
	for i, e := range edits {
		var pods []inspect.PodRef
		switch e := e.(type) {
		case whatif.EndPodsEdit:
			pods = e.Pods
		case whatif.ReleaseEdit:
			if pods = suppose.EndedBy(s, e.Claim); len(pods) > suppose.MaxSpared {
				continue
			}
		}
		for k := range pods {
			var rest []whatif.Edit
			if len(pods) > 1 {
				rest = []whatif.Edit{whatif.EndPodsEdit{Pods: slices.Delete(slices.Clone(pods), k, k+1)}}
			}
			if fewer := slices.Replace(slices.Clone(edits), i, i+1, rest...); len(fewer) > 0 {
				out = append(out, fewer)
			}
		}
	}
	return out
}

// moveConflict takes the conflict of the node that the fix is for, if it says no less than the other one.
// Then both are about the same node.
func (s *search) moveConflict(ctx context.Context, node inspect.NodeName) {
	b := s.Q.SandboxOf(node)
	if node == s.conflict.Node || b == nil {
		return
	}
	c, old := conflict.On(ctx, s.lists, b), s.conflict
	if c != nil && c.Unproven == old.Unproven && c.Sole == old.Sole && len(c.Requirements) <= len(old.Requirements) {
		s.conflict = c
	}
}

// devicesAsked is the number of devices that changed counts ask for.
func devicesAsked(edits []whatif.Edit) int64 {
	sum := int64(0)
	for _, e := range edits {
		if c, ok := e.(whatif.CountEdit); ok {
			sum += c.Count
		}
	}
	return sum
}

// combineOn returns changes that help on the node and of which none can be left out, as one change. It
// returns nil if there are none.
func (s *search) combineOn(ctx context.Context, b *whatif.Sandbox) *requirement.Change {
	if b == nil {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(s.lists.On(ctx, b)), func(r requirement.Listed) bool {
		return !s.Q.Feasible(r.Relaxing())
	})
	if b.Try(ctx, relaxingEdits(all)) != whatif.Fits {
		return nil
	}
	// The dearest are put back first. Of equal ones, a user can do least about the first.
	steps := groupInseparable(all)
	slices.SortStableFunc(steps, func(a, b []requirement.Listed) int { return b[0].Price() - a[0].Price() })
	return s.join(ctx, b, slices.Concat(withoutSuperfluous(ctx, b, steps)...))
}

// withoutSuperfluous leaves out steps as long as the rest helps. To relax more may also hurt, so a step that
// was needed may no longer be once another one is left out, and each is tried again until all are needed.
func withoutSuperfluous(ctx context.Context, b *whatif.Sandbox, steps [][]requirement.Listed) [][]requirement.Listed {
	for again := true; again; {
		again = false
		for i := 0; i < len(steps); {
			fewer := slices.Delete(slices.Clone(steps), i, i+1)
			if b.Try(ctx, relaxingEdits(slices.Concat(fewer...))) == whatif.Fits {
				steps, again = fewer, true
				continue
			}
			i++
		}
	}
	return steps
}

// relaxingEdits are the edits that give up requirements, as they can be carried out: for a claim to have no
// devices, those who use it have to end.
func relaxingEdits(all []requirement.Listed) []whatif.Edit {
	var out []whatif.Edit
	for i := range all {
		e := all[i].Relaxing()
		if free, ok := e.(whatif.FreeDevicesEdit); ok {
			e = whatif.ReleaseEdit(free)
		}
		out = append(out, e)
	}
	return out
}

// groupInseparable puts requirements into groups that can only be given up together, such as a term of a
// class for all requests that ask for the class.
func groupInseparable(all []requirement.Listed) [][]requirement.Listed {
	var out [][]requirement.Listed
	for i := range all {
		at := slices.IndexFunc(out, func(group []requirement.Listed) bool { return inseparable(group[0], all[i]) })
		if at < 0 {
			out = append(out, all[i:i+1:i+1])
			continue
		}
		out[at] = append(out[at], all[i])
	}
	return out
}

// inseparable reports whether two requirements can only be given up together.
func inseparable(a, b requirement.Listed) bool {
	x, ok := a.Relaxable.(requirement.Inseparable)
	return ok && x.InseparableFrom(b.Relaxable)
}

// join makes one change of giving up several requirements, each as little as possible. The cheapest come
// first. It is nil if one of them is nothing to give up.
func (s *search) join(ctx context.Context, b *whatif.Sandbox, all []requirement.Listed) *requirement.Change {
	slices.SortStableFunc(all, func(a, b requirement.Listed) int { return a.Price() - b.Price() })
	c := &requirement.Change{Node: inspect.NodeName(b.Node.Name), Cost: requirement.CostSeveral}
	together := &requirement.Combination{Question: s.Q, On: b, Edits: relaxingEdits(all)}
	var parts, keys []string
	for i := range all {
		if i > 0 && inseparable(all[i-1], all[i]) {
			continue // the part before is for all requests
		}
		p := all[i].Combine(ctx, together, i)
		switch {
		case p.Kind == "":
			return nil // it cannot be given up in any way that somebody would want
		case c.Kind == "":
			c.Kind = p.Kind
		case p.Kind != c.Kind && !slices.Contains(c.Also, p.Kind):
			c.Also = append(c.Also, p.Kind)
		}
		parts, keys = append(parts, p.Message), append(keys, p.Key)
		c.Cost += all[i].Price()
	}
	c.Edits, c.Claims, c.Pods = together.Edits, together.Released, together.Ended
	c.Message, c.Key = strings.Join(parts, ", and "), strings.Join(keys, "\n")
	return c
}
