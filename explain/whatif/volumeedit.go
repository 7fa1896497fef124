package whatif

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// VolumeClaimEdit makes a volume claim that has no volume yet ask for something else.
type VolumeClaimEdit struct{ suppose.VolumeClaim }

// Apply puts a changed copy in the place of the claim. One that is made from a volume of the pod is made anew
// with it: for no node yet, which the scheduler writes into its annotations.
func (e VolumeClaimEdit) Apply(d *Draft) {
	d.around[e.Key()] = func(o *inspect.Objects) {
		suppose.ChangeVolumeClaim(o, e.Namespace, e.Name, func(claim *corev1.PersistentVolumeClaim) { e.Make(claim, d.q.Pod) })
	}
}

// PatchPod changes the volume of the pod from which the claim is made. It does nothing for a claim by itself.
func (e VolumeClaimEdit) PatchPod(p *Patch) {
	for i := range p.q.Pod.Spec.Volumes {
		v := &p.q.Pod.Spec.Volumes[i]
		if !e.MadeFrom(p.q.Pod, v) {
			continue
		}
		// The template may lack the class, which the server then fills in for the claim: "add" also replaces.
		for _, op := range e.Patch(fmt.Sprintf("/spec/volumes/%d/ephemeral/volumeClaimTemplate/spec", i), &corev1.PersistentVolumeClaimSpec{}) {
			p.Add(op.Op, op.Path, op.Value)
		}
	}
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
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: e.Namespace, Name: e.Name, Patch: e.Patch("/spec", &claim.Spec),
			})
		}
	}
	return out
}
