package volume

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

const (
	// maxSizes and maxClasses bound what is tried.
	maxSizes, maxClasses = 8, 32
	// maxClassFixes is the number of other classes that are proposed.
	maxClassFixes = 2
)

// fixes are changes of the claim with which it fits somewhere. Each was tried.
func (v *volumeQuestion) fixes(ctx context.Context) ([]explain.Fix, error) {
	var out []explain.Fix
	for _, size := range v.sizes() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		fix := explain.Fix{
			Kind: explain.ReduceVolume, Key: words.Key("size", size.String()), Message: "ask for " + size.String() + " at most",
			Patch: []explain.PatchOperation{{Op: "replace", Path: "/spec/resources/requests/storage", Value: size.String()}},
		}
		if v.try(&fix, func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests[corev1.ResourceStorage] = size }) {
			out = append(out, fix)
			break
		}
	}
	classes, err := v.otherClasses(ctx)
	return append(out, classes...), err
}

// sizes are those that nodes offer to a claim that asks for more, the largest first.
func (v *volumeQuestion) sizes() []resource.Quantity {
	var out []resource.Quantity
	for i := range v.e.Volume.Nodes {
		n := &v.e.Volume.Nodes[i]
		if n.Missing == nil || n.Offered == nil || n.Offered.Sign() <= 0 {
			continue
		}
		out = append(out, *n.Offered)
	}
	slices.SortStableFunc(out, func(a, b resource.Quantity) int { return b.Cmp(a) })
	out = slices.CompactFunc(out, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
	return out[:min(len(out), maxSizes)]
}

// otherClasses proposes the storage classes with which the claim fits on most nodes.
func (v *volumeQuestion) otherClasses(ctx context.Context) ([]explain.Fix, error) {
	if _, annotated := v.answer.Claim.Annotations[corev1.BetaStorageClassAnnotation]; annotated {
		return nil, nil
	}
	op := "replace"
	if v.answer.Claim.Spec.StorageClassName == nil {
		op = "add"
	}
	var out []explain.Fix
	for i, class := range v.index.Snapshot().Objects().StorageClasses {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if class.Name == v.answer.Class.Name || i >= maxClasses {
			continue
		}
		fix := explain.Fix{
			Kind: explain.ChangeStorageClass, Key: words.Key("class", class.Name), Message: "ask for a volume of class " + class.Name,
			Patch: []explain.PatchOperation{{Op: op, Path: "/spec/storageClassName", Value: class.Name}},
		}
		if v.try(&fix, func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &class.Name }) {
			out = append(out, fix)
		}
	}
	slices.SortStableFunc(out, func(a, b explain.Fix) int { return b.Nodes - a.Nodes })
	return out[:min(len(out), maxClassFixes)], nil
}

// try makes a change of the claim in a copy of the snapshot, and fills in where the claim then fits.
func (v *volumeQuestion) try(fix *explain.Fix, change func(*corev1.PersistentVolumeClaim)) bool {
	changed := v.answer.Claim.DeepCopy()
	change(changed)
	after := v.index.Snapshot().With(func(o *inspect.Objects) {
		o.VolumeClaims = slices.Clone(o.VolumeClaims)
		at := slices.IndexFunc(o.VolumeClaims, func(c *corev1.PersistentVolumeClaim) bool {
			return c.Namespace == changed.Namespace && c.Name == changed.Name
		})
		o.VolumeClaims[at] = changed
	})
	answer, ok := filters.NewIndex(after, v.index).VolumeClaim(changed.Namespace, changed.Name, v.nodes...)
	if !ok || !answer.Everywhere.Passes() {
		return false
	}
	for i := range answer.Nodes {
		if o := answer.Nodes[i].Outcome(); o.Passes() {
			if fix.Nodes++; fix.Nodes == 1 {
				fix.Node = answer.Nodes[i].Node
			}
		}
	}
	return fix.Nodes > 0
}
