package inspect

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DeviceState says in one word whether a device can be had.
type DeviceState string

// The states. The first that applies counts, in the order Allocated, Unreachable, Tainted, Partial,
// Blocked, Free. Claims with admin access take nothing, so they change no state. How states are counted says
// [DeviceCount].
const (
	// DeviceFree means that nothing is taken of the device.
	DeviceFree DeviceState = "Free"
	// DeviceAllocated means that a claim holds the whole device, or shares have used up one of its
	// capacities.
	DeviceAllocated DeviceState = "Allocated"
	// DevicePartial means that claims hold shares of it, and something is left.
	DevicePartial DeviceState = "Partial"
	// DeviceBlocked means that nobody holds it, but other devices use so much of the counters that it draws
	// on that not enough is left for it.
	DeviceBlocked DeviceState = "Blocked"
	// DeviceTainted means that a taint keeps off claims that do not tolerate it.
	DeviceTainted DeviceState = "Tainted"
	// DeviceUnreachable means that no node can use it, because its pool is obsolete, incomplete or invalid,
	// or because it is offered to no node that exists.
	DeviceUnreachable DeviceState = "Unreachable"
	// DeviceUnknown means that nothing takes the device as far as can be seen, but that not all claims could
	// be read. Lists show it in place of Free.
	DeviceUnknown DeviceState = "Unknown"
)

// DeviceStatus is a device and who holds it.
type DeviceStatus struct {
	ID DeviceID
	// Slice is the ResourceSlice that publishes the device, with effective taints, and Device the entry in
	// it.
	Slice  *resourcev1.ResourceSlice
	Device *resourcev1.Device
	// Node is the node that the device is tied to. It is empty if it is not tied to one by name.
	Node  NodeName
	State DeviceState
	// Note says in one line why the state is Blocked or Unreachable, where that does not follow from
	// the holders.
	Note string
	// Holders are sorted by claim.
	Holders []Holder
	// Used is how much of its capacities shares hold.
	Used map[resourcev1.QualifiedName]resource.Quantity
}

// Devices returns every device that is published, each once, sorted by driver, pool and name. Of a
// device that several slices publish, one that a node can use comes first, then the newest generation.
func (s *Snapshot) Devices() []DeviceStatus { return s.devices(s.reach()) }

func (s *Snapshot) devices(r *reach) []DeviceStatus {
	n := 0
	for _, info := range s.slices {
		n += len(info.slice.Spec.Devices)
	}
	out := make([]DeviceStatus, 0, n)
	for id := range s.poolIDs() {
		out = s.appendDevices(out, r, id)
	}
	return out
}

// appendDevices appends the devices of a pool, sorted by name.
func (s *Snapshot) appendDevices(out []DeviceStatus, r *reach, pool PoolID) []DeviceStatus {
	infos := s.slicesOfPool(pool)
	unique := len(infos) == 1 && infos[0].duplicate == ""
	type found struct {
		at     int
		usable bool
	}
	known := map[string]found{}
	start := len(out)
	for _, info := range infos {
		for i := range info.slice.Spec.Devices {
			if unique {
				out = append(out, s.deviceStatus(r, info, i))
				continue
			}
			name, usable := info.slice.Spec.Devices[i].Name, r.usable(info.slice, i)
			have, dup := known[name]
			switch {
			case !dup:
				known[name] = found{len(out), usable}
				out = append(out, s.deviceStatus(r, info, i))
			case supersedes(info.slice, usable, out[have.at].Slice, have.usable):
				known[name] = found{have.at, usable}
				out[have.at] = s.deviceStatus(r, info, i)
			}
		}
	}
	sortUnlessSorted(out[start:], func(a, b DeviceStatus) int { return strings.Compare(a.ID.Device, b.ID.Device) })
	return out
}

func supersedes(slice *resourcev1.ResourceSlice, usable bool, have *resourcev1.ResourceSlice, haveUsable bool) bool {
	if usable != haveUsable {
		return usable
	}
	return slice.Spec.Pool.Generation > have.Spec.Pool.Generation
}

func (s *Snapshot) deviceStatus(r *reach, info *sliceInfo, i int) DeviceStatus {
	device := &info.slice.Spec.Devices[i]
	d := DeviceStatus{ID: DeviceIDOf(info.slice, i), Slice: info.slice, Device: device, Node: deviceNode(info, i), State: DeviceFree}
	d.Holders = s.Holders(d.ID)
	whole, shares := d.addHolders(s.config.Features.Enabled(GateConsumableCapacity))
	switch short := s.shortCounter(r, d.ID, device); {
	case whole || d.exhausted():
		d.State = DeviceAllocated
	case !r.usable(info.slice, i):
		d.State, d.Note = DeviceUnreachable, s.whyUnreachable(r, info)
	case slices.ContainsFunc(device.Taints, repels) && s.config.Features.Enabled(GateDeviceTaints):
		d.State = DeviceTainted
	case shares:
		d.State = DevicePartial
	case short != nil:
		d.State = DeviceBlocked
		d.Note = fmt.Sprintf("%s of %s: too little left", short.Counter, short.Set)
	}
	return d
}

func deviceNode(info *sliceInfo, i int) NodeName {
	name := info.slice.Spec.NodeName
	if isTrue(info.slice.Spec.PerDeviceNodeSelection) {
		name = info.slice.Spec.Devices[i].NodeName
	}
	if name == nil {
		return ""
	}
	return NodeName(*name)
}

// addHolders sums up what the holders take. While shares are not known to the scheduler, whoever holds a
// share holds the device.
func (d *DeviceStatus) addHolders(sharing bool) (whole, shares bool) {
	for _, h := range d.Holders {
		switch {
		case h.Admin():
		case !h.Shared() || !sharing:
			whole = true
		default:
			shares = true
			for name, q := range h.Result.ConsumedCapacity {
				if d.Used == nil {
					d.Used = map[resourcev1.QualifiedName]resource.Quantity{}
				}
				quantities(d.Used).add(name, q)
			}
		}
	}
	return whole, shares
}

// exhausted reports whether nothing is left of one of the capacities.
func (d *DeviceStatus) exhausted() bool {
	for name, used := range d.Used {
		total, ok := d.Device.Capacity[name]
		if ok && used.Sign() > 0 && used.Cmp(total.Value) >= 0 {
			return true
		}
	}
	return false
}

// shortCounter returns a counter that has too little left for a device that nobody holds.
func (s *Snapshot) shortCounter(r *reach, id DeviceID, device *resourcev1.Device) *CounterID {
	levels := r.levels[id.PoolID()]
	if levels == nil || s.held(id) || !s.config.Features.Enabled(GatePartitionableDevices) {
		return nil
	}
	return levels.Short(device)
}

func (s *Snapshot) whyUnreachable(r *reach, info *sliceInfo) string {
	pool := info.slice.Spec.Pool
	newest := s.newestGeneration(info.pool)
	switch invalid := r.invalid[info.pool]; {
	case newest[0].slice.Spec.Pool.Generation > pool.Generation:
		return fmt.Sprintf("generation %d of the pool is obsolete, the newest is %d", pool.Generation, newest[0].slice.Spec.Pool.Generation)
	case int64(len(newest)) != pool.ResourceSliceCount:
		return fmt.Sprintf("the pool has %d of %d slices", len(newest), pool.ResourceSliceCount)
	case invalid != "":
		return "the pool is invalid: " + invalid
	}
	return "no node that exists can use it"
}

// AllocationNode returns the node that an allocation is tied to by name, or "".
func AllocationNode(allocation *resourcev1.AllocationResult) NodeName {
	if allocation == nil || allocation.NodeSelector == nil || len(allocation.NodeSelector.NodeSelectorTerms) != 1 {
		return ""
	}
	for _, r := range allocation.NodeSelector.NodeSelectorTerms[0].MatchFields {
		if r.Key == "metadata.name" && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return NodeName(r.Values[0])
		}
	}
	return ""
}
