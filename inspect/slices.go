package inspect

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// sliceInfo is a ResourceSlice with effective taints and what is computed of it once.
type sliceInfo struct {
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

func newSliceInfo(slice *resourcev1.ResourceSlice) *sliceInfo {
	info := &sliceInfo{
		slice: slice, pool: PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name},
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

// duplicateDevice returns a device name that occurs twice in the slices, or "".
func duplicateDevice(slices ...*resourcev1.ResourceSlice) string {
	if len(slices) == 1 && len(slices[0].Spec.Devices) <= 16 {
		devices := slices[0].Spec.Devices
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
	for _, slice := range slices {
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

func (s *Snapshot) indexSlices() {
	s.slices = make([]*sliceInfo, 0, len(s.objects.Slices))
	s.onNode = map[NodeName][]*sliceInfo{}
	s.unbound = nil
	s.byPool = map[PoolID][]*sliceInfo{}
	rules := activeTaintRules(s.objects.TaintRules, s.config.Features)
	for i, slice := range s.objects.Slices {
		if i > 0 && s.objects.Slices[i-1].Name == slice.Name {
			continue // names are unique on a server; of a duplicate the first counts
		}
		info := newSliceInfo(applyTaintRules(slice, rules))
		s.slices = append(s.slices, info)
		s.byPool[info.pool] = append(s.byPool[info.pool], info)
		if n := slice.Spec.NodeName; n != nil && *n != "" {
			s.onNode[NodeName(*n)] = append(s.onNode[NodeName(*n)], info)
		} else {
			s.unbound = append(s.unbound, info)
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

func isTrue(b *bool) bool { return b != nil && *b }
