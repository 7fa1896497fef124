package inspect

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// sliceInfo is a ResourceSlice with effective taints and what is computed of it once.
type sliceInfo struct {
	source     *resourcev1.ResourceSlice // as it was published
	slice      *resourcev1.ResourceSlice
	pool       PoolID
	selector   *nodeSelector   // of the slice
	perDevice  []*nodeSelector // of each device; nil unless the slice selects nodes per device
	usesGroups bool            // a device declares compatibility groups
	consumes   bool            // a device consumes counters
	binding    bool            // a device has binding conditions, if only an empty list
	duplicate  string          // a device name that occurs twice, or ""
}

// nodeSelector is a parsed node selector. The scheduler reports a selector that does not parse only
// when it reaches it, so the error is kept here.
type nodeSelector struct {
	parsed *nodeaffinity.NodeSelector
	err    error
}

func parseNodeSelector(ns *corev1.NodeSelector) *nodeSelector {
	if ns == nil {
		return nil
	}
	parsed, err := nodeaffinity.NewNodeSelector(ns)
	return &nodeSelector{parsed: parsed, err: err}
}

func (s *nodeSelector) match(node *corev1.Node) (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	return s.parsed.Match(node), nil
}

// nodeMatches applies the scheduler's order: a node name decides alone, then "all nodes", then the selector.
func nodeMatches(node *corev1.Node, name *string, all *bool, selector *nodeSelector) (bool, error) {
	switch {
	case name != nil && *name != "":
		return node.Name == *name, nil
	case all != nil && *all:
		return true, nil
	case selector != nil:
		return selector.match(node)
	}
	return false, nil
}

// newSliceInfo is given a slice as it was published and with effective taints.
func newSliceInfo(source, slice *resourcev1.ResourceSlice) *sliceInfo {
	info := &sliceInfo{
		source: source, slice: slice, pool: PoolOf(slice),
		selector: parseNodeSelector(slice.Spec.NodeSelector),
	}
	if isTrue(slice.Spec.PerDeviceNodeSelection) {
		info.perDevice = make([]*nodeSelector, len(slice.Spec.Devices))
	}
	for i := range slice.Spec.Devices {
		device := &slice.Spec.Devices[i]
		if info.perDevice != nil {
			info.perDevice[i] = parseNodeSelector(device.NodeSelector)
		}
		info.consumes = info.consumes || len(device.ConsumesCounters) > 0
		// An empty list that is not nil counts: the scheduler compares with nil.
		info.binding = info.binding || device.BindingConditions != nil
		for j := range device.ConsumesCounters {
			info.usesGroups = info.usesGroups || len(device.ConsumesCounters[j].CompatibilityGroups) > 0
		}
	}
	info.duplicate = duplicateDevice(slice)
	return info
}

// duplicateDevice returns a device name that occurs twice in slices, or "".
func duplicateDevice(published ...*resourcev1.ResourceSlice) string {
	if len(published) == 1 && len(published[0].Spec.Devices) <= 16 {
		devices := published[0].Spec.Devices
		for i := range devices {
			for j := range i {
				if devices[i].Name == devices[j].Name {
					return devices[i].Name
				}
			}
		}
		return ""
	}
	seen := map[string]bool{}
	for _, slice := range published {
		for i := range slice.Spec.Devices {
			name := slice.Spec.Devices[i].Name
			if seen[name] {
				return name
			}
			seen[name] = true
		}
	}
	return ""
}

// reaches reports whether the slice offers something to the node. known is false for a slice with no
// kind of node selection that we know; the scheduler skips those.
func (i *sliceInfo) reaches(node *corev1.Node) (match, known bool, err error) {
	spec := &i.slice.Spec
	switch {
	case spec.NodeName != nil && *spec.NodeName != "", isTrue(spec.AllNodes), spec.NodeSelector != nil:
		match, err = nodeMatches(node, spec.NodeName, spec.AllNodes, i.selector)
		if err != nil {
			return false, true, fmt.Errorf("selecting nodes for ResourceSlice %s: %w", i.slice.Name, err)
		}
		return match, true, nil
	case isTrue(spec.PerDeviceNodeSelection):
		for d := range spec.Devices {
			match, err := i.deviceReaches(node, d)
			if err != nil {
				return false, true, fmt.Errorf("selecting nodes for device %s of ResourceSlice %s: %w", spec.Devices[d].Name, i.slice.Name, err)
			}
			if match {
				return true, true, nil
			}
		}
		return false, true, nil
	}
	return false, false, nil
}

// deviceReaches reports whether one device of a slice with per-device node selection serves the node.
func (i *sliceInfo) deviceReaches(node *corev1.Node, device int) (bool, error) {
	d := &i.slice.Spec.Devices[device]
	return nodeMatches(node, d.NodeName, d.AllNodes, i.perDevice[device])
}

// node returns the node that the slice names, or "".
func (i *sliceInfo) node() string {
	if n := i.slice.Spec.NodeName; n != nil {
		return *n
	}
	return ""
}

