package whatif

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// FittingAnew returns the nodes that fit with edits of a part of the question (see Partial), whatever part
// they belong to: the claim that depends on the node is made for the changed pod. There are none if the
// scheduler gives up.
func (q *Question) FittingAnew(ctx context.Context, part *Question, edits []Edit) []inspect.NodeName {
	again := q.madeAnew(edits)
	if again == nil {
		return nil
	}
	whole := *again
	whole.Pod, whole.Answers, whole.sandboxes, whole.prepare = part.podWith(edits), nil, nil, &preparation{}
	whole.PerNode = q.PerNode.Of(whole.Pod)
	others := slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool {
		s, ok := e.(ClaimEdit)
		_, ofPod := e.(PodEdit)
		if _, ofClass := e.(ClassTermEdit); ofClass {
			return true
		}
		if _, ofClaim := e.(VolumeClaimEdit); ofClaim { // written into the pod, and what is made of it changes
			return false
		}
		return ofPod || ok && part.Generated(s.Target().Claim)
	})
	// Classes change as the requests of the part say, which need not be those of other nodes.
	if classes := part.draft(edits).classEdits(); len(classes) > 0 {
		others = append(others, classesEdit{ctx, classes})
	}
	var out []inspect.NodeName
	_, suitable, _ := whole.sortNodes()
	for _, v := range variants(&whole, suitable) {
		nodes := pick(q.Nodes, v.nodes)
		fitting, abort := v.q.Real(ctx, others).Sweep(ctx, nodes)
		if q.Fail(v.q.err); q.err != nil || abort != nil || fitting.Risk == explain.WouldTimeOut {
			return nil
		}
		for _, list := range fitting.Lists {
			for _, n := range list {
				out = append(out, inspect.NodeName(nodes[n].Name))
			}
		}
	}
	return out
}

// classesEdit replaces terms of classes, by name, selector and term.
type classesEdit struct {
	ctx     context.Context //nolint:containedctx // it lives as long as a call of FittingAnew
	classes map[string]map[int]map[int]string
}

func (e classesEdit) Key() string { return fmt.Sprint("classes ", e.classes) }

func (e classesEdit) Apply(d *Draft) {
	for name, terms := range e.classes {
		d.changes["class "+name] = func(o *inspect.Objects) { rewriteClass(e.ctx, d.q, o, name, terms) }
	}
}

// podWith is the pod with the edits that are written into it, those of the claim that is made of its
// containers too.
func (q *Question) podWith(edits []Edit) *corev1.Pod {
	d := q.draft(edits)
	for _, e := range edits {
		count, ok := e.(CountEdit)
		if !ok || !q.Generated(count.At.Claim) {
			continue
		}
		c, name, ok := suppose.ContainerFor(d.Pod(), q.Claims[count.At.Claim].Spec.Devices.Requests[count.At.Request].Name)
		if !ok {
			continue
		}
		for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
			if _, ok := list[name]; ok {
				list[name] = *resource.NewQuantity(count.Count, resource.DecimalSI)
			}
		}
	}
	return d.pod
}
