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
)

// World is a question and its surroundings after edits: what is asked for, and of which cluster.
type World struct {
	Cluster *allocator.Cluster
	Claims  []*resourcev1.ResourceClaim
	// Pod is the pod that asks, or nil when the question is about a claim.
	Pod     *corev1.Pod
	filters []Filter
}

// Filter is a check that the scheduler makes of a node besides the allocation of devices.
type Filter interface {
	// Refuses says why the pod cannot run on the node, as the snapshot has both, or returns nil.
	Refuses(s *inspect.Snapshot, pod *corev1.Pod, node *corev1.Node) *explain.Reason
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

// Outcome asks whether the claims can be allocated on the node and the pod can run there, and tells the steps that
// the search took.
func (w *World) Outcome(ctx context.Context, node *corev1.Node) (Outcome, int64, error) {
	if w.refusal(node) != nil {
		return Refused, 0, nil
	}
	return OutcomeOf(ctx, w.Cluster, node, w.Claims)
}

// OutcomeOf asks whether claims can be allocated on the node, whatever else decides about a pod, and tells the steps
// that took.
func OutcomeOf(ctx context.Context, c *allocator.Cluster, node *corev1.Node, claims []*resourcev1.ResourceClaim) (Outcome, int64, error) {
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

// refusal is what the first filter that refuses a node says, or nil.
func (w *World) refusal(node *corev1.Node) *explain.Reason {
	if w.Pod == nil {
		return nil
	}
	s := w.Cluster.Snapshot()
	if changed, ok := s.Node(inspect.NodeName(node.Name)); ok {
		node = changed
	}
	for _, f := range w.filters {
		if r := f.Refuses(s, w.Pod, node); r != nil {
			return r
		}
	}
	return nil
}

// Sweep returns those of the nodes that fit, and the first abort in the order of the nodes, if there is one.
func (w *World) Sweep(ctx context.Context, nodes []*corev1.Node) (NodeSet, *allocator.AbortError, error) {
	out := NodeSet{Nodes: nodes}
	kinds, err := w.Cluster.Sweep(ctx, nodes, w.Claims)
	if err != nil {
		return out, nil, err
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
		t := timed{node: nodes[kinds[i].Nodes[0]], steps: r.Steps}
		var list []int
		if r.Outcome == allocator.Allocated {
			list = w.unrefused(nodes, kinds[i].Nodes)
			t.fits = len(list) > 0
		}
		took, fitting = append(took, t), append(fitting, list)
	}
	err = w.add(ctx, &out, took, fitting)
	return out, abort, err
}

// Fitting returns those of the nodes that fit. There are none if the scheduler gives up because of any of them.
func (w *World) Fitting(ctx context.Context, nodes []*corev1.Node) (NodeSet, error) {
	out, abort, err := w.Sweep(ctx, nodes)
	if abort != nil || out.Risk == explain.WouldTimeOut {
		out.Lists = nil
	}
	return out, err
}

// add puts the nodes that fit into a set, but for those on which the scheduler's search does not end in time, and says
// what risk of that remains. fitting has a list of nodes like each of those in took.
func (w *World) add(ctx context.Context, out *NodeSet, took []timed, fitting [][]int) error {
	if err := setRisks(ctx, w.Cluster, w.Claims, took); err != nil {
		return err
	}
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
	return nil
}

// unrefused are those of some nodes that no filter refuses.
func (w *World) unrefused(nodes []*corev1.Node, at []int) []int {
	if len(w.filters) == 0 {
		return at
	}
	return slices.DeleteFunc(slices.Clone(at), func(i int) bool { return w.refusal(nodes[i]) != nil })
}
