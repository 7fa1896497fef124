package inspect

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
)

// How full a pool is, counted as Kubernetes counts it for a ResourcePoolStatusRequest (KEP-5677, the
// controller resourcepoolstatusrequest of Kubernetes 1.37):
//
//   - Only slices of the highest generation of the whole pool count. While there are fewer of them than
//     the driver announced there are no counts at all.
//   - A device counts as allocated once, however many claims share it. Admin access takes nothing.
//     Allocated devices that the pool no longer publishes count too.
//   - A device with a taint of effect NoSchedule or NoExecute, its own or of a DeviceTaintRule, is
//     unavailable, whether it is allocated or not.
//   - Available is what is left, and never negative.
//
// Example: 8 devices, one tainted, three held by five claims: total 8, allocated 3, unavailable 1,
// available 4.

// PoolStatus is a resource pool as a whole, on all nodes.
type PoolStatus struct {
	ID PoolID
	// Node is the node of the pool. It is empty if the pool is not tied to one.
	Node       NodeName
	Generation int64
	// Slices of SlicesWanted slices of the generation are there.
	Slices, SlicesWanted int64
	// Counts is nil while slices are missing.
	Counts *PoolCounts
	// Complete says that the scheduler considers the pool complete, which asks for exactly the announced
	// number of slices.
	Complete bool
	// Error says what is wrong with the pool, beginning with a code and a colon. It is empty if all is well.
	// The codes are those of ResourcePoolStatusRequest and PoolInvalid.
	Error string
	// Devices counts those that are published, of obsolete generations too; Whole only those that draw on no
	// counters. They are counted while slices are missing too, when Counts is nil, and as [DeviceCount] says,
	// not as Kubernetes does.
	Devices, Whole DeviceCount
	// Counters are those of the newest generation, sorted by set and counter. They are nil where the
	// scheduler counts none.
	Counters []CounterStatus
	// Fits says how many devices of each kind still fit, for those that draw on counters, sorted by kind.
	Fits []KindFit
	// Partitions groups the devices that consume counters by their type, where the driver declares one.
	Partitions []PartitionStatus
	// Shareable sums up the devices that several claims can share. It is nil if there are none.
	Shareable *ShareableStatus
}

// PoolCounts are numbers of devices.
type PoolCounts struct{ Total, Allocated, Available, Unavailable int }

// PoolStatuses returns the status of every pool, sorted by driver and pool name.
func (s *Snapshot) PoolStatuses() []PoolStatus {
	var statuses []PoolStatus
	for _, stock := range s.Inventory().Stocks {
		statuses = append(statuses, stock.Pool)
	}
	return statuses
}

// statusOf returns the status of a pool with these devices.
func (s *Snapshot) statusOf(id PoolID, r *reach, devices []DeviceStatus) PoolStatus {
	status := s.poolStatus(id)
	if reason := r.invalid[id]; status.Complete && reason != "" {
		status.Error = "PoolInvalid: " + reason
	}
	s.addCounts(&status, devices, r.levels)
	return status
}

// addCounts counts the devices of a pool, and what is left for them.
func (s *Snapshot) addCounts(status *PoolStatus, devices []DeviceStatus, levels map[PoolID]CounterLevels) {
	var all, whole tally
	for i := range devices {
		all.add(&devices[i], levels)
		if len(devices[i].Device.ConsumesCounters) == 0 {
			whole.add(&devices[i], levels)
		}
	}
	status.Devices, status.Whole = all.count(levels), whole.count(levels)
	if s.config.Features.Enabled(GatePartitionableDevices) {
		status.Counters = s.counterStatuses(status.ID)
		status.Fits = kindFits(devices, levels[status.ID])
	}
}

// poolUse is what claims hold of a pool, admin access apart.
type poolUse struct {
	devices  map[string]bool
	consumed quantities
}

func (s *Snapshot) poolUse(id PoolID) poolUse {
	use := poolUse{devices: map[string]bool{}, consumed: quantities{}}
	held := s.HoldersIn(id)
	if held == nil {
		return use
	}
	for _, h := range held.holders {
		if h.Admin() {
			continue
		}
		use.devices[h.Result.Device] = true
		for name, q := range h.Result.ConsumedCapacity {
			use.consumed.add(name, q)
		}
	}
	return use
}

func (s *Snapshot) poolStatus(id PoolID) PoolStatus {
	newest := s.newestGeneration(id)
	first := newest[0].slice.Spec
	status := PoolStatus{
		ID: id, Node: commonNode(newest), Generation: first.Pool.Generation,
		Slices: int64(len(newest)), SlicesWanted: first.Pool.ResourceSliceCount,
	}
	status.Complete = status.Slices == status.SlicesWanted
	if !status.Complete {
		status.Error = fmt.Sprintf("PoolIncomplete: generation %d has %d of %d slices", status.Generation, status.Slices, status.SlicesWanted)
	}
	if status.Slices < status.SlicesWanted {
		return status
	}
	members := poolMembers{id: id, slices: newest, use: s.poolUse(id)}
	_, members.left = s.levels(newest)
	status.Counts = s.countDevices(newest, members.use)
	var problem string
	status.Partitions, problem = members.partitions()
	status.Shareable = members.shareable()
	if status.Error == "" {
		status.Error = problem
	}
	return status
}

// commonNode returns the node that all slices name, or "".
func commonNode(infos []*sliceInfo) NodeName {
	var node NodeName
	for i, info := range infos {
		var name NodeName
		if n := info.slice.Spec.NodeName; n != nil {
			name = NodeName(*n)
		}
		if i > 0 && name != node {
			return ""
		}
		node = name
	}
	return node
}

func (s *Snapshot) countDevices(infos []*sliceInfo, use poolUse) *PoolCounts {
	counts := &PoolCounts{Allocated: len(use.devices)}
	for _, info := range infos {
		counts.Total += len(info.slice.Spec.Devices)
		for i := range info.slice.Spec.Devices {
			if s.unavailable(info.slice, i) {
				counts.Unavailable++
			}
		}
	}
	counts.Available = max(0, counts.Total-counts.Allocated-counts.Unavailable)
	return counts
}

// unavailable reports whether a taint keeps new claims off a device. The driver's own taints count
// whatever the gates say.
func (s *Snapshot) unavailable(slice *resourcev1.ResourceSlice, i int) bool {
	for _, taint := range slice.Spec.Devices[i].Taints { // those of rules are among them when both gates are on
		if repels(taint) {
			return true
		}
	}
	if !s.config.Features.Enabled(GateDeviceTaintRules) {
		return false
	}
	for _, rule := range s.objects.TaintRules {
		if repels(rule.Spec.Taint) && RuleSelects(rule, DeviceIDOf(slice, i)) {
			return true
		}
	}
	return false
}

func repels(taint resourcev1.DeviceTaint) bool {
	return taint.Effect == resourcev1.DeviceTaintEffectNoSchedule || taint.Effect == resourcev1.DeviceTaintEffectNoExecute
}
