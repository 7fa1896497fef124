package requirement

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var (
	resourceKind = Kind{name: explain.ResourceRequired, Importance: 1, list: listResources}
	podsKind     = Kind{name: explain.PodsRequired, Importance: 6, list: listPods}
)

// resourceRequirement is what the pod asks of a resource of the node. It is given up by asking for nothing of
// it.
type resourceRequirement struct {
	relaxable[whatif.DropResourceEdit]
}

func listResources(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.InsufficientResources) {
		described := ofPod(explain.ResourceRequired, &r, resourcePath(s.Q.Pod, r.Resource),
			"the pod asks for "+filters.Words(r.Resource, r.Requested), leftHere(&r))
		described.Resource = r.Resource
		effort := 2
		if r.Left() == 0 {
			effort = OutOfReach // there is no smaller amount to ask for
		}
		edit := whatif.DropResourceEdit{Resource: r.Resource}
		out = append(out, resourceRequirement{relaxable[whatif.DropResourceEdit]{described, edit, effort, costCount}})
	}
	return out
}

// leftHere says what a node has left of a resource.
func leftHere(r *filters.Refusal) string {
	switch {
	case r.Stopped > 0:
		return r.WhyStopped()
	case r.Allocatable == 0:
		return "the node has none"
	case r.Used == 0:
		return "the node has " + filters.Words(r.Resource, r.Allocatable)
	}
	if r.Left() == 0 {
		return fmt.Sprintf("of %s, none is left here", filters.NumberLeft(r.Resource, r.Allocatable))
	}
	return fmt.Sprintf("of %s, %s left here", filters.NumberLeft(r.Resource, r.Allocatable), filters.NumberLeft(r.Resource, r.Left()))
}

// resourcePath is the field that asks for a resource, where there is one.
func resourcePath(pod *corev1.Pod, name corev1.ResourceName) string {
	var paths []string
	for _, c := range asking(pod, name) {
		list, field := "containers", "requests"
		if c.init {
			list = "initContainers"
		}
		if _, ok := c.Resources.Requests[name]; !ok {
			field = "limits"
		}
		paths = append(paths, fmt.Sprintf("spec.%s[%d].resources.%s", list, c.index, field))
	}
	if len(paths) != 1 {
		return "spec.containers[*].resources.requests"
	}
	return paths[0]
}

// askingContainer is a container that asks for a resource.
type askingContainer struct {
	*corev1.Container
	init  bool
	index int
}

// asking are the containers that ask for a resource, and then the init containers that do.
func asking(pod *corev1.Pod, name corev1.ResourceName) []askingContainer {
	var out []askingContainer
	add := func(list []corev1.Container, init bool) {
		for i := range list {
			requested, limited := list[i].Resources.Requests[name], list[i].Resources.Limits[name]
			if !requested.IsZero() || !limited.IsZero() {
				out = append(out, askingContainer{&list[i], init, i})
			}
		}
	}
	add(pod.Spec.Containers, false)
	add(pod.Spec.InitContainers, true)
	return out
}

// amountOf is what a container asks for of a resource.
func (c *askingContainer) amountOf(name corev1.ResourceName) int64 {
	q, ok := c.Resources.Requests[name]
	if !ok {
		q = c.Resources.Limits[name]
	}
	return filters.UnitsOf(name, q)
}

// Propose asks for as much as can be had on any of the near nodes. If several containers ask for the
// resource, it is one of them that asks for less.
func (r resourceRequirement) Propose(ctx context.Context, q *whatif.Question, _ inspect.NodeName) []Change {
	var best *Change
	var most int64
	for _, b := range q.NearSandboxes() {
		for _, refusal := range (&site{Sandbox: b}).refusals(filters.InsufficientResources) {
			if refusal.Resource != r.Resource || refusal.Left() <= most {
				continue
			}
			if change := r.lessOn(ctx, q, b, &refusal); change != nil {
				best, most = change, refusal.Left()
			}
		}
	}
	if best == nil {
		return nil
	}
	return []Change{*best}
}

// lessOn proposes to ask for what a node has left. It is nil if that does not help.
func (r resourceRequirement) lessOn(ctx context.Context, q *whatif.Question, b *whatif.Sandbox, refusal *filters.Refusal) *Change {
	lacks := refusal.Requested - refusal.Left()
	containers := asking(q.Pod, r.Resource)
	for i := range containers {
		at := &containers[i]
		asked := at.amountOf(r.Resource)
		if asked <= lacks {
			continue
		}
		e := whatif.ResourceEdit{Init: at.init, Index: at.index, Resource: r.Resource, Amount: filters.QuantityOf(r.Resource, asked-lacks)}
		if b.Try(ctx, []whatif.Edit{e}) != whatif.Fits {
			continue
		}
		in := ""
		if len(containers) > 1 {
			in = " in container " + at.Name
		}
		return &Change{
			Kind: explain.ReduceRequest, Edits: []whatif.Edit{e}, Node: nodeName(b), Cost: CostValue, Key: fmt.Sprint(e.Key(), e.Amount.String()),
			Message: fmt.Sprintf("ask for %s instead of %s%s", filters.Words(r.Resource, asked-lacks), filters.Words(r.Resource, asked), in),
		}
	}
	return nil
}

// Combine asks for as much as is left once the other edits are made: pods may have ended.
func (r resourceRequirement) Combine(ctx context.Context, c *Combination, i int) Part {
	others := c.On.Draft(ctx, slices.Delete(slices.Clone(c.Edits), i, i+1))
	for _, refusal := range others.RefusalsOn(nodeName(c.On)) {
		containers := asking(c.Pod, r.Resource)
		if refusal.Code != filters.InsufficientResources || refusal.Resource != r.Resource || len(containers) != 1 {
			continue
		}
		at := &containers[0]
		asked := at.amountOf(r.Resource)
		less := asked - (refusal.Requested - refusal.Left())
		if less <= 0 {
			break
		}
		e := whatif.ResourceEdit{Init: at.init, Index: at.index, Resource: r.Resource, Amount: filters.QuantityOf(r.Resource, less)}
		if c.helpsWith(ctx, i, e) {
			return Part{explain.ReduceRequest, fmt.Sprint(e.Key(), e.Amount.String()), fmt.Sprintf("ask for %s instead of %s",
				filters.Words(r.Resource, less), filters.Words(r.Resource, asked))}
		}
	}
	return Part{} // nobody wants a pod without what it needs
}

// listPods lists that a node runs no more pods than it may. What is proposed is for the search for pods to
// end.
func listPods(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for _, r := range s.refusals(filters.TooManyPods) {
		out = append(out, relaxable[whatif.Edit]{
			ofPod(explain.PodsRequired, &r, "node "+s.Node.Name+" status.allocatable.pods", r.Message, ""),
			whatif.AroundEdit{Change: suppose.ManyPods{Node: nodeName(s.Sandbox)}}, OutOfReach, CostDrop,
		})
	}
	return out
}

func nodeName(b *whatif.Sandbox) inspect.NodeName { return inspect.NodeName(b.Node.Name) }