// indexSlices takes over from the Snapshot before what it knows of slices that did not change.
func (s *Snapshot) indexSlices(before *Snapshot) {
	s.slices = s.sliceInfos(before)
	if slices.Equal(s.slices, before.slices) {
		s.byNode, s.unbound, s.byPool, s.boundCounters = before.byNode, before.unbound, before.byPool, before.boundCounters
		s.disagreeing = before.disagreeing
		return
	}
	s.byNode = make([]*sliceInfo, 0, len(s.slices))
	for _, info := range s.slices {
		if info.node() != "" {
			s.byNode = append(s.byNode, info)
			if len(info.slice.Spec.SharedCounters) > 0 {
				s.boundCounters = append(s.boundCounters, info)
			}
		} else {
			s.unbound = append(s.unbound, info)
		}
	}
	sortUnlessSorted(s.byNode, func(a, b *sliceInfo) int { return strings.Compare(a.node(), b.node()) })
	s.byPool = slices.Clone(s.slices)
	sortUnlessSorted(s.byPool, func(a, b *sliceInfo) int { return a.pool.Compare(b.pool) })
	byPool := s.byPool // by itself: snapshots with the same slices share it, and are not to keep each other in memory
	s.disagreeing = sync.OnceValue(func() []DisagreeingPool { return findDisagreeing(byPool) })
}

func sortUnlessSorted[T any](list []T, order func(a, b T) int) {
	if !slices.IsSortedFunc(list, order) {
		slices.SortStableFunc(list, order)
	}
}

// sliceInfos makes what is known of each slice. Both lists of slices are sorted by name, so what is known
// already is found by walking along both.
func (s *Snapshot) sliceInfos(before *Snapshot) []*sliceInfo {
	rules := s.activeTaintRules()
	sameRules := slices.Equal(rules, before.activeTaintRules())
	if sameRules && len(before.slices) == len(s.objects.Slices) && slices.Equal(s.objects.Slices, before.objects.Slices) {
		return before.slices
	}
	infos := make([]*sliceInfo, 0, len(s.objects.Slices))
	at := 0
	for i, slice := range s.objects.Slices {
		if i > 0 && s.objects.Slices[i-1].Name == slice.Name {
			continue // names are unique on a server; of a duplicate the first counts
		}
		for at < len(before.slices) && before.slices[at].source != slice && before.slices[at].source.Name < slice.Name {
			at++
		}
		known := at < len(before.slices) && before.slices[at].source == slice
		if known && sameRules {
			infos = append(infos, before.slices[at])
			continue
		}
		tainted := applyTaintRules(slice, rules)
		if known && tainted == before.slices[at].slice {
			infos = append(infos, before.slices[at])
			continue
		}
		infos = append(infos, newSliceInfo(slice, tainted))
	}
	return infos
}

// slicesOfNode returns the slices that name a node, sorted by name.
func (s *Snapshot) slicesOfNode(name NodeName) []*sliceInfo {
	return run(s.byNode, string(name), func(i *sliceInfo, name string) int { return strings.Compare(i.node(), name) })
}

// slicesOfPool returns the slices of a pool, of all generations, sorted by name.
func (s *Snapshot) slicesOfPool(id PoolID) []*sliceInfo {
	return run(s.byPool, id, func(i *sliceInfo, id PoolID) int { return i.pool.Compare(id) })
}

// run returns the part of a sorted list that is equal to a key.
func run[T, K any](list []T, key K, order func(T, K) int) []T {
	low, ok := slices.BinarySearchFunc(list, key, order)
	if !ok {
		return nil
	}
	high := low + 1
	for high < len(list) && order(list[high], key) == 0 {
		high++
	}
	return list[low:high:high]
}

// poolIDs returns the pools that slices belong to, sorted.
func (s *Snapshot) poolIDs() iter.Seq[PoolID] {
	return func(yield func(PoolID) bool) {
		for i, info := range s.byPool {
			if (i == 0 || info.pool != s.byPool[i-1].pool) && !yield(info.pool) {
				return
			}
		}
	}
}

// Slices returns all ResourceSlices, sorted by name, with the taints of DeviceTaintRules added to
// their devices when the gates for that are on.
func (s *Snapshot) Slices() []*resourcev1.ResourceSlice {
	out := make([]*resourcev1.ResourceSlice, len(s.slices))
	for i, info := range s.slices {
		out[i] = info.slice
	}
	return out
}

// SlicesIn returns the slices of a pool as Slices does, of all generations.
func (s *Snapshot) SlicesIn(pool PoolID) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, info := range s.slicesOfPool(pool) {
		out = append(out, info.slice)
	}
	return out
}

// Described yields the slices that describe a device, of all generations of its pool, with what they say of
// it.
func (s *Snapshot) Described(id DeviceID) iter.Seq2[*resourcev1.ResourceSlice, *resourcev1.Device] {
	return func(yield func(*resourcev1.ResourceSlice, *resourcev1.Device) bool) {
		for _, info := range s.slicesOfPool(id.PoolID()) {
			for i := range info.slice.Spec.Devices {
				if d := &info.slice.Spec.Devices[i]; d.Name == id.Device && !yield(info.slice, d) {
					return
				}
			}
		}
	}
}

// PublishedIn returns the slices of a pool as they were published, without the taints of DeviceTaintRules, of
// all generations.
func (s *Snapshot) PublishedIn(pool PoolID) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, info := range s.slicesOfPool(pool) {
		out = append(out, info.source)
	}
	return out
}

// NotPublished returns the devices of a claim that no slice of the newest generation of their pools has, each
// once, in the order of the allocation. It says nothing about slices that were not read.
func (s *Snapshot) NotPublished(claim *resourcev1.ResourceClaim) []DeviceID {
	if claim.Status.Allocation == nil {
		return nil
	}
	var out []DeviceID
	for i := range claim.Status.Allocation.Devices.Results {
		id := DeviceOf(&claim.Status.Allocation.Devices.Results[i])
		published := slices.ContainsFunc(newest(s.slicesOfPool(id.PoolID())), func(info *sliceInfo) bool {
			return slices.ContainsFunc(info.source.Spec.Devices, func(d resourcev1.Device) bool { return d.Name == id.Device })
		})
		if !published && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }
