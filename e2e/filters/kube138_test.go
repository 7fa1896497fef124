//go:build kube138

// This file and the others named kube_ that say nothing of this project are built with the libraries of
// Kubernetes 1.38 into a program that is its scheduler: see the target filters-138 of the Makefile.

package filters

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// TestServe answers problems until there are no more.
func TestServe(t *testing.T) {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var p kubeProblem
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		reply := p.answer(t)
		if t.Failed() {
			reply.Failure = "the test failed; its output says why"
		}
		if err := out.Encode(reply); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *kubeProblem) answer(t *testing.T) kubeReply {
	if err := p.setGates(); err != nil {
		return kubeReply{Failure: err.Error()}
	}
	var objects []runtime.Object
	for _, raw := range p.Objects {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return kubeReply{Failure: fmt.Sprintf("reading %s: %v", raw, err)}
		}
		objects = append(objects, object)
	}
	var out kubeReply
	inKubeScheduler(t, objects, func(_ *testing.T, s *kubeScheduler) {
		for _, pod := range p.Asked {
			one, err := s.askAll(pod, p)
			if err != nil {
				out.Failure = fmt.Sprintf("pod %s: %v", pod.Name, err)
				return
			}
			out.Pods = append(out.Pods, one)
		}
	})
	return out
}

func (s *kubeScheduler) askAll(pod *corev1.Pod, p *kubeProblem) (kubePod, error) {
	var out kubePod
	var errs [4]error
	out.Answer, errs[0] = s.Ask(pod)
	if p.Score && pod.Spec.NodeName == "" {
		out.Scores, errs[1] = s.Score(pod)
	}
	if p.Preempt && pod.Spec.NodeName == "" {
		out.Preemption[0], errs[2] = s.Preempt(pod, nil)
		out.Preemption[1], errs[3] = s.Preempt(pod, p.Budgets)
	}
	return out, errors.Join(errs[:]...)
}

// setGates sets the gates of the problem, and those that depend on them.
func (p *kubeProblem) setGates() error {
	gate, changed := utilfeature.DefaultMutableFeatureGate, map[string]bool{}
	set := func(name featuregate.Feature, on bool) {
		if gate.Enabled(name) != on {
			changed[string(name)] = on
		}
	}
	known := gate.GetAll()
	for name, on := range p.Gates {
		if _, ok := known[featuregate.Feature(name)]; ok {
			set(featuregate.Feature(name), on)
		}
	}
	server := []featuregate.Feature{features.UserNamespacesHostNetworkSupport, features.VolumeBindMountOptions}
	for _, name := range server {
		set(name, true)
	}
	off := func(name featuregate.Feature) bool { on, given := p.Gates[string(name)]; return given && !on }
	for name, needs := range gate.Dependencies() {
		if _, given := p.Gates[string(name)]; !given && !slices.Contains(server, name) && slices.ContainsFunc(needs, off) {
			set(name, false)
		}
	}
	return gate.SetFromMap(changed)
}

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
	entity, ok := q.scheduler.SchedulingQueue.GetPodGroup(*group.PodGroupName, q.pod.Namespace)
	if !ok {
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

// try runs the scheduling cycle of a group, of which the queue keeps its own. It says whether the scheduler
// begins to look for a node for any pod, which none finds, or else why the pod that is asked about fails.
func (q *kubeQuestion) try(group *framework.QueuedPodGroupInfo) (failure string, tried bool) {
	attempt := &framework.QueuedPodGroupInfo{PodGroupInfo: framework.NewPodGroupInfo(group.GenericPodGroup)}
	for member := range group.ForEachPodInfo() {
		attempt.AddPod(member)
	}
	s := q.scheduler
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
