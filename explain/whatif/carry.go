package whatif

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Carry makes edits for good, so that others are asked after them. The claims and the pod are those of the
// draft, and are not in the snapshot; templates are changed in it too. The draft is nil if that cannot be
// done: claims that the scheduler generates for extended resources nobody can write.
func (q *Question) Carry(ctx context.Context, edits []explain.Edit) (*Draft, *inspect.Snapshot) {
	made := make([]Edit, len(edits))
	for i, e := range edits {
		edit, ok := e.(Edit)
		if !ok {
			return nil, nil
		}
		if claim, ok := edit.(ClaimEdit); ok && (claim.Target().Claim >= len(q.Claims) || q.Generated(claim.Target().Claim)) {
			return nil, nil
		}
		made[i] = edit
	}
	d := q.draft(made)
	d.changeClasses(ctx)
	d.Claims = d.result(ctx)
	return d, d.snapshot(q.Cluster.Snapshot().With(func(o *inspect.Objects) {
		d.releaseForGood(o)
		q.changeTemplates(o, d.Claims)
	}))
}

// releaseForGood takes their devices from the claims that are released, and ends the pods that end.
func (d *Draft) releaseForGood(o *inspect.Objects) {
	suppose.Release(o, slices.Collect(maps.Keys(d.released))...)
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
