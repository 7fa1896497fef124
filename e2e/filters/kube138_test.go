//go:build kube138

package filters

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// newInformers are those of the scheduler.
func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return upstream.NewInformerFactory(client, 0, nil)
}

// setOthers sets the gates that the API server needs for the fields of pods, and those that depend on others.
func (p *kubeProblem) setOthers(set func(featuregate.Feature, bool)) {
	server := []featuregate.Feature{features.UserNamespacesHostNetworkSupport, features.VolumeBindMountOptions}
	for _, name := range server {
		set(name, true)
	}
	off := func(name featuregate.Feature) bool { on, given := p.Gates[string(name)]; return given && !on }
	for name, needs := range utilfeature.DefaultMutableFeatureGate.Dependencies() {
		if _, given := p.Gates[string(name)]; !given && !slices.Contains(server, name) && slices.ContainsFunc(needs, off) {
			set(name, false)
		}
	}
}

// recorder makes what notes events, of which there are none.
func recorder(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

// nominatedOn are the pods that are nominated to a node.
func nominatedOn(f framework.Framework, node string) []fwk.PodInfo {
	return f.NominatedPodsForNode(klog.Background(), node)
}

var errNotPlaced = errors.New("groups are not placed here")

// group says what the scheduler has against a pod because of its group, besides what the plugin for groups
// says of the pod.
func (q *kubeQuestion) group() []kubeRefusal {
	group := q.pod.Spec.SchedulingGroup
	if group == nil || group.PodGroupName == nil || !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return nil
	}
	entity := q.root(fwk.PodGroupKey(q.pod.Namespace, *group.PodGroupName))
	if entity == nil {
		return nil
	}
	var out []kubeRefusal
	for member := range entity.ForEachPodInfo() {
		for _, p := range q.preEnqueue {
			if status := p.PreEnqueue(q.ctx, member.Pod); !status.IsSuccess() && member.Pod.UID != q.pod.UID && len(out) == 0 {
				out = append(out, kubeRefusal{names.GangScheduling, status.Code(), "pod " + member.Pod.Name + " of the group waits: " + status.Message()})
			}
		}
	}
	if failure, tried := q.try(entity); !tried {
		out = append(out, kubeRefusal{names.GangScheduling, fwk.Unschedulable, cmp.Or(failure, "no pod of the group is to be scheduled")})
	}
	return out
}

// root is what the scheduler takes with a group: it, or the tree of groups that it is part of, with all pods
// that wait. It is nil if a group of the tree is missing, which the plugin has said.
func (q *kubeQuestion) root(key fwk.EntityKey) *framework.QueuedPodGroupInfo {
	for {
		gpg := q.generic(key)
		if gpg == nil {
			return nil
		}
		parent, ok := gpg.GetParentKey()
		if !ok || !utilfeature.DefaultFeatureGate.Enabled(features.CompositePodGroup) {
			break
		}
		key = parent
	}
	out := &framework.QueuedPodGroupInfo{PodGroupInfo: q.tree(key)}
	var add func(*framework.PodGroupInfo)
	add = func(info *framework.PodGroupInfo) {
		for _, child := range info.Children() {
			add(child)
		}
		if state, err := q.snapshot.PodGroupStates().Get(info.GetNamespace(), info.GetName()); info.PodGroup != nil && err == nil {
			for _, pod := range state.UnscheduledPods() {
				if queued, ok := q.scheduler.SchedulingQueue.GetPod(q.ctx, pod.Name, pod.Namespace, pod.Spec.SchedulingGroup); ok {
					out.AddPod(queued)
				}
			}
		}
	}
	add(out.PodGroupInfo)
	if !out.HasQueuedPodInfos() {
		return nil
	}
	return out
}

func (q *kubeQuestion) generic(key fwk.EntityKey) *fwk.GenericPodGroup {
	if key.GetType() == fwk.CompositePodGroupKeyType {
		if composite, err := q.snapshot.CompositePodGroups().Get(key.GetNamespace(), key.GetName()); err == nil {
			return fwk.NewGenericCompositePodGroup(composite)
		}
		return nil
	}
	if group, err := q.snapshot.PodGroups().Get(key.GetNamespace(), key.GetName()); err == nil {
		return fwk.NewGenericPodGroup(group)
	}
	return nil
}

func (q *kubeQuestion) tree(key fwk.EntityKey) *framework.PodGroupInfo {
	var children []*framework.PodGroupInfo
	if key.GetType() == fwk.CompositePodGroupKeyType {
		if state, err := q.snapshot.CompositePodGroupStates().Get(key.GetNamespace(), key.GetName()); err == nil {
			for _, child := range state.GetChildren() {
				children = append(children, q.tree(child))
			}
		}
	}
	return framework.NewPodGroupInfo(q.generic(key), children...)
}

// try runs the scheduling cycle of a group, of which the queue keeps its own. It says whether the scheduler
// begins to look for a node for any pod, which none finds, or else why the pod that is asked about fails.
func (q *kubeQuestion) try(group *framework.QueuedPodGroupInfo) (failure string, tried bool) {
	attempt, s := group, q.scheduler
	next, schedule, fail := s.NextEntity, s.SchedulePod, s.FailureHandler
	defer func() { s.NextEntity, s.SchedulePod, s.FailureHandler = next, schedule, fail }()
	s.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return attempt, nil }
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
