package filters

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// requestRules are what decides how much a pod takes, besides the pod.
type requestRules struct {
	// podLevel: the resources of a pod as a whole count instead of the sum of its containers (gate PodLevelResources).
	podLevel bool
	// statuses: what a running pod has counts as well as what its spec says (gate InPlacePodVerticalScaling).
	statuses bool
	// podLevelStatuses: so do the resources of the pod as a whole (gate InPlacePodLevelResourcesVerticalScaling).
	podLevelStatuses bool
	// devices: what allocated devices take of the node counts (gate DRANodeAllocatableResources).
	devices bool
}

func requestRulesOf(s *inspect.Snapshot) requestRules {
	f := s.Features()
	return requestRules{podLevel: true, statuses: true, podLevelStatuses: true, devices: f.Enabled(inspect.GateNodeAllocatableResources)}
}

// taken is what a pod on a node takes of it.
func (r requestRules) taken(pod *corev1.Pod) amounts {
	return amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{
		UseStatusResources: r.statuses, InPlacePodLevelResourcesVerticalScalingEnabled: r.podLevelStatuses,
		SkipPodLevelResources: !r.podLevel, UseDRANodeAllocatableResourceClaimStatus: r.devices,
	}))
}

// asked is what a pod that is not on a node yet asks for.
func (r requestRules) asked(pod *corev1.Pod) amounts {
	return amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{SkipPodLevelResources: !r.podLevel}))
}
