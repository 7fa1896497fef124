package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Nodes that were not asked, or that the pod cannot use.

// elsewhere reports whether a claim that the pod has already cannot be used from the node.
func (q *question) elsewhere(node *corev1.Node) bool {
	for ref := range q.own {
		if claim, ok := q.cluster.Snapshot().Claim(ref); ok && !selectorMatches(claim.Status.Allocation.NodeSelector, node) {
			return true
		}
	}
	return false
}

// otherNodes looks for nodes that were not asked, or that the pod cannot use, but whose devices would do.
func (s *search) otherNodes(ctx context.Context) error {
	q := s.q
	if q.partial {
		return nil // what the other nodes were asked for, none of them has
	}
	if len(s.nodes) == len(q.cluster.Snapshot().Nodes()) {
		return nil
	}
	asked := map[string]bool{}
	for _, node := range s.nodes {
		asked[node.Name] = true
	}
	var other []*corev1.Node
	for _, node := range q.cluster.Snapshot().Nodes() {
		if !asked[node.Name] && !q.elsewhere(node) {
			other = append(other, node)
		}
	}
	if len(other) == 0 {
		return nil
	}
	fitting, err := sweep(ctx, q.cluster.WithStepLimit(probeSteps), other, q.claims)
	if err != nil || fitting.len() == 0 {
		return err
	}
	node := fitting.first()
	message := fmt.Sprintf("use node %s", node)
	if n := fitting.len(); n > 1 {
		message = fmt.Sprintf("use one of %d other nodes, such as %s", n, node)
	}
	if reason, ok := q.unsuitable[node]; ok {
		message += ", whose devices would do; but " + reason.Message
	}
	at, _ := q.cluster.Snapshot().Node(node)
	s.changes = append(s.changes, change{
		kind: UseNode, node: node, namesNode: true, cost: costNode, key: string(node), message: message,
		fitting: func(context.Context) (nodeSet, error) { // it was just asked
			return nodeSet{nodes: []*corev1.Node{at}, lists: [][]int{{0}}}, nil
		},
	})
	return nil
}
