package replay

import (
	"github.com/kubectl-dra/kubectl-dra/explain"
)

// Certainty is what all runs together say.
type Certainty int

// The certainties.
const (
	// Unclear means that not all runs were looked at.
	Unclear Certainty = iota
	// Always means that it happens in every run, Never that it happens in none.
	Always
	Never
	// Depends means that it happens in some runs and not in others.
	Depends
)

// About says whether the member of a subject is placed.
func (r *Result) About(subject explain.Subject) Certainty {
	at, ok := r.at[subject]
	if !ok {
		return Unclear
	}
	return r.Of(at[0], at[1])
}

// Of says whether a member of a queue is placed.
func (r *Result) Of(entity, member int) Certainty { return r.certainty(&r.Outcomes[entity][member]) }

// Met says whether enough members of an entity find room.
func (r *Result) Met(entity int) Certainty { return r.certainty(&r.Groups[entity]) }

func (r *Result) certainty(f *Outcome) Certainty {
	switch {
	case f.Placed != nil && f.Waits != nil:
		return Depends
	case r.Open && !f.Proven:
		return Unclear
	case f.Placed != nil:
		return Always
	}
	return Never
}
