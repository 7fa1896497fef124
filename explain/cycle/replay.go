package cycle

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Replay places members as a run did, and tells which claims have their devices by that. The cluster is nil if some of the
// nodes cannot be chosen.
func Replay(ctx context.Context, c *scheduler.Cluster, members []*Member, run Run) (*scheduler.Cluster, map[inspect.ClaimRef]bool, error) {
	supposed := map[inspect.ClaimRef]bool{}
	for _, step := range run {
		i := slices.IndexFunc(members, func(m *Member) bool { return m.Subject == step.Subject })
		if !step.Placed {
			continue
		}
		if i < 0 {
			return nil, nil, nil
		}
		var nodes []*corev1.Node // all, if the devices are tied to none
		if node, ok := c.Snapshot().Node(step.Node); ok {
			nodes = []*corev1.Node{node}
		}
		t, err := members[i].Ask(ctx, c, nodes)
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(t.Options, func(o Option) bool { return o.Node == step.Node })
		if at < 0 {
			return nil, nil, nil
		}
		took, err := t.Options[at].Take(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, claim := range took.Claims {
			supposed[inspect.RefOf(claim)] = true
		}
		c = With(c, took)
	}
	return c, supposed, nil
}
