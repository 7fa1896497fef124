package admission

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// maxTogether is how many pods are placed together, times how many nodes.
const maxTogether = 30_000

// placement is whether all pods of a workload find nodes together.
type placement struct {
	result  explain.StageResult
	message string
}

// admittedPods are the pods of the workload as they are once it is admitted. They are nil if there are too
// many to be placed together; then only their number is known.
func (w *world) admittedPods() (pods []*corev1.Pod, total int) {
	pods, total = w.newPods(max(1, maxTogether/max(1, len(w.c.Snapshot().Nodes()))))
	for _, pod := range pods {
		pod.CreationTimestamp = metav1.NewTime(w.c.Snapshot().Time().Add(time.Duration(len(w.earlier)) * time.Second))
	}
	return pods, total
}

// newPods are the pods that are made of the workload's pod sets once it is admitted. They are nil if they are
// more than some; then only their number is known.
func (w *world) newPods(most int) (pods []*corev1.Pod, total int) {
	for i := range w.target.Workload.Spec.PodSets {
		total += w.count(i)
	}
	if total > most {
		return nil, total
	}
	name := w.subject.GetName()
	if of := target.Owner(w.target.Workload); of != nil {
		name = of.Name
	}
	for i := range w.target.Workload.Spec.PodSets {
		set := &w.target.Workload.Spec.PodSets[i]
		flavors := w.flavors(i)
		for n := range w.count(i) {
			pod := &corev1.Pod{ObjectMeta: *set.Template.ObjectMeta.DeepCopy(), Spec: set.Template.Spec}
			pod.Namespace, pod.Name = w.target.Workload.Namespace, fmt.Sprintf("%s-%d", name, n)
			if len(w.target.Workload.Spec.PodSets) > 1 {
				pod.Name = fmt.Sprintf("%s-%s-%d", name, set.Name, n)
			}
			pod = w.target.Free(pod, flavors)
			pod.UID = types.UID("admitted-" + pod.Namespace + "-" + pod.Name)
			pods = append(pods, pod)
		}
	}
	return pods, total
}

// count is how many pods of a pod set are admitted.
func (w *world) count(set int) int {
	if set < len(w.d.PodSets) && w.d.PodSets[set].Count > 0 {
		return int(w.d.PodSets[set].Count)
	}
	return int(w.target.Workload.Spec.PodSets[set].Count)
}

// together asks whether all pods of the workload find nodes together, behind those that wait already. It is
// nil where the workload has one pod, or that finds no node alone.
func (w *world) together(then *explain.Explanation) (*placement, error) {
	pods, total := w.admittedPods()
	if len(pods) < total {
		return &placement{explain.StageUnknown, fmt.Sprintf("whether all %d pods find nodes together was not tried: there are too many", total)}, nil
	}
	w.pods = pods
	var before []*corev1.Pod
	for _, one := range w.others() {
		if !refused(one.d.Outcome) && one.d.Outcome != kueue.Admitted {
			before = append(before, one.pods...)
		}
	}
	coming, names := w.podsToCome()
	if total+len(before)+len(names) < 2 || then.Verdict != explain.Allocatable || w.d.Outcome == kueue.Admitted {
		return nil, nil
	}
	p, err := w.place(pods, before)
	if err != nil || p.result != explain.Passes || len(names) == 0 {
		return p, err
	}
	if len(coming) > 0 {
		if with, err := w.place(pods, append(before, coming...)); err != nil || with.result == explain.Passes {
			return p, err
		}
	}
	return &placement{explain.StageUnknown, fmt.Sprintf("%s, unless %s, admitted and without pods yet, %s what is needed",
		p.message, words.And(names), words.Plural(len(names), "takes", "take"))}, nil
}

// place asks whether pods find nodes, behind others and those that wait already.
func (w *world) place(pods, before []*corev1.Pod) (*placement, error) {
	c, total := w.evicted(), len(pods)
	others, _ := plan.Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	p, err := plan.Place(w.ctx, c, pods, plan.Options{Others: append(others, before...), Choosing: w.opts.Question.Choosing})
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is about
	}
	placed := len(p.Replay.Placed)
	why := ""
	if len(p.Replay.Pending) > 0 {
		why = ": " + p.Replay.Pending[0].Message
	}
	switch {
	case placed == total && p.Replay.Certain:
		return &placement{explain.Passes, fmt.Sprintf("%s %s", words.Plural(total, "its pod", fmt.Sprintf("all %d pods", total)), words.Plural(total, "finds a node", "find nodes"))}, nil
	case p.LeavesSome():
		return &placement{explain.Refuses, fmt.Sprintf("only %d of its %d pods find nodes%s", placed, total, why)}, nil
	}
	return &placement{explain.StageUnknown, fmt.Sprintf("%d of its %d pods find nodes, which depends on choices of kube-scheduler%s", placed, total, why)}, nil
}

// podsToCome are the pods that workloads are about to get which are admitted already, and what those are
// called. There are no pods if they are too many to be placed.
func (w *world) podsToCome() (pods []*corev1.Pod, names []string) {
	all := 0
	for _, of := range w.coming {
		ref := kueue.Ref{Namespace: of.Namespace, Name: of.Name}
		if slices.Contains(w.ended, ref) || of.Namespace == w.target.Workload.Namespace && of.Name == w.target.Workload.Name ||
			slices.ContainsFunc(w.d.Victims, func(v kueue.Victim) bool { return v.Workload == ref }) {
			continue
		}
		other := &world{c: w.c, target: &target.Target{Workload: of}, subject: of, objects: w.objects, d: w.state.Decide(of.Namespace, of.Name)}
		theirs, total := other.admittedPods()
		for _, pod := range theirs { // which come first
			pod.CreationTimestamp = metav1.NewTime(w.c.Snapshot().Time().Add(-time.Second))
		}
		pods, names, all = append(pods, theirs...), append(names, w.called(ref)), all+total
	}
	if len(pods) < all || all*max(1, len(w.c.Snapshot().Nodes())) > maxTogether && all > 1 {
		pods = nil
	}
	return pods, names
}
