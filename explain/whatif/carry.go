package whatif

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Carried is what edits come to when they are made for good, so that others are asked after them.
type Carried struct {
	// Snapshot is the cluster with all that is changed around the subject. Templates are changed in it too.
	Snapshot *inspect.Snapshot
	// Claims are those of the question, changed where edits are about them, and Pod is the pod. They are not
	// in the Snapshot. Pod is nil if the question is about a claim.
	Claims []*resourcev1.ResourceClaim
	Pod    *corev1.Pod
	// ChangesSubject says that some edit is about the claims of the question or its pod.
	ChangesSubject bool
}

// Carry makes edits for good. It is nil if that cannot be done: claims that the scheduler generates for
// extended resources nobody can write.
func (q *Question) Carry(ctx context.Context, edits []explain.Edit) *Carried {
	made := make([]Edit, len(edits))
	out := &Carried{}
	for i, e := range edits {
		edit, ok := e.(Edit)
		if !ok {
			return nil
		}
		if claim, ok := edit.(ClaimEdit); ok && (claim.Target().Claim >= len(q.Claims) || q.Generated(claim.Target().Claim)) {
			return nil
		}
		_, ofPod := edit.(PodEdit)
		out.ChangesSubject = out.ChangesSubject || ofPod || isSpecEdit(edit)
		made[i] = edit
	}
	d := q.Draft(made)
	d.changeClasses(ctx)
	out.Claims, out.Pod = d.Result(ctx), d.pod
	out.Snapshot = d.snapshot(q.Cluster.Snapshot().With(func(o *inspect.Objects) {
		d.releaseForGood(o)
		q.changeTemplates(o, out.Claims)
	}))
	return out
}

// releaseForGood takes their devices from the claims that are released, and ends the pods that end.
func (d *Draft) releaseForGood(o *inspect.Objects) {
	Release(o, slices.Collect(maps.Keys(d.released))...)
	if len(d.ended) > 0 {
		o.Pods = slices.DeleteFunc(o.Pods, func(p *corev1.Pod) bool { return d.ended[inspect.PodRef{Namespace: p.Namespace, Name: p.Name}] })
	}
}

// changeTemplates puts the changed claims of the question into the templates that they are made from.
func (q *Question) changeTemplates(o *inspect.Objects, changed []*resourcev1.ResourceClaim) {
	for i, claim := range changed {
		name := q.TemplateOf(i)
		if name == "" || claim == q.Claims[i] {
			continue
		}
		for j, template := range o.Templates {
			if template.Namespace == claim.Namespace && template.Name == name {
				o.Templates[j] = template.DeepCopy()
				o.Templates[j].Spec.Spec = *claim.Spec.DeepCopy()
			}
		}
	}
}
