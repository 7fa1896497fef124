package inspect

import corev1 "k8s.io/api/core/v1"

// ReducePod drops from the spec and status of a pod what no question about devices reads, so that the
// pods of a large cluster fit into memory and nothing secret (environment, commands) is kept. What stays:
//
//   - spec: node, scheduler, priority, gates, group, claims, node selector, affinity, tolerations,
//     overhead and, of the containers, name, restart policy and resources (with their claims)
//   - status: phase, reason, message, conditions, nominated node and everything about claims
func ReducePod(p *corev1.Pod) {
	spec, status := p.Spec, p.Status
	p.Spec = corev1.PodSpec{
		NodeName: spec.NodeName, SchedulerName: spec.SchedulerName,
		Priority: spec.Priority, PriorityClassName: spec.PriorityClassName,
		SchedulingGates: spec.SchedulingGates, SchedulingGroup: spec.SchedulingGroup,
		ResourceClaims: spec.ResourceClaims, Resources: spec.Resources, Overhead: spec.Overhead,
		NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		InitContainers: reduceContainers(spec.InitContainers), Containers: reduceContainers(spec.Containers),
	}
	p.Status = corev1.PodStatus{
		Phase: status.Phase, Reason: status.Reason, Message: status.Message, Conditions: status.Conditions,
		NominatedNodeName:                    status.NominatedNodeName,
		ResourceClaimStatuses:                status.ResourceClaimStatuses,
		ExtendedResourceClaimStatus:          status.ExtendedResourceClaimStatus,
		NodeAllocatableResourceClaimStatuses: status.NodeAllocatableResourceClaimStatuses,
	}
}

func reduceContainers(in []corev1.Container) []corev1.Container {
	if len(in) == 0 {
		return nil
	}
	out := make([]corev1.Container, len(in))
	for i, c := range in {
		out[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return out
}
