package explain

import (
	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TimeoutRisk says whether the scheduler's search ends before its filter timeout.
type TimeoutRisk string

// The risks.
const (
	// NoTimeout: it ends well before.
	NoTimeout TimeoutRisk = "None"
	// MayTimeOut: that depends on the speed of the machine.
	MayTimeOut TimeoutRisk = "Possible"
	// WouldTimeOut: it takes longer on any machine.
	WouldTimeOut TimeoutRisk = "Exceeded"
)

// SearchCost is what the scheduler's own search costs on the node where it costs most, of those that were
// looked at.
type SearchCost struct {
	Node inspect.NodeName
	// Nodes is the number of nodes that look like it to the question, itself included.
	Nodes int
	Steps allocator.StepCount
	Risk  TimeoutRisk
	// Message says what that means; empty without a risk.
	Message string
}
