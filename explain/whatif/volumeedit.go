package whatif

import (
	"cmp"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// VolumeClaimEdit makes a volume claim that has no volume yet ask for less, or for another storage class.
type VolumeClaimEdit struct {
	Namespace, Name string
	// Size is what it asks for then. It is nil if that stays as it is.
	Size *resource.Quantity
	// Class is the storage class. It is "" if that stays as it is.
	Class string
}

// Key names the claim and what becomes of it.
func (e VolumeClaimEdit) Key() string {
	size := ""
	if e.Size != nil {
		size = e.Size.String()
	}
	return fmt.Sprintf("volume claim %q size %q class %q", e.Namespace+"/"+e.Name, size, e.Class)
}

// Apply puts a changed copy in the place of the claim. One that is made from a volume of the pod is made anew
// with it: for no node yet, which the scheduler writes into its annotations.
func (e VolumeClaimEdit) Apply(d *Draft) {
	d.around[e.Key()] = func(o *inspect.Objects) {
		suppose.ChangeVolumeClaim(o, e.Namespace, e.Name, func(claim *corev1.PersistentVolumeClaim) { e.change(claim, d.q.Pod) })
	}
}

// change changes a copy of the claim of a question of a pod, which may be nil.
func (e VolumeClaimEdit) change(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) {
	claim.UID += "-anew" // volumes that are kept for the claim as it was are not for this one
	if source := e.sourceIn(pod); source != nil && source.VolumeClaimTemplate != nil {
		template := source.VolumeClaimTemplate
		class := claim.Spec.StorageClassName // which the server fills in where the template has none
		claim.Spec, claim.Status = *template.Spec.DeepCopy(), corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		claim.Annotations = maps.Clone(template.Annotations)
		claim.Spec.StorageClassName = cmp.Or(claim.Spec.StorageClassName, class)
	}
	if e.Size != nil {
		if claim.Spec.Resources.Requests == nil {
			claim.Spec.Resources.Requests = corev1.ResourceList{}
		}
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = *e.Size
	}
	if e.Class != "" {
		claim.Spec.StorageClassName = &e.Class
	}
}

// patch writes the change below the spec of a claim, or of the template of one.
func (e VolumeClaimEdit) patch(root string, spec *corev1.PersistentVolumeClaimSpec) []explain.PatchOperation {
	var out []explain.PatchOperation
	if e.Size != nil {
		out = append(out, explain.PatchOperation{Op: "replace", Path: root + "/resources/requests/storage", Value: e.Size.String()})
	}
	if e.Class != "" {
		op := "replace"
		if spec.StorageClassName == nil {
			op = "add"
		}
		out = append(out, explain.PatchOperation{Op: op, Path: root + "/storageClassName", Value: e.Class})
	}
	return out
}

// PatchPod changes the volume of the pod from which the claim is made. It does nothing for a claim by itself.
func (e VolumeClaimEdit) PatchPod(p *Patch) {
	for i := range p.q.Pod.Spec.Volumes {
		v := &p.q.Pod.Spec.Volumes[i]
		if !e.madeFrom(p.q.Pod, v) {
			continue
		}
		// The template may lack the class, which the server then fills in for the claim: "add" also replaces.
		for _, op := range e.patch(fmt.Sprintf("/spec/volumes/%d/ephemeral/volumeClaimTemplate/spec", i), &corev1.PersistentVolumeClaimSpec{}) {
			p.Add(op.Op, op.Path, op.Value)
		}
	}
}

func (e VolumeClaimEdit) madeFrom(pod *corev1.Pod, v *corev1.Volume) bool {
	return v.Ephemeral != nil && pod.Namespace == e.Namespace && ephemeral.VolumeClaimName(pod, v) == e.Name
}

// volumeChanges are those of volume claims that are objects by themselves.
func volumeChanges(q *Question, edits []Edit) []explain.ObjectChange {
	var out []explain.ObjectChange
	for _, edit := range edits {
		e, ok := edit.(VolumeClaimEdit)
		if !ok || q.Pod != nil && e.OfPod(q.Pod) {
			continue
		}
		if claim, ok := q.Cluster.Snapshot().VolumeClaim(e.Namespace, e.Name); ok {
			out = append(out, explain.ObjectChange{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: e.Namespace, Name: e.Name, Patch: e.patch("/spec", &claim.Spec),
			})
		}
	}
	return out
}

// OfPod reports whether the claim is made from a volume of the pod.
func (e VolumeClaimEdit) OfPod(pod *corev1.Pod) bool { return e.sourceIn(pod) != nil }

// sourceIn is the volume of a pod from which the claim is made, or nil. The pod may be nil.
func (e VolumeClaimEdit) sourceIn(pod *corev1.Pod) *corev1.EphemeralVolumeSource {
	if pod == nil {
		return nil
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; e.madeFrom(pod, v) {
			return v.Ephemeral
		}
	}
	return nil
}
