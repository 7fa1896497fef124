package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Joint says whether several pods can be placed together although the scheduler, which takes one after the
// other, may fail to.
type Joint struct {
	// Placement is where each would be, in an order in which the scheduler could place them. It is nil if
	// there is none, or none was found.
	Placement []Placement `json:"placement,omitempty"`
	// Impossible says that there is none, whatever the order and the choice of nodes.
	Impossible bool `json:"impossible,omitempty"`
}

// Placement is a subject on a node.
type Placement struct {
	Subject
	Node inspect.NodeName `json:"node,omitempty"`
}
