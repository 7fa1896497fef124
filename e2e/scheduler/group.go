package scheduler

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// The scheduler's queue holds the pods of a pod group together, and what keeps one of them keeps all. That is not in a
// plugin, but counts as one here.

// invalidGroup is how the scheduler begins to say that pods of a group are not like each other.
const invalidGroup = "all pods in a single pod group"

var errNotPlaced = errors.New("groups are not placed here")

// group says what the scheduler has against a pod because of its group, besides what the plugin for groups says of the pod.
func (q *question) group() []Refusal {
	group := q.pod.Spec.SchedulingGroup
	if group == nil || group.PodGroupName == nil || !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return nil
	}
	entity, ok := q.scheduler.SchedulingQueue.GetPodGroup(*group.PodGroupName, q.pod.Namespace, fwk.PodGroupKeyType)
	if !ok {
		return nil
	}
	var out []Refusal
	entity.ForEachPodInfo(func(member *framework.QueuedPodInfo) bool {
		for _, p := range q.preEnqueue {
			if status := p.PreEnqueue(q.ctx, member.Pod); !status.IsSuccess() && member.Pod.UID != q.pod.UID {
				out = append(out, Refusal{names.GangScheduling, status.Code(), "pod " + member.Pod.Name + " of the group waits: " + status.Message()})
				break
			}
		}
		return len(out) == 0
	})
	if failure := q.failures(entity)[q.pod.UID]; strings.HasPrefix(failure, invalidGroup) {
		out = append(out, Refusal{names.GangScheduling, fwk.Error, failure})
	}
	return out
}

// failures runs the scheduling cycle of a group, in which no pod finds a node, and says why each of its pods fails.
func (q *question) failures(group *framework.QueuedPodGroupInfo) map[types.UID]string {
	out := map[types.UID]string{}
	// The cycle leaves out pods that are being deleted, and the group stays in the queue.
	attempt, info := *group, *group.PodGroupInfo
	attempt.PodGroupInfo, attempt.QueuedPodInfos = &info, maps.Clone(group.QueuedPodInfos)
	s := *q.scheduler
	s.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return &attempt, nil }
	s.SchedulePod = func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		return upstream.ScheduleResult{}, errNotPlaced
	}
	s.FailureHandler = func(_ context.Context, _ framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
		out[info.Pod.UID] = status.Message()
	}
	s.ScheduleOne(q.ctx)
	unhandled.Store(nil) // the group was never taken off the queue
	return out
}
