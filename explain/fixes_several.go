package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Changes that help only together.

// several puts together changes that help only together, on one of the nodes that come no less near than that of
// the conflict: where they cost least and leave most devices.
func (s *search) several(ctx context.Context) error {
	if s.conflict == nil {
		return nil
	}
	var best *change
	tried := 0
	for _, n := range s.near {
		if n.near < s.near[0].near || tried == maxCandidates {
			continue // the first is the node of the conflict
		}
		tried++
		c, err := s.severalOn(ctx, s.q.localOf(n.name))
		if err != nil {
			return err
		}
		if c != nil && (best == nil || cmp.Or(cmp.Compare(c.cost, best.cost), cmp.Compare(counts(best.edits), counts(c.edits))) < 0) {
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
	c, err := s.q.localOf(node).conflictOn(ctx)
	if err != nil || c == nil {
		return err
	}
	if old := s.conflict; c.Unproven == old.Unproven && c.Sole == old.Sole && len(c.Requirements) <= len(old.Requirements) {
		s.conflict = c
	}
	return nil
}

// counts is the number of devices that changed counts ask for.
func counts(edits []edit) int64 {
	sum := int64(0)
	for i := range edits {
		sum += edits[i].count
	}
	return sum
}

// severalOn finds changes of which none can be left out on the node. nil: there are none.
func (s *search) severalOn(ctx context.Context, l *local) (*change, error) {
	if l == nil {
		return nil, nil
	}
	atoms, err := l.requirements(ctx)
	if err != nil {
		return nil, err
	}
	atoms = slices.DeleteFunc(slices.Clone(atoms), func(a atom) bool { return !s.q.changeable(&a.edit) })
	if o, err := l.try(ctx, editsOf(atoms)); err != nil || o != fits {
		return nil, err
	}
	// The dearest are put back first. They are in the order of how little a user can do about them.
	steps := stepsOf(atoms)
	slices.SortStableFunc(steps, func(a, b []atom) int { return s.price(&b[0]) - s.price(&a[0]) })
	for i := 0; i < len(steps); {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		o, err := l.try(ctx, editsOf(slices.Concat(fewer...)))
		if err != nil {
			return nil, err
		}
		if o == fits {
			steps = fewer
			continue
		}
		i++
	}
	return s.join(ctx, l, slices.Concat(steps...))
}

func editsOf(atoms []atom) []edit {
	var out []edit
	for i := range atoms {
		out = append(out, atoms[i].edit)
	}
	return out
}

// stepsOf puts together what can only be changed together: a term of a class, for all requests that ask for it.
func stepsOf(atoms []atom) [][]atom {
	var out [][]atom
	for i := range atoms {
		at := slices.IndexFunc(out, func(step []atom) bool { return sameClassTerm(&step[0], &atoms[i]) })
		if at < 0 {
			out = append(out, atoms[i:i+1:i+1])
			continue
		}
		out[at] = append(out[at], atoms[i])
	}
	return out
}

// sameClassTerm reports whether both are the same term of the same class, for whichever requests.
func sameClassTerm(a, b *atom) bool {
	return a.Kind == ClassTermRequired && b.Kind == ClassTermRequired && a.Path == b.Path && a.edit.term == b.edit.term
}

// price says what it costs to drop a requirement.
func (s *search) price(a *atom) int {
	switch a.Kind {
	case HeldRequired:
		return s.releaseCost([]inspect.ClaimRef{a.edit.claim})
	case ClassTermRequired:
		return costClassTerm
	case FeatureRequired:
		return costFeature
	case PoolRequired:
		return costDevices
	case TaintRequired:
		return costTolerate
	case CountRequired:
		return costCount
	}
	return costDrop
}

// join makes one change of several, with counts as high as they can be.
func (s *search) join(ctx context.Context, l *local, atoms []atom) (*change, error) {
	slices.SortStableFunc(atoms, func(a, b atom) int { return s.price(&a) - s.price(&b) })
	c := &change{node: inspect.NodeName(l.node.Name), cost: costSeveral, edits: editsOf(atoms)}
	for i := range c.edits {
		if c.edits[i].kind != editCount {
			continue
		}
		most, err := s.mostDevices(ctx, c.edits[i].at)
		if err != nil {
			return nil, err
		}
		for c.edits[i].count < most {
			next := slices.Clone(c.edits)
			next[i].count++
			if o, err := l.try(ctx, next); err != nil || o != fits {
				if err != nil {
					return nil, err
				}
				break
			}
			c.edits = next
		}
	}
	var parts []string
	for i := range atoms {
		a := &atoms[i]
		if i > 0 && sameClassTerm(&atoms[i-1], a) {
			continue // said for all requests
		}
		kind, text := s.words(ctx, a, &c.edits[i])
		if a.Kind == TermRequired {
			accepted, err := s.acceptOn(ctx, l, c.edits, i, a)
			if err != nil {
				return nil, err
			}
			text = cmp.Or(accepted, text)
		}
		switch {
		case c.kind == "":
			c.kind = kind
		case kind != c.kind && !slices.Contains(c.also, kind):
			c.also = append(c.also, kind)
		}
		if a.Kind == HeldRequired {
			c.claims = append(c.claims, a.edit.claim)
		}
		parts = append(parts, text)
		c.cost += s.price(a)
	}
	c.message = strings.Join(parts, ", and ")
	return c, nil
}

// acceptOn puts the nearest value with which the edits together still help in the place of the term that one of
// them drops, and says so; "" when there is none.
func (s *search) acceptOn(ctx context.Context, l *local, edits []edit, at int, a *atom) (string, error) {
	c := s.q.comparison(ctx, a.Term)
	if c == nil {
		return "", nil
	}
	for _, v := range s.q.nearestValues(c) {
		tried := slices.Clone(edits)
		tried[at].expression = c.with(v)
		o, err := l.try(ctx, tried)
		if err != nil {
			return "", err
		}
		if o == fits {
			edits[at] = tried[at]
			return s.acceptInstead(a, c, v), nil
		}
	}
	return "", nil
}

// words say what dropping a requirement is as a fix.
func (s *search) words(ctx context.Context, a *atom, e *edit) (FixKind, string) {
	switch a.Kind {
	case CountRequired:
		return ReduceCount, fmt.Sprintf("ask for %s%s", count(int(e.count), "device"), s.forRequest(a))
	case TermRequired:
		return RelaxSelector, "drop from the selector" + s.forRequest(a) + ": " + s.q.brief(ctx, a.Term)
	case ClassTermRequired:
		return RelaxSelector, s.dropFromClass(ctx, a)
	case ConstraintRequired:
		return DropConstraint, "drop the constraint: " + a.Message
	case CapacityRequired:
		if e.amount != nil {
			return ReduceCapacity, fmt.Sprintf("ask for the least of %s%s", e.capacity, s.forRequest(a))
		}
		return ReduceCapacity, fmt.Sprintf("ask for no particular amount of %s%s", e.capacity, s.forRequest(a))
	case TaintRequired:
		return TolerateTaint, fmt.Sprintf("tolerate the taint %s:%s%s", e.toleration.Key, e.toleration.Effect, s.forRequest(a))
	case HeldRequired:
		return ReleaseClaim, "release " + e.claim.String()
	case FeatureRequired:
		return EnableFeature, "turn on the feature gate " + gateNames(e.gates)
	}
	return AddDevices, "have the driver publish the missing slices of pool " + e.pool.String()
}
