package fix

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxCopies is the number of nodes of which one more is tried, and perKind how many of one kind.
	maxCopies, perKind = 16, 4
)

// nodeKind is nodes that were bought alike, as far as can be told.
type nodeKind struct {
	nodes int
	// near are some that differ for the question, the nearest first, at most perKind.
	near []*corev1.Node
	rank int
}

// moreNodes proposes to add a node like one that there is, with its devices free. Of the kinds of nodes of
// which one more helps, it is the one of which there are most. Nobody has to buy one where another that there
// is would do.
func (s *search) moreNodes(ctx context.Context) {
	if slices.ContainsFunc(s.changes, func(c requirement.Change) bool { return c.Kind == explain.UseNode }) {
		return
	}
	tried := 0
	for _, k := range s.nodeKinds() {
		for _, like := range k.near {
			if tried++; tried > maxCopies {
				return
			}
			if s.copyHelps(ctx, like) {
				s.changes = append(s.changes, s.addingNode(like))
				return
			}
		}
	}
}

// copyHelps reports whether one more node like one that there is fits.
func (s *search) copyHelps(ctx context.Context, like *corev1.Node) bool {
	b := s.Q.SandboxOf(inspect.NodeName(like.Name))
	e := whatif.AddNodeEdit{Like: like.Name}
	return b != nil && !s.Q.Exhausted() && fittingOn(ctx, b.Draft(ctx, []whatif.Edit{e}), e).Len() > 0
}

// addingNode is the change that adds a node.
func (s *search) addingNode(like *corev1.Node) requirement.Change {
	e := whatif.AddNodeEdit{Like: like.Name}
	return requirement.Change{
		Kind: explain.AddNode, Edits: []whatif.Edit{e}, Cost: requirement.CostMoreNodes, Key: e.Key(),
		Message: fmt.Sprintf("add a node like %s", like.Name), Like: inspect.NodeName(like.Name),
		Fitting: func(ctx context.Context) whatif.NodeSet {
			if s.Q.Pod == nil && len(s.Q.Usable()) > whatif.MaxSwept { // of claims, all that reaches the node is in the sandbox
				return fittingOn(ctx, s.Q.SandboxOf(inspect.NodeName(like.Name)).Draft(ctx, []whatif.Edit{e}), e)
			}
			return fittingOn(ctx, s.Q.Real(ctx, []whatif.Edit{e}), e)
		},
	}
}

// fittingOn asks the node that an edit adds to a world.
func fittingOn(ctx context.Context, w *whatif.Draft, e whatif.AddNodeEdit) whatif.NodeSet {
	added, ok := w.Cluster.Snapshot().Node(e.Added())
	if !ok || w.DevicesRefuse(ctx, added) { // whatever the filters say, to ask which takes longer
		return whatif.NodeSet{}
	}
	return w.Fitting(ctx, []*corev1.Node{added})
}

// nodeKinds are the kinds of the nodes that have devices of their own: those first of which there are most,
// and of equally many the one that comes nearest. A claim that the pod has already ties it to the nodes where
// its devices are.
func (s *search) nodeKinds() []nodeKind {
	if len(s.Q.Own) > 0 {
		return nil
	}
	rank := map[string]int{}
	for i, n := range s.Q.Near {
		rank[string(n.Name)] = i
	}
	index := map[string]int{}
	var out []nodeKind
	for i := range s.Q.Answers {
		a := &s.Q.Answers[i]
		first := s.Q.Nodes[a.Nodes[0]]
		key := kindOf(s.Q.Cluster.Snapshot(), first)
		if key == "" && s.Q.Pod != nil && len(a.Q.Claims) == 0 {
			key = roomOf(first)
		}
		if len(a.Unsuitable) > 0 || key == "" {
			continue
		}
		at, known := index[key]
		if !known {
			at = len(out)
			index[key] = at
			out = append(out, nodeKind{rank: len(rank)})
		}
		out[at].add(s.Q.Nodes, a.Nodes, rank)
	}
	slices.SortStableFunc(out, func(a, b nodeKind) int { return cmp.Or(b.nodes-a.nodes, a.rank-b.rank) })
	return out
}

// add counts nodes that look alike, and keeps the one that is among the near nodes, whose ranks are given; or
// else the first.
func (k *nodeKind) add(nodes []*corev1.Node, alike []int, rank map[string]int) {
	k.nodes += len(alike)
	nearest, best := nodes[alike[0]], len(rank)
	for _, n := range alike {
		if r, near := rank[nodes[n].Name]; near && r < best {
			nearest, best = nodes[n], r
		}
	}
	k.rank = min(k.rank, best)
	rankOf := func(node *corev1.Node) int {
		if r, near := rank[node.Name]; near {
			return r
		}
		return len(rank)
	}
	k.near = append(k.near, nearest)
	slices.SortStableFunc(k.near, func(a, b *corev1.Node) int { return rankOf(a) - rankOf(b) })
	k.near = k.near[:min(len(k.near), perKind)]
}

// kindOf names the kind of a node: what a cloud calls it, or else what its own slices offer. That is told in
// short: how many devices of which driver, and the capacities of the first. It is "" for a node that has no
// devices of its own.
func kindOf(s *inspect.Snapshot, node *corev1.Node) string {
	pools, err := s.PoolsOn(node)
	if err != nil {
		return ""
	}
	var own []string
	for _, p := range pools {
		for _, slice := range s.SlicesIn(p.ID) {
			if slice.Spec.NodeName == nil || *slice.Spec.NodeName != node.Name || len(slice.Spec.Devices) == 0 {
				continue
			}
			capacity, err := json.Marshal(slice.Spec.Devices[0].Capacity)
			if err != nil {
				return ""
			}
			own = append(own, fmt.Sprintf("%s %d %s", slice.Spec.Driver, len(slice.Spec.Devices), capacity))
		}
	}
	if len(own) == 0 {
		return ""
	}
	slices.Sort(own)
	return cmp.Or(node.Labels[corev1.LabelInstanceTypeStable], strings.Join(own, "\n"))
}

// roomOf names the kind of a node for a pod that needs no devices of it: what a cloud calls it, or else how
// much room it has.
func roomOf(node *corev1.Node) string {
	room := node.Status.Allocatable
	if len(room) == 0 {
		return ""
	}
	return cmp.Or(node.Labels[corev1.LabelInstanceTypeStable], fmt.Sprintf("cpu %s memory %s", room.Cpu(), room.Memory()))
}
