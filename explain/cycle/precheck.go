package cycle

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/spelling"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Precheck makes the checks that the API server and the scheduler make before any node is asked. What fails
// there makes the pod unschedulable, whereas the same fault found later is an error. It returns nil if
// nothing fails.
func Precheck(q *whatif.Question) *explain.Reason {
	for _, claim := range q.Claims {
		if r := adminRefused(q.Cluster.Snapshot(), claim); r != nil {
			return r
		}
		for i := range claim.Spec.Devices.Requests {
			if r := precheckRequest(q, claim, i); r != nil {
				return r
			}
		}
	}
	return nil
}

// precheckRequest makes the checks for one request of a claim.
func precheckRequest(q *whatif.Question, claim *resourcev1.ResourceClaim, index int) *explain.Reason {
	s := q.Cluster.Snapshot()
	request := &claim.Spec.Devices.Requests[index]
	missing := func(name, path, class string) *explain.Reason {
		if _, ok := s.Class(class); ok || class == "" {
			return nil
		}
		return &explain.Reason{
			Code: allocator.ClassNotFound, Claim: inspect.RefOf(claim),
			Request: name, Path: path + ".deviceClassName",
			Key: words.Key(class), NamesRequest: true,
			Message: fmt.Sprintf("request %s: device class %q does not exist%s", name, class, existing(s, class)),
			Brief:   fmt.Sprintf("device class %q does not exist", class),
		}
	}
	path := fmt.Sprintf("spec.devices.requests[%d]", index)
	if request.Exactly != nil {
		return missing(request.Name, path+".exactly", request.Exactly.DeviceClassName)
	}
	if len(request.FirstAvailable) == 0 {
		return &explain.Reason{
			Code: allocator.Malformed, Claim: inspect.RefOf(claim), Request: request.Name, Path: path, NamesRequest: true,
			Message: fmt.Sprintf("request %s: neither exactly nor firstAvailable is set", request.Name),
		}
	}
	if !s.Features().Enabled(inspect.GatePrioritizedList) {
		return &explain.Reason{
			Code: allocator.FeatureDisabled, Claim: inspect.RefOf(claim),
			Request: request.Name, Path: path + ".firstAvailable",
			Key: string(inspect.GatePrioritizedList), NamesRequest: true,
			Message: fmt.Sprintf("request %s has subrequests, but the feature gate %s is off", request.Name, inspect.GatePrioritizedList),
		}
	}
	for i := range request.FirstAvailable {
		sub := &request.FirstAvailable[i]
		if r := missing(request.Name+"/"+sub.Name, fmt.Sprintf("%s.firstAvailable[%d]", path, i), sub.DeviceClassName); r != nil {
			return r
		}
	}
	return nil
}

// maxSimilar is the number of classes that are named instead of one that does not exist.
const maxSimilar = 3

// existing names the classes that exist, of many those with the most similar names, so that a wrong name can
// be corrected.
func existing(s *inspect.Snapshot, class string) string {
	names := spelling.ClassesLike(s, class)
	if len(names) == 0 {
		return "; there are no device classes"
	}
	return "; there " + words.Plural(len(names), "is ", "are ") + words.Shorten(names, maxSimilar)
}
