package filters

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/utils/ptr"
)

// Volume claims from files may not have been created yet either, and claims of pods that have not been are
// not there.

// DefaultStorageClass returns the class of which claims get a volume that do not name any, or nil (admission
// plugin DefaultStorageClass). Of several it is the newest.
func DefaultStorageClass(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	var best *storagev1.StorageClass
	for _, class := range classes {
		isDefault := class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
		if !isDefault {
			continue
		}
		if best == nil || best.CreationTimestamp.Before(&class.CreationTimestamp) || best.CreationTimestamp.Equal(&class.CreationTimestamp) && class.Name < best.Name {
			best = class
		}
	}
	return best
}

// unclassed reports whether a claim that has not been created names no class, not even none ("").
func unclassed(claim *corev1.PersistentVolumeClaim) bool {
	_, annotated := claim.Annotations[corev1.BetaStorageClassAnnotation]
	return claim.UID == "" && claim.Spec.StorageClassName == nil && claim.Spec.VolumeName == "" && !annotated
}

// onceCreated is a claim as it is once it has been created.
func (o *volumeObjects) onceCreated(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	if o.defaultClass == nil || !unclassed(claim) {
		return claim
	}
	out := claim.DeepCopy()
	out.Spec.StorageClassName = &o.defaultClass.Name
	return out
}

// claimFor is the claim that will be made for an ephemeral volume once its pod has been created. It is nil if
// the pod has been.
func (o *volumeObjects) claimFor(pod *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolumeClaim {
	if !uncreated(pod) || v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
		return nil
	}
	template := v.Ephemeral.VolumeClaimTemplate
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: ephemeral.VolumeClaimName(pod, v), Labels: template.Labels, Annotations: template.Annotations,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: ptr.To(true)}},
	}, Spec: *template.Spec.DeepCopy()}
	claim.Status.Phase = corev1.ClaimPending
	return o.onceCreated(claim)
}

// ClaimsToCome returns the names of the claims that will be made for a pod once it has been created, with
// which it is decided. They are in the order of its volumes.
func (x *Index) ClaimsToCome(pod *corev1.Pod) []string {
	var out []string
	for _, use := range x.volumesOf(pod) {
		if use.toCome && !slices.Contains(out, use.name.name) {
			out = append(out, use.name.name)
		}
	}
	return out
}
