package live

import (
	corev1 "k8s.io/api/core/v1"
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
