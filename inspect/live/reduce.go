package live

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// reducePod drops what no question about devices reads, page by page: what inspect.ReducePod drops, and
// of the metadata all but name, namespace, UID, labels, creation and deletion time, and owners.
func reducePod(p *corev1.Pod) {
	meta := p.ObjectMeta
	p.ObjectMeta = metav1.ObjectMeta{
		Name: meta.Name, Namespace: meta.Namespace, UID: meta.UID, ResourceVersion: meta.ResourceVersion,
		Labels: meta.Labels, OwnerReferences: meta.OwnerReferences,
		CreationTimestamp: meta.CreationTimestamp, DeletionTimestamp: meta.DeletionTimestamp,
	}
	inspect.ReducePod(p)
}

// reduceNode drops the lists of images and volumes, by far the largest part of a node.
func reduceNode(n *corev1.Node) {
	n.Status.Images, n.Status.VolumesInUse, n.Status.VolumesAttached = nil, nil, nil
}

// reduceSlice lets devices that have the same capacities share them: in large clusters these are a third of what
// slices take in memory.
func reduceSlice(s *resourcev1.ResourceSlice) {
	devices := s.Spec.Devices
	for i := 1; i < len(devices); i++ {
		// Equal in every bit, not only in the amount: a policy is a pointer, so only devices without one share.
		if maps.Equal(devices[i].Capacity, devices[i-1].Capacity) {
			devices[i].Capacity = devices[i-1].Capacity
		}
	}
}
