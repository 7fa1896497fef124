package whatif

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// The search of kube-scheduler costs more than that of package allocator, since it does not prune. A question
// that is decided here at once may keep the scheduler busy until its filter times out.

// FilterTimeout is how long kube-scheduler searches for devices on one node, unless its configuration says
// otherwise (DynamicResourcesArgs.filterTimeout).
const FilterTimeout = 10 * time.Second

// stepAtLeast and stepAtMost bound what one step of the scheduler's search takes. On the machines where that
// was measured it took 0.5 to 4 microseconds with up to 64 devices on a node, and 17 with 500. The bounds
// leave room for other machines.
const (
	stepAtLeast = 200 * time.Nanosecond
	stepAtMost  = 10 * time.Microsecond
)

// ManySteps is the number of steps up to which a search is never too long for the scheduler. The allocator
// searches as the scheduler does up to there, so a result of fewer steps needs no counting.
const ManySteps = 256

// maxTimed is the number of different nodes on which the steps of a what-if question are counted, those first
// that take most steps with pruning.
const maxTimed = 8

// TimeoutRisk says whether the filter of a scheduler with the features may time out during so many steps.
func TimeoutRisk(f inspect.Features, n allocator.StepCount) explain.TimeoutRisk {
	switch {
	case !f.Enabled(inspect.GateSchedulerFilterTimeout):
		return explain.NoTimeout
	case n.Steps > int64(FilterTimeout/stepAtLeast):
		return explain.WouldTimeOut
	case n.Steps > int64(FilterTimeout/stepAtMost):
		return explain.MayTimeOut
	}
	return explain.NoTimeout
}

// TimeoutIsError reports whether the scheduler gives up the whole pod when its filter times out on a node.
// Before Kubernetes 1.36 it only does without the node.
func TimeoutIsError(f inspect.Features) bool { return f.Minor <= 0 || f.Minor >= 36 }

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
		if nodes[i].risk = explain.NoTimeout; nodes[i].steps >= ManySteps {
			order = append(order, &nodes[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *timed) int { return cmp.Compare(b.steps, a.steps) })
	for _, t := range order[:min(len(order), maxTimed)] {
		n, err := c.PlainSteps(ctx, t.node, claims)
		if err != nil {
			return err
		}
		t.risk = TimeoutRisk(c.Snapshot().Features(), n)
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
	return TimeoutRisk(q.Cluster.Snapshot().Features(), n)
}

// Worse returns the greater of two risks.
func Worse(a, b explain.TimeoutRisk) explain.TimeoutRisk {
	if riskOrder(b) > riskOrder(a) {
		return b
	}
	return a
}

func riskOrder(r explain.TimeoutRisk) int {
	return slices.Index([]explain.TimeoutRisk{explain.NoTimeout, explain.MayTimeOut, explain.WouldTimeOut}, r)
}
