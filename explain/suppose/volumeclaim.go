package suppose

import (
	"cmp"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// VolumeClaim makes a volume claim that has no volume yet ask for less, or for another storage class.
type VolumeClaim struct {
	Namespace, Name string
	// Size is what it asks for then. It is nil if that stays as it is.
	Size *resource.Quantity
	// Class is the storage class. It is "" if that stays as it is.
	Class string
}

// Key names the claim and what becomes of it.
func (c VolumeClaim) Key() string {
	size := ""
	if c.Size != nil {
		size = c.Size.String()
	}
	return fmt.Sprintf("volume claim %q size %q class %q", c.Namespace+"/"+c.Name, size, c.Class)
}

// Make changes a copy of the claim of a question of a pod, which may be nil.
func (c VolumeClaim) Make(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) {
	claim.UID += "-anew" // volumes that are kept for the claim as it was are not for this one
	if source := c.sourceIn(pod); source != nil && source.VolumeClaimTemplate != nil {
		template := source.VolumeClaimTemplate
		class := claim.Spec.StorageClassName // which the server fills in where the template has none
		claim.Spec, claim.Status = *template.Spec.DeepCopy(), corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		claim.Annotations = maps.Clone(template.Annotations)
		claim.Spec.StorageClassName = cmp.Or(claim.Spec.StorageClassName, class)
	}
	if c.Size != nil {
		if claim.Spec.Resources.Requests == nil {
			claim.Spec.Resources.Requests = corev1.ResourceList{}
		}
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = *c.Size
	}
	if c.Class != "" {
		claim.Spec.StorageClassName = &c.Class
	}
}

// Patch writes the change below the spec of a claim, or of the template of one.
func (c VolumeClaim) Patch(root string, spec *corev1.PersistentVolumeClaimSpec) []explain.PatchOperation {
	var out []explain.PatchOperation
	if c.Size != nil {
		out = append(out, explain.PatchOperation{Op: "replace", Path: root + "/resources/requests/storage", Value: c.Size.String()})
	}
	if c.Class != "" {
		op := "replace"
		if spec.StorageClassName == nil {
			op = "add"
		}
		out = append(out, explain.PatchOperation{Op: op, Path: root + "/storageClassName", Value: c.Class})
	}
	return out
}

// OfPod reports whether the claim is made from a volume of the pod.
func (c VolumeClaim) OfPod(pod *corev1.Pod) bool { return c.sourceIn(pod) != nil }

// sourceIn is the volume of a pod from which the claim is made, or nil. The pod may be nil.
func (c VolumeClaim) sourceIn(pod *corev1.Pod) *corev1.EphemeralVolumeSource {
	if pod == nil {
		return nil
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; c.MadeFrom(pod, v) {
			return v.Ephemeral
		}
	}
	return nil
}

// MadeFrom reports whether the claim is made from a volume of a pod.
func (c VolumeClaim) MadeFrom(pod *corev1.Pod, v *corev1.Volume) bool {
	return v.Ephemeral != nil && pod.Namespace == c.Namespace && ephemeral.VolumeClaimName(pod, v) == c.Name
}
