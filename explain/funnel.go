package explain

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Funnel shows what becomes of the devices that a request sees: at each step some are lost.
type Funnel struct {
	Claim   inspect.ClaimRef
	Request string // "request" or "request/subrequest"
	// Needed is the number of devices that the request needs. If the request is for all devices, it is the
	// number of those that must be taken.
	Needed int
	// All says that the request is for all devices that match.
	All bool
	// Steps begin with the devices that reach the node. Each further step counts those that are left after
	// a check.
	Steps []Step
}

// Step is one step of a funnel.
type Step struct {
	// Name is the check: seen, class, selectors, features, taints, free, capacity, counters or constraints.
	// A last step, together, exists only if enough devices pass every check but cannot be had together.
	Name string
	// Left is the number of devices left on a node. In a group of nodes that differ, Left is the lowest
	// number and Most the highest; otherwise they are equal.
	Left, Most int
	// Total is the number of devices left on all nodes of the group. Those that several nodes reach count for
	// each.
	Total int
	// Lost says why devices were lost at this step, the most frequent first.
	Lost []Loss
}

// Loss is a number of devices lost for one reason.
type Loss struct {
	Code allocator.Code
	// Key distinguishes losses with the same code by what was wanted, however that is worded.
	Key string
	// Count is the lowest number of devices on a node of the group, Most the highest.
	Count, Most int
	// Text says what was wanted, Values what was found instead, the most frequent first.
	Text string
	// Wanted is in short what the devices do not have, or have and should not: the term that is false, if
	// that is a comparison; the taint; the attribute that a constraint is about; the amount of Capacity. It
	// may be empty.
	Wanted string
	// Capacity is the capacity of which there is too little. It is empty if the devices were lost for
	// something else.
	Capacity resourcev1.QualifiedName
	Values   []Value
	// Lacking says that the devices do not have a capacity at all.
	Lacking bool
	// UsedUp says that the devices have enough of a capacity, and that too little of it is left.
	UsedUp bool
	// OtherDriver says that the devices belong to drivers that the class is not about.
	OtherDriver bool
	// Total is the number of devices on all nodes of the group. Devices are these devices; of a large
	// group, those of some of its nodes.
	Total   int
	Devices []inspect.DeviceID
	// Claims are those that hold the devices, or shares of them.
	Claims []Holder
	// Taint is the taint that is not tolerated, and TaintRules the DeviceTaintRules that set it.
	Taint      *resourcev1.DeviceTaint
	TaintRules []TaintRule
}

// Value is something that a check found, with the number of devices in the group for which it did. Key
// distinguishes values and orders them, however they are worded.
type Value struct {
	Key   string
	Text  string
	Count int
}

// Message is the text with the values that were found instead.
func (l *Loss) Message() string {
	values := l.values(func(v Value) string { return v.Text })
	if values == "" {
		return l.Text + SetBy(l.TaintRules)
	}
	return l.Text + ": " + values
}

// Found distinguishes the values that the message gives.
func (l *Loss) Found() string { return l.values(func(v Value) string { return v.Key }) }

// values lists what there is of each value, shortened.
func (l *Loss) values(of func(Value) string) string {
	var values []string
	for _, v := range l.Values {
		switch {
		case v.Key == "":
		case len(l.Values) > 1 && l.Count == l.Total:
			values = append(values, fmt.Sprintf("%s (%d)", of(v), v.Count))
		default:
			values = append(values, of(v))
		}
	}
	return words.Shorten(values, 3)
}
