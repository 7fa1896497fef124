package explain

import (
	"slices"
	"time"

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

// The search of kube-scheduler costs more than that of package allocator, since it does not prune. A question
// that is decided here at once may keep the scheduler busy until its filter times out.

// FilterTimeout is how long kube-scheduler searches for devices on one node, unless its configuration says
// otherwise (DynamicResourcesArgs.filterTimeout).
const FilterTimeout = 10 * time.Second

// stepAtLeast and stepAtMost bound what one step of the scheduler's search takes. On the machines where that
// was measured it took 0.5 to 4 microseconds with up to 64 devices on a node, and 17 with 500. The bounds
// leave room for other machines.
const (
	stepAtLeast = 200 * time.Nanosecond
	stepAtMost  = 10 * time.Microsecond
)

// ManySteps is the number of steps up to which a search is never too long for the scheduler. The allocator
// searches as the scheduler does up to there, so a result of fewer steps needs no counting.
const ManySteps = 256

// RiskOfTimeout says whether the filter of a scheduler with the features may time out during so many steps.
func RiskOfTimeout(f inspect.Features, n allocator.StepCount) TimeoutRisk {
	switch {
	case !f.Enabled(inspect.GateSchedulerFilterTimeout):
		return NoTimeout
	case n.Steps > int64(FilterTimeout/stepAtLeast):
		return WouldTimeOut
	case n.Steps > int64(FilterTimeout/stepAtMost):
		return MayTimeOut
	}
	return NoTimeout
}

// TimeoutIsError reports whether the scheduler gives up the whole pod when its filter times out on a node.
// Before Kubernetes 1.36 it only does without the node.
func TimeoutIsError(f inspect.Features) bool { return f.Minor <= 0 || f.Minor >= 36 }

// OrWorse returns the greater of two risks.
func (r TimeoutRisk) OrWorse(other TimeoutRisk) TimeoutRisk {
	order := []TimeoutRisk{"", NoTimeout, MayTimeOut, WouldTimeOut}
	return order[max(slices.Index(order, r), slices.Index(order, other))]
}
