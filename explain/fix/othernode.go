package fix

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// outOfReach reports whether an allocated claim of the pod cannot be used from the node.
func outOfReach(q *whatif.Question, node *corev1.Node) bool {
	for ref := range q.Own {
		if claim, ok := q.Cluster.Snapshot().Claim(ref); ok && !suppose.NodeMatches(claim.Status.Allocation.NodeSelector, node) {
			return true
		}
	}
	return false
}

// otherNodes proposes nodes that were not asked.
func (s *search) otherNodes(ctx context.Context) {
	q := s.Q
	if q.Partial || len(q.Usable()) == len(q.Cluster.Snapshot().Nodes()) {
		return // there are no others, or they were asked for something else, and refused
	}
	asked := map[string]bool{}
	for _, node := range q.Usable() {
		asked[node.Name] = true
	}
	var other []*corev1.Node
	for _, node := range q.Cluster.Snapshot().Nodes() {
		if _, bad := q.Unsuitable[inspect.NodeName(node.Name)]; !bad && !asked[node.Name] && !outOfReach(q, node) {
			other = append(other, node)
		}
	}
	if len(other) == 0 {
		return
	}
	fitting, _ := q.AsIs(ctx, nil).Sweep(ctx, other) // whoever names a node is not concerned with the others
	if fitting.Len() == 0 {
		return
	}
	node := fitting.First()
	message := fmt.Sprintf("use node %s", node)
	if n := fitting.Len(); n > 1 {
		message = fmt.Sprintf("use one of %d other nodes, such as %s", n, node)
	}
	at, _ := q.Cluster.Snapshot().Node(node)
	s.changes = append(s.changes, requirement.Change{
		Kind: explain.UseNode, Node: node, NamesNode: true, Cost: requirement.CostNode, Key: string(node), Message: message,
		Fitting: func(context.Context) whatif.NodeSet { // the node was just asked
			return whatif.NodeSet{Nodes: []*corev1.Node{at}, Lists: [][]int{{0}}}
		},
	})
}
