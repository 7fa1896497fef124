package question

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Workload explains one pod of an object whose controller makes pods, by itself. Patches are made for the object. Errors
// are those of [Claim].
func Workload(ctx context.Context, c *allocator.Cluster, w *inspect.Workload, opts Options) (*explain.Explanation, error) {
	e, err := PodObject(ctx, c, w.Pod, opts)
	if err != nil {
		return nil, err
	}
	e.Workload = &explain.Workload{
		APIVersion: w.Type.APIVersion, Kind: w.Type.Kind, Namespace: w.Namespace, Name: w.Name,
		Path: w.Path, Pods: w.Replicas, EachNode: w.EachNode,
	}
	for i := range e.Fixes {
		f := &e.Fixes[i]
		f.Patch = inTemplate(w, f.Patch)
		for j := range f.Changes {
			if c := &f.Changes[j]; c.Kind == "Pod" {
				c.APIVersion, c.Kind, c.Namespace, c.Name = w.Type.APIVersion, w.Type.Kind, w.Namespace, w.Name
				c.Patch = inTemplate(w, c.Patch)
			}
		}
	}
	if w.Unseen {
		unseen(e, w.Type.Kind)
	}
	return e, nil
}

// inTemplate returns operations on a pod as operations on the pod template of a workload.
func inTemplate(w *inspect.Workload, patch []explain.PatchOperation) []explain.PatchOperation {
	out := slices.Clone(patch)
	for i := range out {
		if rest, ok := strings.CutPrefix(out[i].Path, "/spec/"); ok {
			out[i].Path = w.SpecPointer + "/" + rest
		}
	}
	return out
}

// unseen says that the pod may ask for more than is known. What cannot be allocated stays so; all else is open.
func unseen(e *explain.Explanation, kind string) {
	e.Partial = append(e.Partial, "the controller of the "+kind+" makes the pod; only its claims and where it may run are known from here")
	if e.Verdict == explain.Allocatable {
		e.Verdict = explain.Unknown
		say(e, "could be allocated on %d of %d nodes as far as can be seen, but the pod itself is not known", e.Nodes.Allocatable, e.Nodes.Total)
	}
}
