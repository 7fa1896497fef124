package question

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// PodsUnread is said of a claim for which no pod is known.
const PodsUnread = "pods could not be read, so it is not known whether one uses the claim"

// waitsOf says what keeps a claim from being allocated besides devices. A claim is allocated when a pod that
// uses it is scheduled, so most of that is about pods.
func waitsOf(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, opts Options) []explain.Note {
	ref := inspect.RefOf(claim)
	if opts.Released != nil && opts.Released(ref) {
		return nil
	}
	onClaim := func(message string) explain.Note {
		return explain.Note{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name, Message: message}
	}
	var notes []explain.Note
	pods := s.PodsOf(ref)
	if len(pods) == 0 {
		if s.Health(inspect.Pods).PartialIn(claim.Namespace) {
			return append(notes, onClaim(PodsUnread))
		}
		unused := onClaim("a pod: no pod uses the claim, and the scheduler allocates it when one that does is scheduled")
		unused.Aside = true
		return append(notes, unused)
	}
	for _, p := range pods {
		if pod, ok := s.Pod(p); ok {
			notes = append(notes, podWaits(s, pod, ref, opts)...)
		}
	}
	return notes
}

// podWaits says what keeps a pod that uses a claim from being scheduled, besides that claim.
func podWaits(s *inspect.Snapshot, pod *corev1.Pod, ref inspect.ClaimRef, opts Options) []explain.Note {
	if notes := podState(s, pod, opts); notes != nil {
		return notes
	}
	if notes := otherClaims(s, pod, ref); notes != nil {
		return notes
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return nil // Explanation.Scheduler has what the scheduler said
		}
	}
	if old := words.Age(pod.CreationTimestamp.Time, s.Time()); old != "" {
		return podNote(pod, "the pod was created %s ago, and the scheduler has not said anything about it yet", old)
	}
	return nil
}

// podNote is one note about a pod.
func podNote(pod *corev1.Pod, format string, args ...any) []explain.Note {
	return []explain.Note{{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(format, args...)}}
}

// podState says why the scheduler does not consider the pod, or no longer does. It is nil if it does.
func podState(s *inspect.Snapshot, pod *corev1.Pod, opts Options) []explain.Note {
	switch {
	case pod.DeletionTimestamp != nil:
		return podNote(pod, "the pod is being deleted")
	case inspect.Ended(pod):
		return podNote(pod, "the pod has finished (%s)", pod.Status.Phase)
	case len(pod.Spec.SchedulingGates) > 0:
		var gates []string
		for _, g := range pod.Spec.SchedulingGates {
			gates = append(gates, g.Name)
		}
		return podNote(pod, "the pod is not considered for scheduling until its scheduling gates are removed: %s", words.Shorten(gates, 5))
	case pod.Spec.NodeName != "" && opts.Hypothetical:
		return nil
	case pod.Spec.NodeName != "":
		return podNote(pod, "the pod was put on node %s without the scheduler, so nothing allocates its claims", pod.Spec.NodeName)
	case !s.Schedules(pod):
		name := cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
		return podNote(pod, "the pod is scheduled by %q, not by %s; %s", name, words.And(s.Scheduler().Names()), explain.SchedulerSeen(s.SchedulerPod(name)))
	}
	return nil
}

// otherClaims says which other claim the pod still lacks. It is nil if it lacks none.
func otherClaims(s *inspect.Snapshot, pod *corev1.Pod, ref inspect.ClaimRef) []explain.Note {
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		switch {
		case !ok:
			return podNote(pod, "the claim for its entry %s has not been created yet", entry.Name)
		case name == "":
			continue
		}
		other, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		switch {
		case found && cycle.RefusedClaim(s, pod, other, entry.ResourceClaimName == nil) != "":
			return podNote(pod, "the scheduler does not try the pod: %s", cycle.RefusedClaim(s, pod, other, entry.ResourceClaimName == nil))
		case name == ref.Name:
			continue
		case !found:
			return podNote(pod, "the pod also needs the claim %s, which does not exist", name)
		case other.Status.Allocation == nil:
			return podNote(pod, "the pod also needs the claim %s, which is not allocated either: all claims of a pod must fit on one node (explain pod %s)", name, pod.Name)
		}
	}
	return nil
}

// SchedulerSays returns what the scheduler last wrote into the conditions of pods.
func SchedulerSays(s *inspect.Snapshot, pods []inspect.PodRef, opts Options) []explain.Note {
	if opts.Hypothetical {
		return nil
	}
	var notes []explain.Note
	for _, ref := range pods {
		pod, ok := s.Pod(ref)
		if !ok {
			continue
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
				notes = append(notes, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: c.Message, Brief: withoutPreemption(c.Message)})
			}
		}
	}
	return notes
}

// preemptionParts begin what a message of the scheduler says of preemption, after what it says of the nodes.
// That part is about whether it helps to evict pods, and says that in nearly every message.
var preemptionParts = []string{" still not schedulable, preemption: ", " no new claims to deallocate, preemption: ", " preemption: "}

// withoutPreemption cuts off what a message of the scheduler says of preemption.
func withoutPreemption(message string) string {
	for _, part := range preemptionParts {
		if brief, _, found := strings.Cut(message, part); found && brief != "" {
			return strings.TrimSpace(brief)
		}
	}
	return message
}
