package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// reduceMeta drops of the metadata all but name, namespace, UID, labels, creation and deletion time, owners,
// and the annotations that are read.
func reduceMeta(m *metav1.ObjectMeta) {
	inspect.ReduceAnnotations(m)
	*m = metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Labels: m.Labels, Annotations: m.Annotations, OwnerReferences: m.OwnerReferences,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

// Bare drops nothing but most of the metadata, see reduceMeta.
func Bare(o Object) {
	reduceMeta(o.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)) //nolint:forcetypeassert // they are those of every API type
}
