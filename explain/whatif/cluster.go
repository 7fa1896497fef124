package whatif

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxNear is the number of nodes on which changes are looked for one by one.
const maxNear = 32

// MaxSwept is the number of nodes up to which all are asked about a change of objects. In a larger cluster
// only those are that come nearest.
const MaxSwept = 512

// RankedNode is a node that refuses, with the score of its group: the higher, the less is missing.
type RankedNode struct {
	Name  inspect.NodeName
	Score int
}

// LookNear looks at the first of some ranked nodes one by one when changes are tried in the cluster.
func (q *Question) LookNear(ranked []RankedNode) {
	q.Near, q.Cut = ranked[:min(len(ranked), maxNear)], len(ranked) > maxNear
	q.usable = nil
	q.usable = q.Usable() // once, and not for each change that is tried
}

// Usable are all nodes that the pod can use.
func (q *Question) Usable() []*corev1.Node {
	if q.usable != nil {
		return q.usable
	}
	if len(q.Unsuitable) == 0 {
		return slices.Clip(q.Nodes)
	}
	usable := slices.DeleteFunc(slices.Clone(q.Nodes), func(n *corev1.Node) bool {
		_, bad := q.Unsuitable[inspect.NodeName(n.Name)]
		return bad
	})
	return slices.Clip(usable)
}

// NearSandboxes are those of the near nodes.
func (q *Question) NearSandboxes() []*Sandbox {
	var out []*Sandbox
	for _, n := range q.Near {
		if b := q.SandboxOf(n.Name); b != nil {
			out = append(out, b)
		}
	}
	return out
}

// nearNodes are the near nodes themselves.
func (q *Question) nearNodes() []*corev1.Node {
	var out []*corev1.Node
	for _, n := range q.Near {
		if node, ok := q.Cluster.Snapshot().Node(n.Name); ok {
			out = append(out, node)
		}
	}
	return out
}

// Examined are the requests as the near nodes see them, node after node.
func (q *Question) Examined(ctx context.Context) []*allocator.ExaminedRequest {
	var out []*allocator.ExaminedRequest
	for _, b := range q.NearSandboxes() {
		for _, r := range b.RequestsExamined(ctx) {
			out = append(out, &r)
		}
	}
	return out
}

// FirstFit returns a node on which the edits help, the nearest first. It is "" when there is none.
func (q *Question) FirstFit(ctx context.Context, edits []Edit) inspect.NodeName {
	if node := q.fitsNear(ctx, edits); node != "" {
		return node
	}
	var fitting NodeSet
	switch {
	case OnlySpecEdits(edits):
		fitting = q.fitting(ctx, edits)
	case onlyPodEdits(edits) && !q.Exhausted():
		// Nodes that refuse the pod alike need not be alike for one that wants less.
		if nodes := q.Usable(); len(q.Near) < len(nodes) && len(nodes) <= MaxSwept {
			fitting = q.AsIs(ctx, edits).Fitting(ctx, nodes)
		}
	}
	return fitting.First()
}

// onlyPodEdits reports whether edits change nothing but the pod.
func onlyPodEdits(edits []Edit) bool {
	return !slices.ContainsFunc(edits, func(e Edit) bool { _, ok := e.(PodEdit); return !ok })
}

// fitsNear is FirstFit on the near nodes only.
func (q *Question) fitsNear(ctx context.Context, edits []Edit) inspect.NodeName {
	if !OnlySpecEdits(edits) {
		for _, b := range q.NearSandboxes() {
			if b.Try(ctx, edits) == Fits {
				return inspect.NodeName(b.Node.Name)
			}
		}
		return ""
	}
	w := q.AsIs(ctx, edits)
	for _, n := range q.Near {
		if node, ok := q.Cluster.Snapshot().Node(n.Name); ok && q.whatIf(ctx, w, node) == Fits {
			return n.Name
		}
	}
	return ""
}

