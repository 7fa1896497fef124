package inspect

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// IgnoredPool is a pool of which the scheduler passes over slices because a feature gate is off.
type IgnoredPool struct {
	ID   PoolID
	Gate Gate
}

// IgnoredOn returns the pools with slices that reach a node and that the scheduler passes over, sorted by
// gate and pool. Slices of which it cannot be told whether they reach the node are left out.
func (s *Snapshot) IgnoredOn(node *corev1.Node) []IgnoredPool {
	var out []IgnoredPool
	for _, info := range s.slicesFor(node) {
		if !s.ignored(info) {
			continue
		}
		if match, known, err := info.reaches(node); err != nil || !known || !match {
			continue
		}
		gate := GatePartitionableDevices
		if s.ignoresGroups(info) {
			gate = GateDeviceCompatibilityGroups
		}
		out = append(out, IgnoredPool{info.pool, gate})
	}
	slices.SortFunc(out, func(a, b IgnoredPool) int { return cmp.Or(cmp.Compare(a.Gate, b.Gate), a.ID.Compare(b.ID)) })
	return slices.Compact(out)
}
