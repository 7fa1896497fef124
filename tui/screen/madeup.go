package screen

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// MadeUp returns the priority level that a Ref names, if there is no object of it and the API server makes
// it up. As long as no priority level is known, nothing is known of what is made up.
func MadeUp(s *inspect.Snapshot, ref Ref) (Object, bool) {
	if ref.Kind != PriorityLevel || len(s.PriorityLevels()) == 0 {
		return nil, false
	}
	limits := flowcontrol.Compute(s.PriorityLevels(), flowcontrol.DefaultServerConcurrency) // which there are does not depend on it
	level, ok := limits.Level(ref.Name)
	return flowcontrol.Mandatory(ref.Name), ok && level.Assumed
}
