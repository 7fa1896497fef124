package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Fit says how many more copies of a claim can be allocated.
type Fit struct {
	Subject Subject
	// Total is the number of copies in all; a lower bound when AtLeast is set.
	Total   int
	AtLeast bool
	// Nodes have an entry for every node that was asked about, those with most copies first.
	Nodes   []NodeFit
	Partial []string
	Basis   Basis
}

// NodeFit is the number of copies that fit on one node.
type NodeFit struct {
	Node    inspect.NodeName
	Copies  int
	AtLeast bool
	// Limit is what keeps one more copy off the node.
	Limit Reason
}
