package whatif

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxTimed is the number of different nodes on which the steps of a what-if question are counted, those first
// that take most steps with pruning.
const maxTimed = 8

// timed is a node with what a search took there.
type timed struct {
	node  *corev1.Node
	steps int64
	fits  bool
	risk  explain.TimeoutRisk
}

// setRisks tells how long the scheduler searches on each of some nodes.
func setRisks(ctx context.Context, c *scheduler.Cluster, claims []*resourcev1.ResourceClaim, nodes []timed) error {
	order := make([]*timed, 0, len(nodes))
	for i := range nodes {
		if nodes[i].risk = explain.NoTimeout; nodes[i].steps >= explain.ManySteps {
			order = append(order, &nodes[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *timed) int { return cmp.Compare(b.steps, a.steps) })
	for _, t := range order[:min(len(order), maxTimed)] {
		n, err := c.PlainSteps(ctx, t.node, claims)
		if err != nil {
			return err
		}
		t.risk = explain.RiskOfTimeout(c.Snapshot().Features(), n)
	}
	return nil
}

// Risk says whether the scheduler's search on a node may time out with edits made to claims.
func (q *Question) Risk(ctx context.Context, edits []Edit, name inspect.NodeName) explain.TimeoutRisk {
	node, ok := q.Cluster.Snapshot().Node(name)
	if !ok {
		return explain.NoTimeout
	}
	w := q.AsIs(ctx, edits)
	n, err := w.Cluster.PlainSteps(ctx, node, w.Claims)
	q.Fail(err)
	return explain.RiskOfTimeout(q.Cluster.Snapshot().Features(), n)
}
