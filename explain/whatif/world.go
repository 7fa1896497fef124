package whatif

import (
	"cmp"
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Outcome is how a what-if question ended.
type Outcome int

// The outcomes.
const (
	Refused   Outcome = iota // proved impossible
	Fits                     // the scheduler would find devices
	Aborted                  // the scheduler would give up with an error
	Undecided                // not known: never counted as a proof
)

// Outcome asks whether the claims can be allocated on the node and the pod can run there, and tells the steps
// that the search took.
func (d *Draft) Outcome(ctx context.Context, node *corev1.Node) (Outcome, int64, error) {
	o := d.filter(node)
	if RefusedBefore(&o) {
		return Refused, 0, nil
	}
	outcome, steps, err := OutcomeOf(ctx, d.Cluster, node, d.Claims)
	switch {
	case outcome != Fits || err != nil:
		return outcome, steps, err
	case len(o.Refusals) > 0:
		return Refused, steps, nil
	case len(o.Doubts) > 0:
		return Undecided, steps, nil
	}
	return Fits, steps, nil
}

// OutcomeOf asks whether claims can be allocated on the node, whatever else decides about a pod, and tells
// the steps that took.
func OutcomeOf(ctx context.Context, c *scheduler.Cluster, node *corev1.Node, claims []*resourcev1.ResourceClaim) (Outcome, int64, error) {
	result, err := c.Allocate(ctx, node, claims, nil)
	var abort *allocator.AbortError
	switch {
	case errors.As(err, &abort):
		return Aborted, 0, nil
	case err != nil:
		return Undecided, 0, err
	case result.Outcome == allocator.Allocated:
		return Fits, result.Steps, nil
	case result.Outcome == allocator.Unsatisfiable:
		return Refused, result.Steps, nil
	}
	return Undecided, result.Steps, nil
}

// RefusalsOn are what the scheduler's other filters have against a node.
func (d *Draft) RefusalsOn(node inspect.NodeName) []filters.Refusal {
	if d.prepared == nil {
		return nil
	}
	return d.prepared().On(node).Refusals
}

// filter is what the scheduler's other filters say of a node and of the pod wherever it would run. Whether
// other pods of its group find room is another question.
func (d *Draft) filter(node *corev1.Node) filters.Outcome {
	if d.prepared == nil {
		return filters.Outcome{}
	}
	pod := d.prepared()
	o := pod.On(inspect.NodeName(node.Name))
	if pod.Everywhere.Passes() {
		return o
	}
	out := filters.Outcome{Refusals: slices.Concat(pod.Everywhere.Refusals, o.Refusals)}
	for i := range pod.Everywhere.Doubts {
		if doubt := &pod.Everywhere.Doubts[i]; !doubt.OfOthers() {
			out.Doubts = append(out.Doubts, *doubt)
		}
	}
	out.Doubts = append(out.Doubts, o.Doubts...)
	return out
}

// DevicesRefuse reports whether it is proved that the node does not have the devices, whatever else refuses
// it.
func (d *Draft) DevicesRefuse(ctx context.Context, node *corev1.Node) bool {
	o, _, err := OutcomeOf(ctx, d.Cluster, node, d.Claims)
	d.q.Fail(err)
	return o == Refused
}

// Sweep returns those of the nodes that fit, and the first abort in the order of the nodes, if there is one.
func (d *Draft) Sweep(ctx context.Context, nodes []*corev1.Node) (NodeSet, *allocator.AbortError) {
	out := NodeSet{Nodes: nodes}
	if d.q.err != nil {
		return out, nil
	}
	asked, passes := d.reach(nodes)
	kinds, err := d.Cluster.Sweep(ctx, asked, d.Claims)
	if d.q.Fail(err); err != nil {
		return out, nil
	}
	var abort *allocator.AbortError
	var took []timed
	var fitting [][]int
	for i := range kinds {
		if kinds[i].Abort != nil {
			abort = cmp.Or(abort, kinds[i].Abort)
			continue
		}
		r := kinds[i].Result
		t := timed{node: asked[kinds[i].Nodes[0]], steps: r.Steps}
		var list []int
		if r.Outcome == allocator.Allocated {
			list = passing(kinds[i].Nodes, passes)
			t.fits = len(list) > 0
		}
		took, fitting = append(took, t), append(fitting, list)
	}
	if vain := d.q.inVain(); abort == nil && len(vain) > 0 && slices.ContainsFunc(took, func(t timed) bool { return t.fits }) {
		asked, _ := d.reach(pick(d.q.Nodes, vain))
		abort, err = firstAbort(ctx, d.Cluster, asked, d.Claims)
		d.q.Fail(err)
	}
	d.add(ctx, &out, took, fitting)
	return out, abort
}

// firstAbort is why the scheduler gives up on one of some nodes, or nil.
func firstAbort(ctx context.Context, c *scheduler.Cluster, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) (*allocator.AbortError, error) {
	kinds, err := c.Sweep(ctx, nodes, claims)
	if err != nil {
		return nil, err //nolint:wrapcheck // as in Sweep
	}
	for i := range kinds {
		if kinds[i].Abort != nil {
			return kinds[i].Abort, nil
		}
	}
	return nil, nil
}

// reach returns the nodes for which the scheduler gets to the allocation of devices, and for each of them its
// index if nothing refuses it, or -1. passes is nil if that is all nodes.
func (d *Draft) reach(nodes []*corev1.Node) (asked []*corev1.Node, passes []int) {
	if d.prepared == nil {
		return nodes, nil
	}
	for i, node := range nodes {
		o := d.filter(node)
		switch {
		case RefusedBefore(&o):
		case o.Passes():
			asked, passes = append(asked, node), append(passes, i)
		default:
			asked, passes = append(asked, node), append(passes, -1)
		}
	}
	return asked, passes
}

// passing are the indices of those nodes that nothing refuses.
func passing(at, passes []int) []int {
	if passes == nil {
		return at
	}
	var out []int
	for _, i := range at {
		if passes[i] >= 0 {
			out = append(out, passes[i])
		}
	}
	return out
}

// Fitting returns those of the nodes that fit. There are none if the scheduler gives up because of any of
// them.
func (d *Draft) Fitting(ctx context.Context, nodes []*corev1.Node) NodeSet {
	out, abort := d.Sweep(ctx, nodes)
	if abort != nil || d.q.err != nil || out.Risk == explain.WouldTimeOut {
		out.Lists = nil
	}
	return out
}

// add puts the nodes that fit into a set, but for those on which the scheduler's search does not end in time,
// and says what risk of that remains. fitting has a list of nodes like each of those in took.
func (d *Draft) add(ctx context.Context, out *NodeSet, took []timed, fitting [][]int) {
	d.q.Fail(setRisks(ctx, d.Cluster, d.Claims, took))
	all, best := explain.NoTimeout, explain.WouldTimeOut
	for i, t := range took {
		all = all.OrWorse(t.risk)
		switch {
		case !t.fits:
		case t.risk == explain.WouldTimeOut && !explain.TimeoutIsError(d.Cluster.Snapshot().Features()):
		default:
			out.Lists = append(out.Lists, fitting[i])
			if best.OrWorse(t.risk) == best {
				best = t.risk
			}
		}
	}
	if out.Risk = all; !explain.TimeoutIsError(d.Cluster.Snapshot().Features()) && len(out.Lists) > 0 {
		out.Risk = best
	}
}
