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

// World is a question and its surroundings after edits: what is asked for, and of which cluster.
type World struct {
	q       *Question
	Cluster *scheduler.Cluster
	Claims  []*resourcev1.ResourceClaim
	// pod returns the pod that asks, as the scheduler's other filters see it. It is nil when the question is
	// about a claim.
	pod func() *filters.Prepared
	// inVain are nodes that the pod cannot use, and that the scheduler asks all the same (see
	// Question.inVain).
	inVain []*corev1.Node
}

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
func (w *World) Outcome(ctx context.Context, node *corev1.Node) (Outcome, int64, error) {
	o := w.filter(node)
	if RefusedBefore(&o) {
		return Refused, 0, nil
	}
	outcome, steps, err := OutcomeOf(ctx, w.Cluster, node, w.Claims)
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
func (w *World) RefusalsOn(node inspect.NodeName) []filters.Refusal {
	if w.pod == nil {
		return nil
	}
	return w.pod().On(node).Refusals
}

// filter is what the scheduler's other filters say of a node and of the pod wherever it would run. Whether
// other pods of its group find room is another question.
func (w *World) filter(node *corev1.Node) filters.Outcome {
	if w.pod == nil {
		return filters.Outcome{}
	}
	pod := w.pod()
	o := pod.On(inspect.NodeName(node.Name))
	if pod.Everywhere.Passes() {
		return o
	}
	out := filters.Outcome{Refusals: slices.Concat(pod.Everywhere.Refusals, o.Refusals)}
	for i := range pod.Everywhere.Doubts {
		if d := &pod.Everywhere.Doubts[i]; !d.OfOthers() {
			out.Doubts = append(out.Doubts, *d)
		}
	}
	out.Doubts = append(out.Doubts, o.Doubts...)
	return out
}

// DevicesRefuse reports whether it is proved that the node does not have the devices, whatever else refuses
// it.
func (w *World) DevicesRefuse(ctx context.Context, node *corev1.Node) bool {
	o, _, err := OutcomeOf(ctx, w.Cluster, node, w.Claims)
	w.q.Fail(err)
	return o == Refused
}

// Sweep returns those of the nodes that fit, and the first abort in the order of the nodes, if there is one.
func (w *World) Sweep(ctx context.Context, nodes []*corev1.Node) (NodeSet, *allocator.AbortError) {
	out := NodeSet{Nodes: nodes}
	if w.q.err != nil {
		return out, nil
	}
	asked, passes := w.reach(nodes)
	kinds, err := w.Cluster.Sweep(ctx, asked, w.Claims)
	if w.q.Fail(err); err != nil {
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
	if abort == nil && len(w.inVain) > 0 && slices.ContainsFunc(took, func(t timed) bool { return t.fits }) {
		asked, _ := w.reach(w.inVain)
		abort, err = firstAbort(ctx, w.Cluster, asked, w.Claims)
		w.q.Fail(err)
	}
	w.add(ctx, &out, took, fitting)
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
func (w *World) reach(nodes []*corev1.Node) (asked []*corev1.Node, passes []int) {
	if w.pod == nil {
		return nodes, nil
	}
	for i, node := range nodes {
		o := w.filter(node)
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
func (w *World) Fitting(ctx context.Context, nodes []*corev1.Node) NodeSet {
	out, abort := w.Sweep(ctx, nodes)
	if abort != nil || w.q.err != nil || out.Risk == explain.WouldTimeOut {
		out.Lists = nil
	}
	return out
}

// add puts the nodes that fit into a set, but for those on which the scheduler's search does not end in time,
// and says what risk of that remains. fitting has a list of nodes like each of those in took.
func (w *World) add(ctx context.Context, out *NodeSet, took []timed, fitting [][]int) {
	w.q.Fail(setRisks(ctx, w.Cluster, w.Claims, took))
	all, best := explain.NoTimeout, explain.WouldTimeOut
	for i, t := range took {
		all = Worse(all, t.risk)
		switch {
		case !t.fits:
		case t.risk == explain.WouldTimeOut && !TimeoutIsError(w.Cluster.Snapshot().Features()):
		default:
			out.Lists = append(out.Lists, fitting[i])
			if Worse(best, t.risk) == best {
				best = t.risk
			}
		}
	}
	if out.Risk = all; !TimeoutIsError(w.Cluster.Snapshot().Features()) && len(out.Lists) > 0 {
		out.Risk = best
	}
}
