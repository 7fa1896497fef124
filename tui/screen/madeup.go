package screen

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// MadeUp returns the priority level or the FlowSchema that a Ref names, if there is no object of it and the API server makes
// it up. As long as no priority level is known, nothing is known of what is made up.
func MadeUp(s *inspect.Snapshot, ref Ref) (Object, bool) {
	limits := flowcontrol.Compute(s.PriorityLevels(), flowcontrol.DefaultServerConcurrency) // which there are does not depend on it
	switch {
	case len(s.PriorityLevels()) == 0:
	case ref.Kind == PriorityLevel:
		if level, ok := limits.Level(ref.Name); ok && level.Assumed {
			return flowcontrol.Mandatory(ref.Name), true
		}
	case ref.Kind == FlowSchema && s.Health(inspect.FlowSchemas).Complete():
		for _, f := range flowcontrol.Schemas(s.Objects().FlowSchemas, &limits) {
			if f.Assumed && f.Object.Name == ref.Name {
				return f.Object, true
			}
		}
	}
	return nil, false
}
