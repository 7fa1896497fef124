package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Fit says how many more copies of a claim can be allocated.
type Fit struct {
	Subject Subject
	// Total is the number of copies on all nodes. It is a lower bound if AtLeast is set.
	Total   int
	AtLeast bool
	// Undecided says that it is not known whether any copy is taken at all: the API server may refuse such
	// claims.
	Undecided bool
	// Nodes has an entry for every node that the question was put to, those with most copies first.
	Nodes []NodeFit
	// Partial says what could not be read and what that means for the numbers.
	Partial []string
	Basis   Basis
	// Queue is what the quota of a queue of Kueue allows. It is nil if no queue was asked about.
	Queue *QueueFit
}

// QueueFit is how many more copies of a claim the quota of a LocalQueue allows, alone and together with
// devices.
type QueueFit struct {
	LocalQueue   string `json:"localQueue"`
	ClusterQueue string `json:"clusterQueue,omitempty"`
	// Copies get quota, one after the other and behind what waits already. It is a lower bound if AtLeast is
	// set.
	Copies  int  `json:"copies"`
	AtLeast bool `json:"atLeast,omitempty"`
	// Together get quota and find devices.
	Together int `json:"together"`
	// Limit is why one more gets no quota.
	Limit string `json:"limit,omitempty"`
	// Partial says why the numbers are not certain, a sentence each.
	Partial []string `json:"partial,omitempty"`
}

// NodeFit is the number of copies that fit on one node. It is a lower bound if AtLeast is set.
type NodeFit struct {
	Node    inspect.NodeName
	Copies  int
	AtLeast bool
	// Limit is what keeps one more copy off the node. GivesUp says that the scheduler gives up over it,
	// whatever the other nodes say.
	Limit   Reason
	GivesUp bool
}
