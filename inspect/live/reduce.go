package live

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reducePod drops what no question about devices reads, page by page, so that the pods of a large
// cluster fit into memory and nothing secret (environment, commands, annotations) is kept. What stays:
//
//   - metadata: name, namespace, UID, labels, creation and deletion time, owners
//   - spec: node, scheduler, priority, gates, group, claims, node selector, affinity, tolerations,
//     overhead and, of the containers, name, restart policy and resources (with their claims)
//   - status: phase, reason, message, conditions, nominated node and everything about claims
func reducePod(p *corev1.Pod) {
	meta, spec, status := p.ObjectMeta, p.Spec, p.Status
	p.ObjectMeta = metav1.ObjectMeta{
		Name: meta.Name, Namespace: meta.Namespace, UID: meta.UID, ResourceVersion: meta.ResourceVersion,
		Labels: meta.Labels, OwnerReferences: meta.OwnerReferences,
		CreationTimestamp: meta.CreationTimestamp, DeletionTimestamp: meta.DeletionTimestamp,
	}
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

// reduceNode drops the lists of images and volumes, by far the largest part of a node.
func reduceNode(n *corev1.Node) {
	n.Status.Images, n.Status.VolumesInUse, n.Status.VolumesAttached = nil, nil, nil
}
