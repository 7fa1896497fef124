package inspect

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// NodePool is a resource pool as the scheduler sees it when it looks for devices for one node.
type NodePool struct {
	ID         PoolID
	Generation int64
	// Incomplete says that the driver is still publishing. Such a pool offers no devices.
	Incomplete bool
	// Partial says that not all slices of the pool reach the node. It offers devices nevertheless, but not
	// "all". Only where the release does not look for the other slices (before 1.35).
	Partial bool
	// SlicesSeen of SlicesWanted slices of the generation are there (only set when Incomplete).
	SlicesSeen, SlicesWanted int64
	// Invalid says why the pool contradicts itself, or is "". Such a pool offers no devices.
	Invalid string
	// Slices are those with devices that reach the node, sorted by name.
	Slices []PoolSlice
	// Elsewhere are the pool's slices for other nodes, as far as the scheduler reads them: their
	// devices draw on the same counters.
	Elsewhere []*resourcev1.ResourceSlice
	// CounterSets are the pool's counter sets, sorted by name.
	CounterSets []*resourcev1.CounterSet
	// BindingConditions says that the pool is searched after all pools without binding conditions.
	BindingConditions bool
}

// Usable reports whether devices may be taken from the pool.
func (p *NodePool) Usable() bool { return !p.Incomplete && p.Invalid == "" }

// PoolSlice is a ResourceSlice of a NodePool.
type PoolSlice struct {
	*resourcev1.ResourceSlice
	info *sliceInfo
}

// DeviceReaches reports whether the i-th device serves the node. It can be false only in a slice with
// per-device node selection; the scheduler asks it after the selectors.
func (s PoolSlice) DeviceReaches(node *corev1.Node, i int) (bool, error) {
	if s.info.perDevice == nil {
		return true, nil
	}
	return s.info.deviceReaches(node, i)
}

// PoolsOn returns the pools that the scheduler would look at for a node, in its search order: first
// those without, then those with binding conditions, and in each part by driver and pool name.
// A pool whose reachable slices turn out to be of an old generation is left out, as the scheduler does.
// The error (a node selector that does not parse) makes the scheduler abort the pod.
//
// The rules are those of the release (k8s.io/dynamic-resource-allocation/structured), see poolRules. Before
// 1.36 the scheduler's order of pools is random; then the order here is one that it may take.
//
// The result is remembered and shared: it must not be written.
func (s *Snapshot) PoolsOn(node *corev1.Node) ([]*NodePool, error) {
	at, ok := slices.BinarySearchFunc(s.objects.Nodes, node.Name, func(n *corev1.Node, name string) int { return strings.Compare(n.Name, name) })
	if ok && s.objects.Nodes[at] == node {
		return s.PoolsAt(at)
	}
	return s.findPoolsOn(node)
}

// PoolsAt is PoolsOn for the i-th of Nodes. Two Snapshots of which one was made of the other return the
// same slice for a node unless something that decides about its pools has changed.
func (s *Snapshot) PoolsAt(i int) ([]*NodePool, error) {
	if known := s.pools.at[i].Load(); known != nil {
		return *known, nil
	}
	pools, err := s.findPoolsOn(s.objects.Nodes[i])
	if err == nil && !s.pools.at[i].CompareAndSwap(nil, &pools) {
		return *s.pools.at[i].Load(), nil
	}
	return pools, err
}

func (s *Snapshot) findPoolsOn(node *corev1.Node) ([]*NodePool, error) {
	reachable, err := s.reachableSlices(node)
	if err != nil {
		return nil, err
	}
	var pools []*NodePool
	for len(reachable) > 0 {
		n := 1
		for n < len(reachable) && reachable[n].pool == reachable[0].pool {
			n++
		}
		if pool := s.buildNodePool(reachable[0].pool, newest(reachable[:n:n])); pool != nil {
			pools = append(pools, pool)
		}
		reachable = reachable[n:]
	}
	slices.SortFunc(pools, func(a, b *NodePool) int {
		if a.BindingConditions != b.BindingConditions {
			if a.BindingConditions {
				return 1
			}
			return -1
		}
		return a.ID.Compare(b.ID)
	})
	return pools, nil
}

