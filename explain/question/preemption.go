package question

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Preemption says whether kube-scheduler would end other pods for a pod that no node of a cluster takes. fits
// says that one does, or may. The result is nil if kube-scheduler does not get as far as that, or places the
// pod together with others.
func Preemption(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (p *explain.Preemption, fits bool, err error) {
	claims := cycle.ClaimsFor(c.Snapshot(), pod)
	if claims.Blocked != "" {
		return nil, false, nil
	}
	nodes, err := cycle.NodesFor(c.Snapshot(), opts.Cycle())
	if err != nil {
		return nil, false, err
	}
	q := cycle.Question(c, pod, claims, nodes, opts.Cycle())
	if filtered := q.Filtered(); filtered == nil || len(filtered.Everywhere.Refusals) == 0 {
		if q.Answers, err = q.Ask(ctx); err != nil {
			return nil, false, err
		}
		if o := cycle.TallyOf(q.Answers); o.Allocatable > 0 || o.Doubtful > 0 {
			return nil, true, nil
		}
	}
	return preemption.Of(q), false, nil
}

// Refusal is [PodObject] without what helps: it says whether a pod can be placed, and why not. That costs
// much less.
func Refusal(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, error) {
	opts.ReasonOnly = true
	e, err := PodObject(ctx, c, pod, opts)
	if err == nil {
		e.Fixes, e.NoHelp = nil, nil // the message was made with some of them
	}
	return e, err
}
