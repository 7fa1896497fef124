package cycle

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

// Of says whether a member of a row is placed.
func (r *Result) Of(entity, member int) Certainty { return r.certainty(&r.Fates[entity][member]) }

// Met says whether enough members of an entity find room.
func (r *Result) Met(entity int) Certainty { return r.certainty(&r.Groups[entity]) }

func (r *Result) certainty(f *Fate) Certainty {
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
