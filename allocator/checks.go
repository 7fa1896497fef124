package allocator

import (
	"maps"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// undo says what has to be reversed when a device is given back.
type undo struct {
	groups      []groupUndo
	counters    bool
	constraints int
	picked      bool // as a whole
	shared      bool
	consumed    map[resourcev1.QualifiedName]resource.Quantity // of the candidate before the share
	recorded    bool
}

// check is one condition that a device must meet to be taken, beyond being eligible. It records in
// the undo what it changes. The error aborts the pod.
type check func(w *walk, a *alternative, candidate int, u *undo) (bool, error)

// takeChecks are the checks in the scheduler's order, which decides what is reported and whether an
// error is reached.
var takeChecks = []check{
	(*walk).checkTaken,
	(*walk).checkShares,
	(*walk).checkNodeOperations,
	(*walk).checkPartitionable,
	(*walk).checkGroups,
	(*walk).checkCounters,
	(*walk).checkTaints,
	(*walk).checkConstraints,
	(*walk).checkCapacity,
}

// take checks the candidate and, if all is well, records it as picked. It returns nil when the device
// cannot be taken; then nothing has changed.
func (w *walk) take(a *alternative, candidate int) (*undo, error) {
	u := &undo{}
	for i, check := range takeChecks {
		ok, err := check(w, a, candidate, u)
		if err != nil || !ok {
			if w.view.cluster.rules.leaks {
				w.leak(a, candidate, u, i == len(takeChecks)-1)
			}
			w.giveBack(a, candidate, u)
			return nil, err
		}
	}
	w.record(a, candidate, u)
	return u, nil
}

// record marks the device as picked.
func (w *walk) record(a *alternative, candidate int, u *undo) {
	c, s := &w.view.candidates[candidate], &w.state[candidate]
	p := pick{alternative: a, candidate: candidate}
	if c.shareable {
		p.consumed = w.consumptionOf(a, candidate).amounts
		u.shared, u.consumed = true, s.consumed
		s.shares++
		s.marked = true
		s.consumed = sum(s.consumed, p.consumed)
		if w.pruner != nil {
			s.taken = append(s.taken, uint64(w.shareNumber(p)))
		}
	} else {
		s.claims = append(s.claims, a.claim.index)
		u.picked = true
	}
	w.picks[a.claim.index] = append(w.picks[a.claim.index], p)
	u.recorded = true
}

// leak makes that what a refused device has reserved stays reserved; see rules.leaks. The device itself is
// reserved only when the last check is made, that of capacity.
func (w *walk) leak(a *alternative, candidate int, u *undo, last bool) {
	u.counters = false
	if !last {
		return
	}
	u.constraints = 0
	if s := &w.state[candidate]; !w.view.candidates[candidate].shareable {
		s.claims = append(s.claims, a.claim.index)
	}
}

// giveBack undoes what the undo records, in reverse order.
func (w *walk) giveBack(a *alternative, candidate int, u *undo) {
	c, s := &w.view.candidates[candidate], &w.state[candidate]
	if u.recorded {
		picks := &w.picks[a.claim.index]
		*picks = (*picks)[:len(*picks)-1]
	}
	if u.shared {
		s.shares--
		if w.view.cluster.rules.leaks {
			if len(s.consumed) > 0 {
				s.marked = takesSomething(u.consumed)
			}
			u.counters = false
		}
		s.consumed = u.consumed
		if w.pruner != nil {
			s.taken = s.taken[:len(s.taken)-1]
		}
	}
	if u.picked {
		s.claims = s.claims[:len(s.claims)-1]
	}
	for i := u.constraints - 1; i >= 0; i-- {
		w.constraints[a.claim.index][i].remove(a)
	}
	if u.counters {
		c.pool.counters.remove(c.device)
	}
	w.leaveGroups(c.pool, u.groups)
}

// takesSomething reports whether any amount is not zero.
func takesSomething(amounts map[resourcev1.QualifiedName]resource.Quantity) bool {
	for _, q := range amounts {
		if !q.IsZero() {
			return true
		}
	}
	return false
}

func sum(a, b map[resourcev1.QualifiedName]resource.Quantity) map[resourcev1.QualifiedName]resource.Quantity {
	out := maps.Clone(a)
	if out == nil {
		out = make(map[resourcev1.QualifiedName]resource.Quantity, len(b))
	}
	for name, q := range b {
		total := out[name].DeepCopy()
		total.Add(q)
		out[name] = total
	}
	return out
}

// checkTaken matters for "all": its candidates may have been taken. For others this was checked before.
func (w *walk) checkTaken(a *alternative, candidate int, _ *undo) (bool, error) {
	return !a.all || !w.taken(a, candidate), nil
}

// checkShares refuses the whole of a device of which others have a part; see rules.sharesBlock.
func (w *walk) checkShares(a *alternative, candidate int, _ *undo) (bool, error) {
	c := &w.view.candidates[candidate]
	if !w.view.cluster.rules.sharesBlock || a.admin || c.shareable || c.usage == nil || !c.usage.shared {
		return true, nil
	}
	w.reject(a, candidate, DeviceInUse, nil)
	return false, nil
}

// checkNodeOperations matters for variants that know devices that do without node operations.
func (w *walk) checkNodeOperations(a *alternative, candidate int, _ *undo) (bool, error) {
	cluster := w.view.cluster
	if !cluster.rules.nodeOperations || len(w.view.candidates[candidate].slice.Spec.SkipNodeOperations) == 0 {
		return true, nil
	}
	if !cluster.features.OptionalNodeOperations {
		w.reject(a, candidate, FeatureDisabled, func(r *Rejection) { r.Feature = inspect.GateOptionalNodeOperations })
		return false, nil
	}
	if !w.view.declaresNodeOperations {
		w.reject(a, candidate, NodeUnsuitable, func(r *Rejection) { r.Feature = inspect.GateOptionalNodeOperations })
		return false, nil
	}
	return true, nil
}

func (w *walk) checkPartitionable(a *alternative, candidate int, _ *undo) (bool, error) {
	if w.view.cluster.features.PartitionableDevices || len(w.view.candidates[candidate].device.ConsumesCounters) == 0 {
		return true, nil
	}
	w.reject(a, candidate, FeatureDisabled, func(r *Rejection) { r.Feature = inspect.GatePartitionableDevices })
	return false, nil
}

// draws reports whether taking the device would draw on counter sets. A further share of a device
// draws nothing: its counters are charged once.
func (w *walk) draws(candidate int) bool {
	c := &w.view.candidates[candidate]
	if len(c.device.ConsumesCounters) == 0 {
		return false
	}
	r := &w.view.cluster.rules
	inUse := w.state[candidate].shares > 0
	if r.leaks {
		inUse = w.state[candidate].marked
	}
	if c.usage != nil {
		inUse = inUse || c.usage.consumed != nil || c.usage.shared && !r.sharesNeedCapacity
	}
	return !c.shareable || !inUse
}

func (w *walk) checkGroups(a *alternative, candidate int, u *undo) (bool, error) {
	if !w.view.cluster.features.CompatibilityGroups || !w.draws(candidate) {
		return true, nil
	}
	var ok bool
	u.groups, ok = w.joinGroups(a, candidate)
	return ok, nil
}

func (w *walk) checkCounters(a *alternative, candidate int, u *undo) (bool, error) {
	if !w.draws(candidate) {
		return true, nil
	}
	if a.all && w.view.cluster.rules.allCrashesOnCounters {
		abort := a.abort(SchedulerCrash, "asks for all devices, and device %s consumes counters: kube-scheduler %s crashes here",
			w.view.candidates[candidate].id, w.view.cluster.snapshot.Release())
		abort.Device = w.view.candidates[candidate].id
		return false, abort
	}
	u.counters = w.reserveCounters(a, candidate)
	return u.counters, nil
}

func (w *walk) checkTaints(a *alternative, candidate int, _ *undo) (bool, error) {
	if !w.view.cluster.features.DeviceTaints {
		return true, nil
	}
	taint := untolerated(w.view.candidates[candidate].device.Taints, a.tolerations, w.view.cluster.rules.unknownTaints)
	if taint == nil {
		return true, nil
	}
	w.reject(a, candidate, DeviceTainted, func(r *Rejection) { r.Taint = taint })
	return false, nil
}

func (w *walk) checkConstraints(a *alternative, candidate int, u *undo) (bool, error) {
	for _, c := range w.constraints[a.claim.index] {
		code, err := c.add(w, a, candidate)
		if err != nil {
			return false, err
		}
		if code == "" {
			u.constraints++
			continue
		}
		w.reject(a, candidate, code, func(r *Rejection) { r.Constraint = c.index })
		if a.all {
			id := w.view.candidates[candidate].id
			abort := a.abort(code, "cannot add device %s because a claim constraint would not be satisfied", id)
			abort.Device = id
			return false, abort
		}
		return false, nil
	}
	return true, nil
}

// checkCapacity matters for "all"; for others the capacity was checked before.
func (w *walk) checkCapacity(a *alternative, candidate int, _ *undo) (bool, error) {
	if !a.all || !w.view.cluster.features.ConsumableCapacity {
		return true, nil
	}
	return w.fitsLeft(a, candidate)
}
