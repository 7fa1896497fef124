package randompod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// status is what a kubelet says of the pod, in the middle of a resize or not.
func (g Maker) status(pod *corev1.Pod) {
	s := &pod.Status
	s.Phase = oneOf(g, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded)
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.PodReadyToStartContainers, corev1.ContainersReady, corev1.PodReady} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: oneOf(g, corev1.ConditionTrue, corev1.ConditionFalse)})
	}
	if g.once(3) {
		s.Conditions = append(s.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: oneOf(g, corev1.PodReasonInfeasible, corev1.PodReasonDeferred),
		})
	}
	for i := range pod.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, g.containerStatus(&pod.Spec.InitContainers[i]))
	}
	for i := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, g.containerStatus(&pod.Spec.Containers[i]))
	}
	if g.once(3) {
		s.AllocatedResources, s.Resources = g.list(5), &corev1.ResourceRequirements{Requests: g.list(5), Limits: g.list(9)}
	}
	if g.once(3) {
		claim := corev1.NodeAllocatableResourceClaimStatus{ResourceClaimName: "claim", Containers: []string{"c-0"}}
		claim.Mapping = []corev1.NodeAllocatableMappedResources{{Name: corev1.ResourceCPU, Quantity: ptr.To(resource.MustParse("1"))}}
		s.NodeAllocatableResourceClaimStatuses = append(s.NodeAllocatableResourceClaimStatuses, claim)
	}
}

func (g Maker) containerStatus(c *corev1.Container) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: c.Name, Ready: true, Image: c.Image, ImageID: "id", ContainerID: "id", RestartCount: int32(g.rand.IntN(2)),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}
	switch g.rand.IntN(4) {
	case 0: // as the spec says
		s.AllocatedResources, s.Resources = c.Resources.Requests.DeepCopy(), c.Resources.DeepCopy()
	case 1: // the kubelet has not done all yet
		s.AllocatedResources, s.Resources = g.list(5), &corev1.ResourceRequirements{Requests: g.list(5)}
	case 2:
		s.AllocatedResources = g.list(5)
	}
	return s
}
