package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// PartitionStatus counts the devices of one partition type in a pool. The numbers of several types do
// not add up: they draw on the same counters.
type PartitionStatus struct {
	// Attribute is the fully qualified name of the attribute that gives the type.
	Attribute string `json:"attribute"`
	Type      string `json:"type"`
	Total     int    `json:"total"`
	// Allocatable is how many more devices of this type alone the counters would bear.
	Allocatable int `json:"allocatable"`
}

// ShareableStatus sums up the devices of a pool that several claims can share.
type ShareableStatus struct {
	// Unused devices are held by no claim, Used ones by at least one.
	Unused, Used int
	// Capacity is sorted by name.
	Capacity []ShareableCapacity
}

// ShareableCapacity is one capacity over all shareable devices of a pool.
type ShareableCapacity struct {
	Name                       resourcev1.QualifiedName
	Total, Consumed, Available resource.Quantity
}

// quantities are sums by name.
type quantities map[resourcev1.QualifiedName]resource.Quantity

func (q quantities) add(name resourcev1.QualifiedName, amount resource.Quantity) {
	sum := q[name].DeepCopy()
	sum.Add(amount)
	q[name] = sum
}

// poolMembers are the slices of the newest generation of a pool and what claims hold of them.
type poolMembers struct {
	id     PoolID
	slices []*sliceInfo
	use    poolUse
	left   CounterLevels // of its counters
}

// partitionGroup is the devices of one partition type.
type partitionGroup struct {
	PartitionStatus
	cost   string
	unused []*resourcev1.Device
}

// partitions counts per partition type. The second result is what keeps the types from being counted.
func (m poolMembers) partitions() ([]PartitionStatus, string) {
	groups, problem := m.partitionGroups()
	if problem != "" {
		return nil, problem
	}
	var out []PartitionStatus
	for _, g := range groups {
		left := maps.Clone(m.left)
		for _, device := range g.unused {
			if left.Short(device) == nil {
				left.Take(device)
				g.Allocatable++
			}
		}
		out = append(out, g.PartitionStatus)
	}
	slices.SortFunc(out, func(a, b PartitionStatus) int {
		return cmp.Or(cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Type, b.Type))
	})
	return out, ""
}

func (m poolMembers) partitionGroups() (map[[2]string]*partitionGroup, string) {
	groups := map[[2]string]*partitionGroup{}
	for _, info := range m.slices {
		name := info.slice.Spec.PartitionTypeAttribute
		if name == nil || len(info.slice.Spec.Devices) == 0 {
			continue
		}
		attribute := string(*name)
		if len(m.left) == 0 {
			return nil, fmt.Sprintf("PartitionTypeMissing: slice %s declares the partition type %s, but the pool has no counters", info.slice.Name, attribute)
		}
		for i := range info.slice.Spec.Devices {
			device := &info.slice.Spec.Devices[i]
			if len(device.ConsumesCounters) == 0 {
				continue
			}
			if problem := m.addToGroup(groups, attribute, device); problem != "" {
				return nil, problem
			}
		}
	}
	return groups, ""
}

func (m poolMembers) addToGroup(groups map[[2]string]*partitionGroup, attribute string, device *resourcev1.Device) string {
	kind, ok := partitionType(m.id.Driver, device, attribute)
	if !ok {
		return fmt.Sprintf("PartitionTypeMissing: device %s has no string attribute %s", device.Name, attribute)
	}
	key := [2]string{attribute, kind}
	g := groups[key]
	if g == nil {
		g = &partitionGroup{PartitionStatus: PartitionStatus{Attribute: attribute, Type: kind}, cost: counterCost(device)}
		groups[key] = g
	}
	if g.cost != counterCost(device) {
		return fmt.Sprintf("PartitionCostMismatch: devices of type %q consume different counters", kind)
	}
	g.Total++
	if !m.use.devices[device.Name] {
		g.unused = append(g.unused, device)
	}
	return ""
}

// partitionType finds the type under the full name or, in the driver's own domain, under the bare one.
func partitionType(driver string, device *resourcev1.Device, attribute string) (string, bool) {
	if bare, own := strings.CutPrefix(attribute, driver+"/"); own &&
		!has(device.Attributes, resourcev1.QualifiedName(attribute)) {
		attribute = bare
	}
	return stringAttribute(device, resourcev1.QualifiedName(attribute))
}

// counterCost is what a device consumes, of which counter sets.
func counterCost(d *resourcev1.Device) string {
	return costText(d, func(id CounterID, amount resource.Quantity) string {
		return id.Set + "/" + id.Counter + " " + amount.String()
	})
}

// levels are the full amounts of the counters of some slices, and what the devices of these that are held
// leave. A device is charged once, however many claims share it.
func (s *Snapshot) levels(infos []*sliceInfo) (full, left CounterLevels) {
	full = CounterLevels{}
	for _, info := range infos {
		for i := range info.slice.Spec.SharedCounters {
			full.Refill(&info.slice.Spec.SharedCounters[i])
		}
	}
	left = maps.Clone(full)
	for _, info := range infos {
		s.chargeHeld(left, info.slice)
	}
	return full, left
}

// counterStatuses returns the counters of a pool and what is left of them.
func (s *Snapshot) counterStatuses(id PoolID) []CounterStatus {
	full, left := s.levels(s.newestGeneration(id))
	var out []CounterStatus
	for id, level := range left {
		out = append(out, CounterStatus{Set: id.Set, Counter: id.Counter, Total: full[id], Left: level})
	}
	slices.SortFunc(out, func(a, b CounterStatus) int {
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Counter, b.Counter))
	})
	return out
}

func (m poolMembers) shareable() *ShareableStatus {
	status := &ShareableStatus{}
	total := quantities{}
	for _, info := range m.slices {
		for i := range info.slice.Spec.Devices {
			device := &info.slice.Spec.Devices[i]
			if !isTrue(device.AllowMultipleAllocations) {
				continue
			}
			if m.use.devices[device.Name] {
				status.Used++
			} else {
				status.Unused++
			}
			for name, capacity := range device.Capacity {
				total.add(name, capacity.Value)
			}
		}
	}
	if status.Used+status.Unused == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(total)) {
		c := ShareableCapacity{Name: name, Total: total[name], Consumed: m.use.consumed[name]}
		c.Available = c.Total.DeepCopy()
		c.Available.Sub(c.Consumed)
		if c.Available.Sign() < 0 {
			c.Available = *resource.NewQuantity(0, c.Total.Format)
		}
		status.Capacity = append(status.Capacity, c)
	}
	return status
}
