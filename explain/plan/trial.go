package plan

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Trial places pods one after the other, as kube-scheduler does, where it may choose any node that fits. It
// is how other packages try out a cluster that they have changed.
type Trial struct{ replay *replay }

// NewTrial begins with a cluster as it is. choose returns the index of the node to take among those that fit;
// if it is nil, the first is taken.
func NewTrial(c *scheduler.Cluster, choose func(nodes []*corev1.Node) int) *Trial {
	r := newFreeReplay(newSimulation(c))
	r.choose = choose
	return &Trial{r}
}

// Run places pods in the order of the queue. The error is that of [Place].
func (t *Trial) Run(ctx context.Context, pods []*corev1.Pod) error { return t.replay.run(ctx, pods) }

// One places a single pod. It returns nil if the pod is left waiting.
func (t *Trial) One(ctx context.Context, pod *corev1.Pod) (*explain.PlacedPod, error) {
	placed, _, err := t.replay.one(ctx, pod)
	return placed, err
}

// Cluster is the cluster with all pods that were placed.
func (t *Trial) Cluster() *scheduler.Cluster { return t.replay.cluster }

// Queue returns the pods that Run had to place, in the order in which it took them, and the number of those
// that ran already.
func (t *Trial) Queue() (pods []*corev1.Pod, running int) {
	return t.replay.pods(), len(t.replay.out.Running)
}

// Waiting returns the pods that Run left waiting, in the order of the queue.
func (t *Trial) Waiting() []*corev1.Pod {
	out := make([]*corev1.Pod, len(t.replay.waiting))
	for i := range t.replay.waiting {
		out[i] = t.replay.waiting[i].pod
	}
	return out
}

// Doubtful reports whether something that decides about the pods is not known.
func (t *Trial) Doubtful() bool { return t.replay.doubtful }

// Certain reports whether Run places the same pods whichever nodes kube-scheduler chooses, and if not,
// whether it is known that others may be left waiting. It is asked once.
func (t *Trial) Certain(ctx context.Context) (certain, depends bool, err error) {
	err = t.replay.certain(ctx, t.replay.base)
	return t.replay.out.Certain, t.replay.depends, err
}

// Best looks for a placement of all the pods of Run.
func (t *Trial) Best(ctx context.Context) (*explain.JointPlan, error) {
	best, _, err := t.replay.best(ctx, t.replay.base)
	return best, err
}

// PendingFor is a pod that is left waiting for the reasons of an explanation. fails says that the scheduler
// gives up on it with an error.
func PendingFor(e *explain.Explanation, fails bool) *explain.PendingPod {
	return pendingBy(e, &turn{fails: fails})
}
