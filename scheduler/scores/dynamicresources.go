package scores

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// comparesAllocated: nodes are compared also for a pod of which some claims are allocated and others are not.
// Before, the scheduler fails to (computeScore).
var comparesAllocated = inspect.Since{35: 6, 36: 2}

// prepareDynamicResources is the plugin DynamicResources: of prioritized lists, the earlier the alternative
// that the node has devices for, the better. Before 1.35 it compares no nodes.
func prepareDynamicResources(s *Scorer) (part, []filters.Doubt) {
	if s.snapshot().Release().Modelled().Before(35, 0) || len(s.options.Claims) == 0 {
		return nil, nil
	}
	open, allocated := false, false
	for _, claim := range s.options.Claims {
		open = open || claim.Status.Allocation == nil
		allocated = allocated || claim.Status.Allocation != nil
	}
	if !open {
		return nil, nil // all nodes get the same
	}
	if allocated && !comparesAllocated.In(s.snapshot().Release().Modelled()) {
		s.fail("Kubernetes before 1.35.6 and 1.36.2 fails to compare nodes for a pod of which some claims are allocated and others are not")
	}
	return dynamicResources{s.options.Claims}, nil
}

type dynamicResources struct{ claims []*resourcev1.ResourceClaim }

func (d dynamicResources) raw(nodes *field, out []int64) {
	for i := range nodes.candidates {
		out[i] = d.of(nodes.candidates[i].Allocations)
	}
}

func (d dynamicResources) normalize(scores []int64) { upTo(scores) }

// of is what a node gets where the claims that are not allocated yet would get something.
func (d dynamicResources) of(allocations []resourcev1.AllocationResult) int64 {
	var out int64
	for _, claim := range d.claims {
		allocation := claim.Status.Allocation
		if allocation == nil {
			if len(allocations) == 0 {
				return out
			}
			allocation, allocations = &allocations[0], allocations[1:]
		}
		out += rank(claim, allocation)
	}
	return out
}

// rank is the sum over prioritized lists of how far from the end of the longest possible list the chosen
// alternative is.
func rank(claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) int64 {
	var out int64
	for i := range claim.Spec.Devices.Requests {
		request := &claim.Spec.Devices.Requests[i]
		if request.Exactly != nil {
			continue
		}
		for at := range request.FirstAvailable {
			if hasDevice(allocation, request.Name+"/"+request.FirstAvailable[at].Name) {
				out += int64(resourcev1.FirstAvailableDeviceRequestMaxSize - at)
			}
		}
	}
	return out
}

func hasDevice(allocation *resourcev1.AllocationResult, request string) bool {
	for i := range allocation.Devices.Results {
		if allocation.Devices.Results[i].Request == request {
			return true
		}
	}
	return false
}
