package question

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Workload explains one pod of an object whose controller makes pods, by itself. Patches are made for the
// object. Errors are those of [Claim].
func Workload(ctx context.Context, c *scheduler.Cluster, w *inspect.Workload, opts Options) (*explain.Explanation, error) {
	e, err := PodObject(ctx, c, w.Pod, opts)
	if err != nil {
		return nil, err
	}
	e.Workload = &explain.Workload{
		APIVersion: w.Type.APIVersion, Kind: w.Type.Kind, Namespace: w.Namespace, Name: w.Name,
		Path: w.Path, Pods: w.Replicas, EachNode: w.EachNode,
	}
	if w.Held != nil {
		e.Workload.Held = w.Held.Why
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
	release(e, w.Held)
	if w.Unseen {
		unseen(e, w.Type.Kind)
	}
	if w.Queue != "" {
		e.Partial = append(e.Partial, InQueue(w))
		if e.Verdict == explain.Allocatable {
			e.Verdict = explain.Unknown
			e.Say("could be scheduled on %d of %d nodes, once it is admitted to its queue", e.Nodes.Allocatable, e.Nodes.Total)
		}
	}
	return e, nil
}

// InQueue says that an object has to be admitted to its queue before its controller makes pods.
func InQueue(w *inspect.Workload) string {
	return fmt.Sprintf("%s %s is for the queue %s: where Kueue runs, it suspends the %s until the queue admits it, and the quota of queues is not looked at", w.Type.Kind, w.Name, w.Queue, w.Type.Kind)
}

// release says what makes the controller make pods, where waiting for that is all that is needed.
func release(e *explain.Explanation, held *inspect.Held) {
	if held == nil {
		return
	}
	for i := range e.Fixes {
		if f := &e.Fixes[i]; f.Kind == explain.WaitFor && f.Key == waitForGates {
			f.Message = held.Until
			if held.Pointer != "" {
				f.Patch = []explain.PatchOperation{{Op: "replace", Path: held.Pointer, Value: held.Value}}
			}
		}
	}
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

// unseen says that the pod may ask for more than is known. What cannot be allocated stays so; all else is
// open.
func unseen(e *explain.Explanation, kind string) {
	e.Partial = append(e.Partial, "the controller of the "+kind+" makes the pod; only its claims and where it may run are known from here")
	if e.Verdict == explain.Allocatable {
		e.Verdict = explain.Unknown
		e.Say("could be allocated on %d of %d nodes as far as can be seen, but the pod itself is not known", e.Nodes.Allocatable, e.Nodes.Total)
	}
}