// fitting returns the nodes on which the claims can be allocated with the edits made to them. There are none
// if the scheduler then gives up because of any node. Nodes that look alike to the question look alike also
// when it is put differently, as long as it is about the same fields of devices; so one of them is asked.
func (q *Question) fitting(ctx context.Context, edits []Edit) NodeSet {
	w := q.AsIs(ctx, edits)
	if q.Answers == nil || q.Pod != nil || slices.ContainsFunc(edits, func(e Edit) bool { _, ok := e.(readsOthers); return ok }) {
		return w.Fitting(ctx, q.Usable())
	}
	out := NodeSet{Nodes: q.Nodes}
	if q.Exhausted() {
		return out
	}
	outcomes, steps := make([]Outcome, len(q.Answers)), make([]int64, len(q.Answers))
	err := allocator.Parallel(len(outcomes), func(i int) error {
		a := &q.Answers[i]
		if len(a.Unsuitable) > 0 {
			return nil // refused
		}
		var err error
		outcomes[i], steps[i], err = w.Outcome(ctx, q.Nodes[a.Nodes[0]])
		return err
	})
	for _, n := range steps {
		q.Spent += n
	}
	if q.Fail(err); err != nil || slices.Contains(outcomes, Aborted) {
		return out
	}
	var took []timed
	var fitting [][]int
	for i, o := range outcomes {
		if len(q.Answers[i].Unsuitable) == 0 {
			at := q.Answers[i].Nodes
			took, fitting = append(took, timed{node: q.Nodes[at[0]], steps: steps[i], fits: o == Fits}), append(fitting, at)
		}
	}
	if w.add(ctx, &out, took, fitting); out.Risk == explain.WouldTimeOut {
		out.Lists = nil
	}
	return out
}

// FittingWith returns the nodes on which the claims can be allocated with the edits made for real, in the
// whole snapshot. When the edits are about more than the claims, only the nodes that come nearest are asked
// in a large cluster, and one more.
func (q *Question) FittingWith(ctx context.Context, edits []Edit, more inspect.NodeName) NodeSet {
	if q.PerNode != nil {
		return q.setOf(q.FittingAnew(ctx, q, edits))
	}
	again := q.madeAnew(edits)
	switch {
	case again == nil:
		return NodeSet{}
	case again != q:
		fitting := again.Real(ctx, edits).Fitting(ctx, again.Usable())
		q.Fail(again.err)
		return fitting
	case OnlySpecEdits(edits):
		return q.fitting(ctx, edits)
	}
	nodes := q.Usable()
	if len(nodes) > MaxSwept {
		nodes = q.nearNodes()
		if node, ok := q.Cluster.Snapshot().Node(more); ok && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return q.Real(ctx, edits).Fitting(ctx, nodes)
}

// setOf is the set of the nodes of these names.
func (q *Question) setOf(names []inspect.NodeName) NodeSet {
	out := NodeSet{Nodes: q.Nodes}
	var list []int
	for i, n := range q.Nodes {
		if slices.Contains(names, inspect.NodeName(n.Name)) {
			list = append(list, i)
		}
	}
	if len(list) > 0 {
		out.Lists = [][]int{list}
	}
	return out
}

// AsIs makes edits that are about claims only, and leaves the cluster as it is.
func (q *Question) AsIs(ctx context.Context, edits []Edit) *Draft {
	return q.draft(edits).in(ctx, q.Cluster.WithStepLimit(ProbeSteps), false)
}

// Real makes the edits in the whole snapshot, where classes change for all who use them.
func (q *Question) Real(ctx context.Context, edits []Edit) *Draft {
	d := q.draft(edits)
	d.changeClasses(ctx)
	return d.in(ctx, d.build(q.Cluster.Snapshot(), q.Cluster), true)
}

// NodeSet is some of the nodes: lists of their indices, each ascending.
type NodeSet struct {
	Nodes []*corev1.Node
	Lists [][]int
	// Risk says whether the scheduler's own search may not end in time.
	Risk explain.TimeoutRisk
}

// Len is the number of the nodes.
func (n NodeSet) Len() int {
	sum := 0
	for _, list := range n.Lists {
		sum += len(list)
	}
	return sum
}

// First returns the name of the first node, or "".
func (n NodeSet) First() inspect.NodeName {
	if len(n.Lists) == 0 {
		return ""
	}
	at := slices.MinFunc(n.Lists, func(a, b []int) int { return a[0] - b[0] })
	return inspect.NodeName(n.Nodes[at[0]].Name)
}

// Contains reports whether the node is among them.
func (n NodeSet) Contains(name inspect.NodeName) bool {
	return slices.ContainsFunc(n.Lists, func(list []int) bool {
		return slices.ContainsFunc(list, func(i int) bool { return n.Nodes[i].Name == string(name) })
	})
}
