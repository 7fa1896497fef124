package live

import (
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// reducePod drops what no question reads, page by page: what inspect.ReducePod drops, and what reduceMeta does.
func reducePod(p *corev1.Pod) {
	reduceMeta(&p.ObjectMeta)
	inspect.ReducePod(p)
}

// reduceMeta drops of the metadata all but name, namespace, UID, labels, creation and deletion time, owners, and the
// annotations that are read.
func reduceMeta(m *metav1.ObjectMeta) {
	inspect.ReduceAnnotations(m)
	*m = metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Labels: m.Labels, Annotations: m.Annotations, OwnerReferences: m.OwnerReferences,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

// sharePod lets a pod share with the one read before it what both have: pods of one controller come one after the other and
// differ in little, so that this is most of what pods take in memory.
func sharePod(p, before *corev1.Pod) {
	if p.Namespace != before.Namespace {
		return
	}
	p.Namespace = before.Namespace
	if maps.Equal(p.Labels, before.Labels) {
		p.Labels = before.Labels
	}
	share(&p.OwnerReferences, before.OwnerReferences)
	own, other := &p.Spec, &before.Spec
	share(&own.Containers, other.Containers)
	share(&own.InitContainers, other.InitContainers)
	share(&own.Tolerations, other.Tolerations)
	share(&own.TopologySpreadConstraints, other.TopologySpreadConstraints)
	share(&own.Affinity, other.Affinity)
	share(&own.NodeSelector, other.NodeSelector)
	share(&own.Overhead, other.Overhead)
	share(&own.Resources, other.Resources)
	share(&own.Volumes, other.Volumes)
	share(&own.ResourceClaims, other.ResourceClaims)
	share(&own.Priority, other.Priority)
	share(&own.SchedulerName, other.SchedulerName)
	share(&own.PriorityClassName, other.PriorityClassName)
	share(&own.RestartPolicy, other.RestartPolicy)
	share(&p.Status.Phase, before.Status.Phase)
	share(&p.Status.AllocatedResources, before.Status.AllocatedResources)
	share(&p.Status.Resources, before.Status.Resources)
}

// share replaces a value by another one that is equal in every bit, and in memory already.
func share[T any](value *T, by T) {
	if reflect.DeepEqual(*value, by) {
		*value = by
	}
}

// bare drops nothing but most of the metadata, see reduceMeta.
func bare[T any, PT interface {
	*T
	metav1.ObjectMetaAccessor
}](o *T) {
	reduceMeta(PT(o).GetObjectMeta().(*metav1.ObjectMeta)) //nolint:forcetypeassert // it is that of every API type
}

// reduceAttachment drops what is handed on to the kubelet.
func reduceAttachment(a *storagev1.VolumeAttachment) {
	reduceMeta(&a.ObjectMeta)
	a.Status.AttachmentMetadata = nil
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
