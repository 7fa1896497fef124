package whatif

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
)

// ChangesOf writes down which objects the edits change, and how: the claims, or the templates from which they
// are made, then the pod, then device classes. Edits that nobody can write into an object, such as the
// release of a claim, are left out.
func ChangesOf(ctx context.Context, q *Question, edits []Edit) []explain.ObjectChange {
	var out []explain.ObjectChange
	done := map[int]bool{}
	for _, e := range edits {
		s, ok := e.(SpecEdit)
		if !ok || done[s.Target().Claim] || q.Generated(s.Target().Claim) {
			continue
		}
		claim := s.Target().Claim
		done[claim] = true
		of := slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { s, ok := e.(SpecEdit); return !ok || s.Target().Claim != claim })
		change, root := q.writtenIn(claim)
		if change.Patch = specPatch(ctx, q, of, root); len(change.Patch) > 0 {
			out = append(out, change)
		}
	}
	pod := explain.ObjectChange{APIVersion: "v1", Kind: "Pod", Namespace: q.Subject.Namespace, Name: q.Subject.Name}
	if pod.Patch = append(patchOfPod(q, edits), patchOfContainers(q, edits)...); len(pod.Patch) > 0 {
		out = append(out, pod)
	}
	out = append(out, volumeChanges(q, edits)...)
	return append(out, classChanges(ctx, q, edits)...)
}

// writtenIn returns the object in which a claim of the question is written down, without a patch, and the
// JSON pointer to the spec of the claim in it.
func (q *Question) writtenIn(claim int) (object explain.ObjectChange, root string) {
	c := q.Claims[claim]
	object = explain.ObjectChange{
		APIVersion: resourcev1.SchemeGroupVersion.String(), Kind: "ResourceClaim", Namespace: c.Namespace, Name: c.Name,
	}
	template := q.TemplateOf(claim)
	if q.Subject.Kind == "ResourceClaimTemplate" {
		template = q.Subject.Name
	}
	if template == "" {
		return object, "/spec"
	}
	object.Kind, object.Name = "ResourceClaimTemplate", template
	return object, "/spec/spec"
}

// classChanges are those of device classes: terms of selectors that change, and classes that are created.
func classChanges(ctx context.Context, q *Question, edits []Edit) []explain.ObjectChange {
	var out []explain.ObjectChange
	class := func(name string) explain.ObjectChange {
		return explain.ObjectChange{APIVersion: resourcev1.SchemeGroupVersion.String(), Kind: "DeviceClass", Name: name}
	}
	d := q.draft(edits)
	terms := d.classEdits()
	for _, name := range slices.Sorted(maps.Keys(terms)) {
		old, ok := q.Cluster.Snapshot().Class(name)
		if !ok {
			continue
		}
		change := class(name)
		for _, i := range slices.Backward(slices.Sorted(maps.Keys(terms[name]))) { // from the back, so that indices stay true
			path := fmt.Sprintf("/spec/selectors/%d", i)
			if cel := rewrite(ctx, q, old.Spec.Selectors[i].CEL, terms[name][i]); cel != nil {
				change.Patch = append(change.Patch, explain.PatchOperation{Op: "replace", Path: path + "/cel/expression", Value: cel.Expression})
				continue
			}
			change.Patch = append(change.Patch, explain.PatchOperation{Op: "remove", Path: path})
		}
		out = append(out, change)
	}
	for _, e := range edits {
		created, ok := e.(CreateClassesEdit)
		if !ok {
			continue
		}
		for _, name := range created.Names {
			change := class(name)
			change.Creates = true
			out = append(out, change)
		}
	}
	return out
}

// patchOfContainers writes numbers of devices of the claim for extended resources into the containers that
// ask for them.
func patchOfContainers(q *Question, edits []Edit) []explain.PatchOperation {
	var out []explain.PatchOperation
	for _, e := range edits {
		count, ok := e.(CountEdit)
		if !ok || !q.Generated(count.At.Claim) || q.Pod == nil {
			continue
		}
		c, name, ok := suppose.ContainerFor(q.Pod, q.Claims[count.At.Claim].Spec.Devices.Requests[count.At.Request].Name)
		if !ok {
			return nil
		}
		for _, list := range []struct {
			field  string
			amount corev1.ResourceList
		}{{"limits", c.Resources.Limits}, {"requests", c.Resources.Requests}} {
			if _, ok := list.amount[name]; ok {
				path := c.Path + "/resources/" + list.field + "/" + escape(string(name))
				out = append(out, explain.PatchOperation{Op: "replace", Path: path, Value: count.Count})
			}
		}
	}
	return out
}