// reachableSlices returns the slices that reach the node, those of a pool next to each other.
func (s *Snapshot) reachableSlices(node *corev1.Node) ([]*sliceInfo, error) {
	var out []*sliceInfo
	anywhere := s.poolRules.countersAnywhere
	for _, info := range s.slicesFor(node) {
		if s.ignored(info) {
			continue
		}
		if anywhere && len(info.slice.Spec.SharedCounters) > 0 {
			out = append(out, info)
			continue
		}
		match, known, err := info.reaches(node)
		if err != nil {
			return nil, err
		}
		if known && match {
			out = append(out, info)
		}
	}
	order := func(a, b *sliceInfo) int { return a.pool.Compare(b.pool) }
	if !slices.IsSortedFunc(out, order) {
		slices.SortStableFunc(out, order)
	}
	return out, nil
}

// slicesFor returns the slices that the scheduler looks at for a node, in its order. That matters where
// slices of a pool contradict each other in how many there are: the first of them counts.
func (s *Snapshot) slicesFor(node *corev1.Node) []*sliceInfo {
	bound := s.slicesOfNode(NodeName(node.Name))
	if s.poolRules == (poolRules{}) {
		return append(bound, s.unbound...)
	}
	var first, rest []*sliceInfo
	for _, info := range bound {
		switch {
		case s.poolRules.countersAnywhere && len(info.slice.Spec.SharedCounters) > 0: // among boundCounters
		case s.poolRules.oneOrder:
			rest = append(rest, info)
		default:
			first = append(first, info)
		}
	}
	rest = append(rest, s.unbound...)
	if s.poolRules.countersAnywhere {
		rest = append(rest, s.boundCounters...)
	}
	slices.SortFunc(rest, s.compareSlices)
	return append(first, rest...)
}

// compareSlices is the order of slices.
func (s *Snapshot) compareSlices(a, b *sliceInfo) int {
	last := func(i *sliceInfo) bool {
		return s.poolRules.bindingLast && i.binding && len(i.slice.Spec.SharedCounters) == 0
	}
	if last(a) != last(b) {
		if last(a) {
			return 1
		}
		return -1
	}
	return strings.Compare(a.slice.Name, b.slice.Name)
}

// ignored reports whether the scheduler passes the slice over because a feature is off.
func (s *Snapshot) ignored(info *sliceInfo) bool {
	spec := &info.slice.Spec
	if !s.config.Features.Enabled(GatePartitionableDevices) &&
		(spec.PerDeviceNodeSelection != nil || len(spec.SharedCounters) > 0 && !s.poolRules.partialPools) {
		return true
	}
	return s.ignoresGroups(info)
}

// ignoresGroups reports whether the scheduler drops the slice for its compatibility groups. Only the
// experimental allocator understands them; any other drops the whole slice, which leaves its pool incomplete.
func (s *Snapshot) ignoresGroups(info *sliceInfo) bool {
	return info.usesGroups && !s.Release().Modelled().Before(37, 0) && !s.config.Features.Enabled(GateDeviceCompatibilityGroups)
}

// buildNodePool returns nil for an obsolete pool.
func (s *Snapshot) buildNodePool(id PoolID, reachable []*sliceInfo) *NodePool {
	first := reachable[0].slice.Spec.Pool
	pool := &NodePool{ID: id, Generation: first.Generation}
	var others []*sliceInfo
	pool.Partial = s.poolRules.partialPools && int64(len(reachable)) != first.ResourceSliceCount
	if int64(len(reachable)) != first.ResourceSliceCount && !pool.Partial {
		all, obsolete := s.generation(id, first.Generation)
		if obsolete {
			return nil
		}
		if int64(len(all)) != first.ResourceSliceCount {
			pool.Incomplete = true
			pool.SlicesSeen, pool.SlicesWanted = int64(len(all)), first.ResourceSliceCount
			return pool
		}
		others = without(all, reachable)
	}
	if len(reachable) > 1 {
		slices.SortFunc(reachable, s.compareSlices)
	}
	s.fillNodePool(pool, reachable, others)
	return pool
}

// generation returns all slices of one generation of a pool, on whatever node. obsolete is true when
// a newer generation exists somewhere.
func (s *Snapshot) generation(id PoolID, generation int64) (all []*sliceInfo, obsolete bool) {
	for _, info := range s.slicesOfPool(id) {
		switch g := info.slice.Spec.Pool.Generation; {
		case g > generation:
			return nil, true
		case g == generation && !s.ignoresGroups(info):
			all = append(all, info)
		}
	}
	return all, false
}

