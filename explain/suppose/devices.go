package suppose

import (
	"cmp"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Devices that are added hypothetically.

// DeviceCopies is a number of copies of a device.
type DeviceCopies struct {
	ID     inspect.DeviceID
	Device *resourcev1.Device
	// Counters are those of the pool of the device.
	Counters []resourcev1.CounterSet
	Count    int
}

// AddDevices publishes copies of devices of a snapshot on a node, free and with no taints but those that
// rules set on all of the pool, each with counters of its own: in the pool that the driver has there or,
// where it has none, each in a pool of its own. A pool that is incomplete or invalid stays so.
func AddDevices(o *inspect.Objects, s *inspect.Snapshot, node string, added []DeviceCopies) {
	number := 0
	pools := map[string]resourcev1.ResourcePool{} // of drivers, as they are by now
	for _, a := range added {
		pool, there := pools[a.ID.Driver]
		if !there {
			pool, there = driversPool(s, a.ID.Driver, node)
		}
		taints := taintsOfPool(s, a.ID.Driver, cmp.Or(pool.Name, node))
		for range a.Count {
			name := fmt.Sprintf("added-%d.kubectl-dra.dev", number)
			number++
			more := a.copied(node, name, taints)
			in := inspect.PoolID{Driver: a.ID.Driver, Pool: name}
			of := resourcev1.ResourcePool{Name: name, Generation: 1}
			if there {
				in.Pool, of = pool.Name, pool
			}
			of.ResourceSliceCount += int64(len(more))
			pool.ResourceSliceCount = of.ResourceSliceCount
			for _, slice := range more {
				slice.Spec.Pool = of
			}
			newest := func(s *resourcev1.ResourceSlice) bool { return s.Spec.Pool.Generation == of.Generation }
			changeSlices(o, in, newest, func(s *resourcev1.ResourceSlice) { s.Spec.Pool = of })
			o.Slices = append(o.Slices, more...)
		}
		if there {
			pools[a.ID.Driver] = pool
		}
	}
}

// driversPool is the pool that a driver has on a node, in its newest generation, if it has one.
func driversPool(s *inspect.Snapshot, driver, node string) (resourcev1.ResourcePool, bool) {
	var out resourcev1.ResourcePool
	for _, slice := range s.Slices() {
		p := slice.Spec.Pool
		if slice.Spec.Driver != driver || slice.Spec.NodeName == nil || *slice.Spec.NodeName != node {
			continue
		}
		if out.Name == "" || p.Name == out.Name && p.Generation > out.Generation {
			out = p
		}
	}
	return out, out.Name != ""
}

// taintsOfPool are the taints that DeviceTaintRules give to whatever a driver adds to a pool.
func taintsOfPool(s *inspect.Snapshot, driver, pool string) []resourcev1.DeviceTaint {
	var out []resourcev1.DeviceTaint
	for _, rule := range s.Objects().TaintRules {
		if s.RuleTaints(rule, inspect.DeviceID{Driver: driver, Pool: pool}) {
			out = append(out, rule.Spec.Taint)
		}
	}
	return out
}

// copied returns slices for a node with one copy of the device, with the taints that it gets there, and with
// its counters. They are in no pool yet.
func (a DeviceCopies) copied(node, name string, taints []resourcev1.DeviceTaint) []*resourcev1.ResourceSlice {
	device := a.Device.DeepCopy()
	device.Name, device.Taints, device.NodeName, device.NodeSelector, device.AllNodes = name[:strings.Index(name, ".")], taints, nil, nil, nil
	slice := func(name string, devices []resourcev1.Device, counters []resourcev1.CounterSet) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       resourcev1.ResourceSliceSpec{Driver: a.ID.Driver, NodeName: ptr.To(node), Devices: devices, SharedCounters: counters},
		}
	}
	var sets []resourcev1.CounterSet
	for i := range device.ConsumesCounters {
		consumed := &device.ConsumesCounters[i].CounterSet
		for k := range a.Counters {
			if a.Counters[k].Name == *consumed {
				set := *a.Counters[k].DeepCopy()
				set.Name += "-" + device.Name
				sets = append(sets, set)
			}
		}
		*consumed += "-" + device.Name
	}
	out := []*resourcev1.ResourceSlice{slice(name, []resourcev1.Device{*device}, nil)}
	if len(sets) > 0 {
		out = append(out, slice(name+"-counters", nil, sets))
	}
	return out
}

// CountersOf returns the counter sets that the devices of a pool share.
func CountersOf(s *inspect.Snapshot, pool inspect.PoolID) []resourcev1.CounterSet {
	var out []resourcev1.CounterSet
	for _, slice := range s.Slices() {
		if inspect.PoolOf(slice) == pool {
			out = append(out, slice.Spec.SharedCounters...)
		}
	}
	return out
}
