package explain

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Changes that help only together.

// combine puts together changes that help only together, if nothing else helps that is within the reach of the user:
// on one of the nodes that come no less near than that of the conflict, where they cost least and leave most devices.
func (s *search) combine(ctx context.Context) error {
	if s.conflict == nil || s.foundWithin() {
		return nil
	}
	var best *change
	tried := 0
	for _, n := range s.near {
		if n.score < s.near[0].score || tried == maxCandidates {
			continue // the first is the node of the conflict
		}
		tried++
		c, err := s.combineOn(ctx, s.q.sandboxOf(n.name))
		if err != nil {
			return err
		}
		if c != nil && (best == nil || cmp.Or(cmp.Compare(c.cost, best.cost), cmp.Compare(devicesAsked(best.edits), devicesAsked(c.edits))) < 0) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	s.changes = append(s.changes, *best)
	return s.moveConflict(ctx, best.node)
}

// moveConflict takes the conflict of the node on which the fix is, when it says no less: then both are about one
// node.
func (s *search) moveConflict(ctx context.Context, node inspect.NodeName) error {
	if node == s.conflict.Node {
		return nil
	}
	c, err := s.lists.conflictOn(ctx, s.q.sandboxOf(node))
	if err != nil || c == nil {
		return err
	}
	if old := s.conflict; c.Unproven == old.Unproven && c.Sole == old.Sole && len(c.Requirements) <= len(old.Requirements) {
		s.conflict = c
	}
	return nil
}

// devicesAsked is the number of devices that changed counts ask for.
func devicesAsked(edits []edit) int64 {
	sum := int64(0)
	for _, e := range edits {
		if c, ok := e.(countEdit); ok {
			sum += c.count
		}
	}
	return sum
}

// combineOn finds changes of which none can be left out on the node. It returns nil when there are none.
func (s *search) combineOn(ctx context.Context, b *sandbox) (*change, error) {
	if b == nil {
		return nil, nil
	}
	all, err := s.lists.on(ctx, b)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(r listed) bool { return !s.q.feasible(r.relaxing()) })
	if o, err := b.try(ctx, relaxingEdits(all)); err != nil || o != fits {
		return nil, err
	}
	// The dearest are put back first. They are in the order of how little a user can do about them.
	steps := separable(all)
	slices.SortStableFunc(steps, func(a, b []listed) int { return b[0].price(s.q) - a[0].price(s.q) })
	for i := 0; i < len(steps); {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		o, err := b.try(ctx, relaxingEdits(slices.Concat(fewer...)))
		if err != nil {
			return nil, err
		}
		if o == fits {
			steps = fewer
			continue
		}
		i++
	}
	return s.join(ctx, b, slices.Concat(steps...))
}

func relaxingEdits(all []listed) []edit {
	var out []edit
	for i := range all {
		out = append(out, all[i].relaxing())
	}
	return out
}

// separable puts together what can only be given up together: a term of a class, for all requests that ask for it.
func separable(all []listed) [][]listed {
	var out [][]listed
	for i := range all {
		at := slices.IndexFunc(out, func(step []listed) bool { return inseparable(step[0], all[i]) })
		if at < 0 {
			out = append(out, all[i:i+1:i+1])
			continue
		}
		out[at] = append(out[at], all[i])
	}
	return out
}

// inseparable reports whether two requirements can only be given up together.
func inseparable(a, b listed) bool {
	x, ok := a.requirement.(interface{ inseparable(requirement) bool })
	return ok && x.inseparable(b.requirement)
}

// join makes one change of several, each as small as it can be. The cheapest come first.
func (s *search) join(ctx context.Context, b *sandbox, all []listed) (*change, error) {
	slices.SortStableFunc(all, func(a, b listed) int { return a.price(s.q) - b.price(s.q) })
	c := &change{node: inspect.NodeName(b.node.Name), cost: costSeveral}
	together := &combination{clusterSandbox: s.clusterSandbox, on: b, edits: relaxingEdits(all)}
	var parts, keys []string
	for i := range all {
		if i > 0 && inseparable(all[i-1], all[i]) {
			continue // said for all requests
		}
		p, err := all[i].combine(ctx, together, i)
		if err != nil {
			return nil, err
		}
		switch {
		case c.kind == "":
			c.kind = p.kind
		case p.kind != c.kind && !slices.Contains(c.also, p.kind):
			c.also = append(c.also, p.kind)
		}
		parts, keys = append(parts, p.message), append(keys, p.key)
		c.cost += all[i].price(s.q)
	}
	c.edits, c.claims = together.edits, together.released
	c.message, c.key = strings.Join(parts, ", and "), strings.Join(keys, "\n")
	return c, nil
}
