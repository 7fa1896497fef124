package commit

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A DeviceConflict is something that claims hold more of than there is: a device that belongs to two of them,
// a share too many, a counter that is overdrawn.
type DeviceConflict struct {
	// Device is the one that a claim of the run holds.
	Device inspect.DeviceID
	// With are the other claims, sorted.
	With []inspect.ClaimRef
}

// ledger is what claims hold, or are announced to hold, of the devices.
type ledger struct {
	devices map[inspect.DeviceID]*resourcev1.Device
	slices  map[inspect.PoolID][]*resourcev1.ResourceSlice
	holders map[inspect.DeviceID][]inspect.Holder
}

// newLedger books the holders of devices. The devices themselves are those of the snapshot.
func newLedger(s *inspect.Snapshot, claims []*resourcev1.ResourceClaim) *ledger {
	l := &ledger{
		devices: map[inspect.DeviceID]*resourcev1.Device{}, slices: map[inspect.PoolID][]*resourcev1.ResourceSlice{},
		holders: map[inspect.DeviceID][]inspect.Holder{},
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			h := inspect.Holder{Claim: inspect.RefOf(claim), Result: r}
			if !h.Admin() {
				id := inspect.DeviceOf(r)
				l.holders[id] = append(l.holders[id], h)
			}
		}
	}
	for _, slice := range inspect.NewestSlices(s.Objects().Slices) {
		id := inspect.PoolOf(slice)
		l.slices[id] = append(l.slices[id], slice)
		for i := range slice.Spec.Devices {
			l.devices[inspect.DeviceIDOf(slice, i)] = &slice.Spec.Devices[i]
		}
	}
	return l
}

// conflicts returns what is wrong with the devices of some claims, which are ours.
func (l *ledger) conflicts(ours map[inspect.ClaimRef]bool) []DeviceConflict {
	var out []DeviceConflict
	for id, holders := range l.holders {
		if !slices.ContainsFunc(holders, func(h inspect.Holder) bool { return ours[h.Claim] }) {
			continue
		}
		with := l.overShared(id, holders)
		with = append(with, l.overdrawn(id)...)
		with = slices.DeleteFunc(with, func(ref inspect.ClaimRef) bool { return ours[ref] })
		if len(with) > 0 {
			slices.SortFunc(with, inspect.ClaimRef.Compare)
			out = append(out, DeviceConflict{Device: id, With: slices.Compact(with)})
		}
	}
	slices.SortFunc(out, func(a, b DeviceConflict) int { return a.Device.Compare(b.Device) })
	return out
}

// overShared returns the holders of a device if they cannot all hold it. Shares of a device that is no
// longer shareable do not keep others off it, as they do not in the scheduler.
func (l *ledger) overShared(id inspect.DeviceID, holders []inspect.Holder) []inspect.ClaimRef {
	if len(holders) < 2 {
		return nil
	}
	refs := make([]inspect.ClaimRef, len(holders))
	exclusive := 0
	sums := map[resourcev1.QualifiedName]resource.Quantity{}
	for i, h := range holders {
		refs[i] = h.Claim
		if !h.Shared() {
			exclusive++
		}
		for name, q := range h.Result.ConsumedCapacity {
			sum := sums[name].DeepCopy()
			sum.Add(q)
			sums[name] = sum
		}
	}
	device := l.devices[id]
	shareable := device == nil || device.AllowMultipleAllocations != nil && *device.AllowMultipleAllocations
	if exclusive > 1 || exclusive == 1 && shareable {
		return refs
	}
	if device == nil {
		return nil // the driver took it back: nothing to compare with
	}
	for name, sum := range sums {
		if capacity, ok := device.Capacity[name]; ok && sum.Cmp(capacity.Value) > 0 {
			return refs
		}
	}
	return nil
}

// overdrawn returns the holders of all devices that draw on a counter of the device, if there is one of
// which they draw more than there is. However many share a device, it draws once.
func (l *ledger) overdrawn(id inspect.DeviceID) []inspect.ClaimRef {
	device := l.devices[id]
	if device == nil || len(device.ConsumesCounters) == 0 {
		return nil
	}
	left, drawers := inspect.CounterLevels{}, map[inspect.CounterID][]inspect.ClaimRef{}
	for _, slice := range l.slices[id.PoolID()] {
		for i := range slice.Spec.SharedCounters {
			left.Refill(&slice.Spec.SharedCounters[i])
		}
	}
	for other, holders := range l.holders {
		if other.PoolID() != id.PoolID() || l.devices[other] == nil {
			continue
		}
		left.Take(l.devices[other])
		for counter := range inspect.Consumption(l.devices[other]) {
			for _, h := range holders {
				drawers[counter] = append(drawers[counter], h.Claim)
			}
		}
	}
	var out []inspect.ClaimRef
	for counter := range inspect.Consumption(device) {
		if rest, ok := left[counter]; !ok || rest.Sign() < 0 {
			out = append(out, drawers[counter]...)
		}
	}
	return out
}
