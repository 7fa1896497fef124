package cli

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// pendingReason says in one line what a claim waits for, as far as its state and its pods tell without
// asking the allocator.
func pendingReason(s *inspect.Snapshot) func(*resourcev1.ResourceClaim) string {
	return func(claim *resourcev1.ResourceClaim) string {
		switch inspect.StateOf(claim) {
		case inspect.ClaimDeleting:
			if n := len(claim.Status.ReservedFor); n > 0 {
				return fmt.Sprintf("deletion waits for %d consumers", n)
			}
			return "deletion waits for finalizers"
		case inspect.ClaimPending:
			return waitsFor(s, claim)
		}
		return ""
	}
}

func waitsFor(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	pods := s.PodsOf(inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name})
	if len(pods) == 0 {
		if s.Health(inspect.Pods).Complete() {
			return "no pod uses it"
		}
		return ""
	}
	pod, ok := s.Pod(pods[0])
	if !ok {
		return ""
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		return fmt.Sprintf("pod %s is gated by %s", pod.Name, pod.Spec.SchedulingGates[0].Name)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == "PodScheduled" && condition.Status == "False" && condition.Message != "" {
			return strings.Join(strings.Fields(condition.Message), " ")
		}
	}
	return ""
}
