package replay

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxTogether is how many pods of a group are tried to find out whether kube-scheduler fails at one.
const maxTogether = 100

// AddGroup adds that a pod that fits may not be placed because of others of its group, also of one that needs
// no number of them: kube-scheduler takes all that wait, and while it fails at one it places none
// (podGroupSchedulingDefaultAlgorithm). They are tried in one order, each on the first node that fits.
func AddGroup(ctx context.Context, l *cycle.Limits, q *whatif.Question) error {
	if q.Pod == nil || q.Grouped || q.Pod.Spec.NodeName != "" || inspect.PodGroupOf(q.Pod) == "" {
		return nil
	}
	group := q.Cluster.Filters().Prepare(q.Pod).Together()
	if group == nil {
		return nil
	}
	add := func(format string, args ...any) {
		l.MayBeTaken = true
		l.Remarks = append(l.Remarks, fmt.Sprintf("kube-scheduler takes the %d waiting pods of %s together, and places none while it fails at one: ",
			len(group.Waiting), group.Title)+fmt.Sprintf(format, args...))
	}
	if len(group.Waiting) > maxTogether {
		add("they are too many to try")
		return nil
	}
	r := New(q.Cluster, nil)
	for _, m := range GangOf(q.Cluster, q.Pod, group, cycle.Options{}).Members {
		_, w, err := r.One(ctx, m.Pod)
		if err != nil {
			return err
		}
		if w.Fails {
			add("it fails at pod %s", m.Pod.Name)
			return nil
		}
	}
	return nil
}
