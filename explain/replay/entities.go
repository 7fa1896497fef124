package replay

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Gang are the pods of the group of a pod that kube-scheduler places together: all that wait, in its order,
// and how many of them have to find room. There is none if a pod does not depend on others.
func Gang(c *scheduler.Cluster, pod *corev1.Pod, opts cycle.Options) (gang Entity, ok bool) {
	if inspect.PodGroupOf(pod) == "" || pod.Spec.NodeName != "" {
		return Entity{}, false
	}
	for _, d := range c.Filters().Prepare(pod).Everywhere.Doubts {
		if d.OfOthers() {
			return GangOf(c, pod, d.Group, opts), true
		}
	}
	return Entity{}, false
}

// GangOf is the pods of a group that wait, in the order in which the scheduler takes them: those that were
// created first, of a CompositePodGroup one pod group after the other. Which of those that were created in
// the same second is first is not known. They may be on any node, also if the question is about one.
func GangOf(c *scheduler.Cluster, pod *corev1.Pod, group *filters.Group, opts cycle.Options) Entity {
	opts.Node = ""
	entity := Entity{Need: group.MinCount - group.Placed, Group: group.Title}
	parts, waiting, class := group.Parts, group.Waiting, 0
	if parts == nil {
		parts = []int{len(waiting)}
	}
	for _, n := range parts {
		var pods []*corev1.Pod
		for _, ref := range waiting[:n] {
			member, ok := c.Snapshot().Pod(ref)
			if ref.Name == pod.Name {
				member, ok = pod, true
			}
			if ok && member.DeletionTimestamp == nil {
				pods = append(pods, member)
			}
		}
		waiting = waiting[n:]
		slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return cycle.Earlier(a, b) })
		for i, member := range pods {
			if i == 0 || cycle.Earlier(pods[i-1], member) != 0 {
				class++
			}
			m := PodMember(c, member, opts)
			m.Class = class
			entity.Members = append(entity.Members, m)
		}
	}
	return entity
}

// Entities are subjects as the scheduler takes them. A pod brings along those of its group that have to be
// placed with it.
func Entities(c *scheduler.Cluster, subjects []metav1.Object, opts cycle.Options) []Entity {
	var out []Entity
	had := map[explain.Subject]bool{}
	for _, subject := range subjects {
		if had[cycle.SubjectOf(subject)] {
			continue
		}
		var entity Entity
		if pod, ok := subject.(*corev1.Pod); ok {
			entity, _ = Gang(c, pod, opts)
		}
		if len(entity.Members) == 0 {
			m := memberOf(c, subject, opts)
			if m == nil {
				continue
			}
			entity.Members = []*Member{m}
		}
		for _, m := range entity.Members {
			had[m.Subject] = true
		}
		out = append(out, entity)
	}
	return out
}

// NewQueue is pods that are placed in a cluster, in an order.
func NewQueue(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, opts cycle.Options) Queue {
	return QueueOf(ctx, c, Entities(c, cycle.ObjectsOf(pods), opts))
}
