package filters

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// The scheduler's queue holds the pods of a pod group together, and what keeps one of them keeps all. That is
// not in a plugin, but counts as one here.

// newInformers are those of the scheduler.
func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return upstream.NewInformerFactory(client, 0, nil)
}

// recorder makes what notes events, of which there are none.
func recorder(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

// nominatedOn are the pods that are nominated to a node.
func nominatedOn(f framework.Framework, node string) []fwk.PodInfo {
	return f.NominatedPodsForNode(node)
}

var errNotPlaced = errors.New("groups are not placed here")

// group says what the scheduler has against a pod because of its group, besides what the plugin for groups
// says of the pod.
func (q *kubeQuestion) group() []kubeRefusal {
	group := q.pod.Spec.SchedulingGroup
	if group == nil || group.PodGroupName == nil || !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return nil
	}
	entity, ok := q.scheduler.SchedulingQueue.GetPodGroup(*group.PodGroupName, q.pod.Namespace, fwk.PodGroupKeyType)
	if !ok {
		return nil
	}
	var out []kubeRefusal
	entity.ForEachPodInfo(func(member *framework.QueuedPodInfo) bool {
		for _, p := range q.preEnqueue {
			if status := p.PreEnqueue(q.ctx, member.Pod); !status.IsSuccess() && member.Pod.UID != q.pod.UID {
				out = append(out, kubeRefusal{names.GangScheduling, status.Code(), "pod " + member.Pod.Name + " of the group waits: " + status.Message()})
				break
			}
		}
		return len(out) == 0
	})
	if failure, tried := q.try(entity); !tried {
		out = append(out, kubeRefusal{names.GangScheduling, fwk.Unschedulable, cmp.Or(failure, "no pod of the group is to be scheduled")})
	}
	return out
}

// try runs the scheduling cycle of a group. It says whether the scheduler begins to look for a node for any
// pod, which none finds, or else why the pod that is asked about fails.
func (q *kubeQuestion) try(group *framework.QueuedPodGroupInfo) (failure string, tried bool) {
	// The cycle leaves out pods that are being deleted, and the group stays in the queue.
	attempt, info := *group, *group.PodGroupInfo
	attempt.PodGroupInfo, attempt.QueuedPodInfos = &info, maps.Clone(group.QueuedPodInfos)
	s := *q.scheduler
	s.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return &attempt, nil }
	s.SchedulePod = func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		tried = true
		return upstream.ScheduleResult{}, errNotPlaced
	}
	s.FailureHandler = func(_ context.Context, _ framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
		if info.Pod.UID == q.pod.UID {
			failure = status.Message()
		}
	}
	s.ScheduleOne(q.ctx)
	unhandled.Store(nil) // the group was never taken off the queue
	return failure, tried
}
