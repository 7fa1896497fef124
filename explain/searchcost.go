package explain

import (
	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TimeoutRisk says whether the scheduler's search ends before its filter timeout.
type TimeoutRisk string

// The risks.
const (
	// NoTimeout means that the search ends well before.
	NoTimeout TimeoutRisk = "None"
	// MayTimeOut means that it depends on the speed of the machine.
	MayTimeOut TimeoutRisk = "Possible"
	// WouldTimeOut means that the search takes longer on any machine.
	WouldTimeOut TimeoutRisk = "Exceeded"
)

// SearchCost is what the scheduler's own search costs on the node where it costs most, of the nodes on
// which the steps were counted.
type SearchCost struct {
	Node inspect.NodeName `json:"node"`
	// Nodes is the number of nodes, with Node itself, that do not differ from it for the question.
	Nodes int `json:"nodes"`
	allocator.StepCount
	Risk TimeoutRisk `json:"timeout"`
	// Message says what the risk means. It is empty if there is none.
	Message string `json:"message,omitempty"`
}
