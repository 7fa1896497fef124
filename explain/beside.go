package explain

import (
	"context"
	"slices"
)

// maxBeside is the number of further requirements that are described.
const maxBeside = 3

// besides finds out why a fix of several changes needs those that are not about the conflict: each is left out, and
// the node of the conflict asked again.
//
// Example: no GPU has the model that is asked for, and another term reads a field that they lack. The conflict is
// the model alone, but without it the other term makes the scheduler give up, so a fix drops both.
func (s *search) besides(ctx context.Context, fix *change) ([]Requirement, error) {
	c := s.conflict
	if c == nil || c.Sole || len(fix.edits) < 2 || fix.world != nil || fix.node != c.Node {
		return nil, nil
	}
	var out []Requirement
	l := s.q.localOf(c.Node)
	atoms, err := l.requirements(ctx)
	if err != nil {
		return nil, err
	}
	for i := range fix.edits {
		a := atomOf(atoms, &fix.edits[i])
		if a == nil || slices.Contains(c.keys, a.edit.key()) || len(out) == maxBeside {
			continue
		}
		o, err := l.try(ctx, slices.DeleteFunc(slices.Clone(fix.edits), func(e edit) bool {
			other := atomOf(atoms, &e)
			return other == a || other != nil && sameClassTerm(a, other)
		}))
		if err != nil {
			return nil, err
		}
		if o == refused || o == aborted {
			r := a.Requirement
			r.Fails = o == aborted
			out = append(out, r)
		}
	}
	return out, nil
}

// atomOf returns the requirement that an edit relaxes; nil: it is not among them.
func atomOf(atoms []atom, e *edit) *atom {
	at := slices.IndexFunc(atoms, func(a atom) bool { return a.edit.key() == e.key() })
	if at < 0 {
		return nil
	}
	return &atoms[at]
}
