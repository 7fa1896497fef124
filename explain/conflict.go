package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Conflict is a set of requirements that cannot hold together on a node, and of which none is superfluous.
// Package conflict says exactly what that means.
type Conflict struct {
	Node         inspect.NodeName
	Requirements []Requirement
	// Background are requirements without which the scheduler gives up with an error. They are taken as
	// given.
	Background []Requirement
	// Sole says that to drop any one of the requirements, and nothing else, is enough on this node. If it is
	// false, that is so only for the requirements that are marked Alone.
	Sole bool
	// Unproven says that a search was given up on the way, so that one of the requirements may be
	// superfluous.
	Unproven bool
}
