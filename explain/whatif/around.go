package whatif

import (
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
)

// AroundEdit changes what is around the pod: nodes, other pods, or volume claims.
type AroundEdit struct {
	suppose.Change
	// Possible says that somebody can do that. Otherwise it says what is in the way.
	Possible bool
}

// Apply makes the change.
func (e AroundEdit) Apply(d *Draft)          { d.around[e.Key()] = e.Make }
func (e AroundEdit) feasible(*Question) bool { return e.Possible }
