package allocator

import (
	"context"
	"slices"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Tied reports whether whatever some claims get belongs to one node alone: no pool that reaches several nodes
// has a device that a request of theirs may select. So what they get on a node takes nothing of another one.
// A selector that fails for a device of such a pool, or that is interrupted, counts as one that may select
// it.
func (c *Cluster) Tied(ctx context.Context, claims []*resourcev1.ResourceClaim) bool {
	shared := c.shared.of(c.snapshot)
	if len(shared) == 0 {
		return true
	}
	for _, claim := range claims {
		for i := range claim.Spec.Devices.Requests {
			if slices.ContainsFunc(specsOf(&claim.Spec.Devices.Requests[i]), func(s spec) bool { return c.mayTake(ctx, s, shared) }) {
				return false
			}
		}
	}
	return true
}

// sharedSlices are the slices of pools that are not of one node alone, found when they are first asked for.
type sharedSlices struct {
	once  sync.Once
	known []*resourcev1.ResourceSlice
}

func (s *sharedSlices) of(snapshot *inspect.Snapshot) []*resourcev1.ResourceSlice {
	s.once.Do(func() { s.known = findShared(snapshot.Around().Slices) })
	return s.known
}

func findShared(all []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	nodes, several := map[inspect.PoolID]string{}, map[inspect.PoolID]bool{}
	for _, slice := range all {
		pool, node := inspect.PoolOf(slice), ""
		if slice.Spec.NodeName != nil {
			node = *slice.Spec.NodeName
		}
		if before, known := nodes[pool]; node == "" || known && before != node {
			several[pool] = true
		}
		nodes[pool] = node
	}
	var out []*resourcev1.ResourceSlice
	for _, slice := range all {
		if len(several) > 0 && several[inspect.PoolOf(slice)] && len(slice.Spec.Devices) > 0 {
			out = append(out, slice)
		}
	}
	return out
}

// mayTake reports whether a request may select a device of some slices, whatever is held of it.
func (c *Cluster) mayTake(ctx context.Context, s spec, from []*resourcev1.ResourceSlice) bool {
	selectors := s.selectors
	if class, ok := c.snapshot.Class(s.class); ok {
		selectors = append(append([]resourcev1.DeviceSelector{}, class.Spec.Selectors...), selectors...)
	}
	for _, slice := range from {
		for i := range slice.Spec.Devices {
			if c.mayMatch(ctx, selectors, slice.Spec.Driver, &slice.Spec.Devices[i]) {
				return true
			}
		}
	}
	return false
}

func (c *Cluster) mayMatch(ctx context.Context, selectors []resourcev1.DeviceSelector, driver string, device *resourcev1.Device) bool {
	for i := range selectors {
		if selectors[i].CEL == nil {
			continue
		}
		match, err := c.selectors.Selector(selectors[i].CEL.Expression).Match(ctx, driver, device)
		if err != nil {
			return true
		}
		if !match {
			return false
		}
	}
	return true
}
