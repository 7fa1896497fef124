package headline

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxProbed is the number of devices of a driver of which it is asked whether a class selects them.
const maxProbed = 1024

// poolsThatWouldDo names the pools that the scheduler ignores and that have devices which the request would
// take: what is said of all devices does not hold for them.
func (s *shortage) poolsThatWouldDo(ctx context.Context) []string {
	var out []string
	seen := map[inspect.PoolID]bool{}
	for _, g := range s.groups {
		for i := range g.Reasons {
			id := g.Reasons[i].Pool
			if id == (inspect.PoolID{}) || seen[id] {
				continue
			}
			seen[id] = true
			for _, slice := range s.q.Cluster.Snapshot().SlicesIn(id) {
				if s.anySelected(ctx, slice, len(slice.Spec.Devices), true) {
					out = append(out, id.String())
					break
				}
			}
		}
	}
	return out
}

// published reports whether a driver publishes devices of the class, be it for other nodes or in a pool that
// the scheduler ignores.
func (s *shortage) published(ctx context.Context) bool {
	asked := map[string]int{}
	for _, slice := range s.q.Cluster.Snapshot().Slices() {
		n := min(len(slice.Spec.Devices), maxProbed-asked[slice.Spec.Driver])
		if n <= 0 {
			continue
		}
		asked[slice.Spec.Driver] += n
		if s.anySelected(ctx, slice, n, false) {
			return true
		}
	}
	return false
}

// anySelected reports whether the class selects one of the first n devices of a slice and, if that is asked,
// the request does as well. A selector that fails selects nothing.
func (s *shortage) anySelected(ctx context.Context, slice *resourcev1.ResourceSlice, n int, byRequest bool) bool {
	class, ok := s.q.Cluster.Snapshot().Class(s.class)
	if !ok {
		return false
	}
	for i := range n {
		device := &slice.Spec.Devices[i]
		if s.selects(ctx, class.Spec.Selectors, slice.Spec.Driver, device) && (!byRequest || s.selects(ctx, s.selectors, slice.Spec.Driver, device)) {
			return true
		}
	}
	return false
}

// selects reports whether a device passes selectors.
func (s *shortage) selects(ctx context.Context, selectors []resourcev1.DeviceSelector, driver string, device *resourcev1.Device) bool {
	for i := range selectors {
		if selectors[i].CEL == nil {
			return false
		}
		if match, err := s.q.Cluster.Selectors().Selector(selectors[i].CEL.Expression).Match(ctx, driver, device); err != nil || !match {
			return false
		}
	}
	return true
}