func without(all, drop []*sliceInfo) []*sliceInfo {
	dropped := make(map[*sliceInfo]bool, len(drop))
	for _, info := range drop {
		dropped[info] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(i *sliceInfo) bool { return dropped[i] })
}

// fillNodePool sorts slices into devices and counter sets and checks them.
func (s *Snapshot) fillNodePool(pool *NodePool, reachable, others []*sliceInfo) {
	partitionable := s.config.Features.Enabled(GatePartitionableDevices) && !s.poolRules.partialPools
	var counters []*resourcev1.ResourceSlice
	for _, info := range reachable {
		if partitionable && len(info.slice.Spec.SharedCounters) > 0 {
			counters = append(counters, info.slice)
			continue
		}
		pool.Slices = append(pool.Slices, PoolSlice{ResourceSlice: info.slice, info: info})
	}
	for _, info := range others {
		if partitionable && len(info.slice.Spec.SharedCounters) > 0 {
			counters = append(counters, info.slice)
			continue
		}
		pool.Elsewhere = append(pool.Elsewhere, info.slice)
	}
	pool.Invalid = pool.check(counters, partitionable, s.poolRules)
	if pool.Invalid != "" {
		// The scheduler forgets the slices of an invalid pool, so it cannot know of binding
		// conditions either and searches the pool among the first.
		pool.Slices, pool.Elsewhere, pool.CounterSets = nil, nil, nil
		return
	}
	for _, slice := range pool.Slices {
		pool.BindingConditions = pool.BindingConditions || slice.info.binding
	}
}

// check looks for contradictions and returns the first as text. As a side effect it fills CounterSets.
func (p *NodePool) check(counters []*resourcev1.ResourceSlice, partitionable bool, rules poolRules) string {
	if name := p.duplicateDevice(); name != "" {
		return fmt.Sprintf("device %s is published twice", name)
	}
	consumes := len(p.Elsewhere) > 0
	for _, slice := range p.Slices {
		consumes = consumes || slice.info.consumes
	}
	if !partitionable || !consumes && len(counters) == 0 {
		return ""
	}
	sets := map[string]*resourcev1.CounterSet{}
	for _, slice := range counters {
		for i := range slice.Spec.SharedCounters {
			set := &slice.Spec.SharedCounters[i]
			if has(sets, set.Name) {
				return fmt.Sprintf("counter set %s is published twice", set.Name)
			}
			sets[set.Name] = set
			p.CounterSets = append(p.CounterSets, set)
		}
	}
	slices.SortFunc(p.CounterSets, func(a, b *resourcev1.CounterSet) int { return strings.Compare(a.Name, b.Name) })
	if rules.countersAnywhere { // such slices have no devices, says the API; but if they do, these are checked
		for _, slice := range counters {
			if msg := unknownCounter(slice, sets); msg != "" {
				return msg
			}
		}
	}
	for _, slice := range p.Slices {
		if msg := unknownCounter(slice.ResourceSlice, sets); msg != "" {
			return msg
		}
	}
	for _, slice := range p.Elsewhere {
		if msg := unknownCounter(slice, sets); msg != "" {
			return msg
		}
	}
	return ""
}

// duplicateDevice returns the name of a device that the slices for the node publish twice, or "".
func (p *NodePool) duplicateDevice() string {
	for _, slice := range p.Slices {
		if slice.info.duplicate != "" {
			return slice.info.duplicate
		}
	}
	if len(p.Slices) < 2 {
		return ""
	}
	published := make([]*resourcev1.ResourceSlice, len(p.Slices))
	for i, slice := range p.Slices {
		published[i] = slice.ResourceSlice
	}
	return duplicateDevice(published...)
}

func unknownCounter(slice *resourcev1.ResourceSlice, sets map[string]*resourcev1.CounterSet) string {
	for i := range slice.Spec.Devices {
		device := &slice.Spec.Devices[i]
		for j := range device.ConsumesCounters {
			consumption := &device.ConsumesCounters[j]
			set, ok := sets[consumption.CounterSet]
			if !ok {
				return fmt.Sprintf("device %s consumes counter set %s, which does not exist", device.Name, consumption.CounterSet)
			}
			for name := range consumption.Counters {
				if !has(set.Counters, name) {
					return fmt.Sprintf("device %s consumes counter %s of set %s, which does not exist", device.Name, name, consumption.CounterSet)
				}
			}
		}
	}
	return ""
}

func has[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }
