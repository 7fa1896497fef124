package allocator

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Observer is told what a search refuses. It is called on the goroutine of the search and must not
// keep the Rejection's pointers beyond the life of the snapshot. A search without an observer does no
// work for it.
type Observer interface {
	// Reject is called each time a candidate fails a check.
	Reject(Rejection)
}

// Rejection says which check a device failed, for which request, and on account of what. Only the
// fields that belong to the code are set.
type Rejection struct {
	Code Code
	// Claim, Request and Sub are the indices of the claim in the question, the request in the claim
	// and the subrequest in the request (0 for a plain request).
	Claim, Request, Sub int
	Device              inspect.DeviceID
	// Selector is the number of the selector (ClassSelectorRejected, SelectorRejected, SelectorError).
	Selector int
	// FromClass says that the selector is one of the DeviceClass (SelectorError).
	FromClass bool
	// Constraint is the number of the claim's constraint (AttributeMissing and the two conflicts).
	Constraint int
	// Taint is the taint that is not tolerated (DeviceTainted).
	Taint *resourcev1.DeviceTaint
	// Capacity is the name of the capacity (CapacityInsufficient, CapacityPolicyViolated).
	Capacity resourcev1.QualifiedName
	// CounterSet and Counter name the counter that would be overdrawn (CountersExhausted), or the
	// counter set (CompatibilityGroupConflict).
	CounterSet, Counter string
	// Overdrawn says that the counter is overdrawn already, whatever this device needs (CountersExhausted).
	Overdrawn bool
	// Needed and Available are amounts of a capacity or counter: what the device would take, and what
	// is left (CapacityInsufficient, CountersExhausted). Available is nil when the device does not
	// have the capacity at all; negative amounts are possible.
	Needed, Available *resource.Quantity
	// InQuestion says that the device is taken by another request of the same question, not by a claim that
	// is allocated already (DeviceInUse).
	InQuestion bool
	// Feature names the gate that is off (FeatureDisabled).
	Feature inspect.Gate
	// Err is the compile or run-time error (SelectorError).
	Err error
}

// reject reports a failed check to the observer, if there is one. The fill function, if any, adds the
// details; it only runs when somebody listens.
func (w *walk) reject(a *alternative, candidate int, code Code, fill func(*Rejection)) {
	if w.observer == nil {
		return
	}
	r := Rejection{
		Code: code, Claim: a.claim.index, Request: a.request.index, Sub: a.sub,
		Device: w.view.candidates[candidate].id,
	}
	if fill != nil {
		fill(&r)
	}
	w.observer.Reject(r)
}
