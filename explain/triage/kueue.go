package triage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// held is what Kueue keeps from the scheduler.
type held struct {
	// pods are those that are there already, behind a gate, and workloads those of which no pod is.
	pods      map[inspect.PodRef]*admission.Waiting
	workloads []*admission.Waiting
	// given are the node labels that pods ask for on account of what Kueue gave them.
	given map[inspect.PodRef]map[string]string
}

// heldIn asks Kueue about all that waits in its queues. Where there is no Kueue, nothing is held.
func heldIn(s *inspect.Snapshot, queue []queued, opts *Options) *held {
	h := &held{pods: map[inspect.PodRef]*admission.Waiting{}, given: map[inspect.PodRef]map[string]string{}}
	if !admission.Here(s) {
		return h
	}
	queues := admission.NewQueues(s)
	waiting := queues.Waiting()
	by, there := map[kueue.Ref]*admission.Waiting{}, map[kueue.Ref]bool{}
	for i := range waiting {
		by[waiting[i].Decision.Workload] = &waiting[i]
	}
	for _, q := range queue {
		pod, ok := q.subject.(*corev1.Pod)
		if !ok {
			continue
		}
		if given := queues.Given(pod); len(given) > 0 {
			h.given[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = given
		}
		if len(pod.Spec.SchedulingGates) == 0 {
			continue
		}
		if w := queues.WorkloadOf(pod); w != nil {
			ref := kueue.Ref{Namespace: w.Namespace, Name: w.Name}
			if one := by[ref]; one != nil {
				h.pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}], there[ref] = one, true
			}
		}
	}
	for i := range waiting {
		if w := &waiting[i]; !there[w.Decision.Workload] && opts.Kind == "" && opts.asks(w.Workload) {
			h.workloads = append(h.workloads, w)
		}
	}
	return h
}

// addHeld adds what Kueue does not admit, by its reason.
func (c *collection) addHeld(subject explain.StuckSubject, w *admission.Waiting) {
	r := &w.Reason
	key := strings.TrimSpace(strings.Join([]string{"Queue", string(r.Code), w.Decision.ClusterQueue, r.Flavor, string(r.Resource), r.Name}, " "))
	subject.Message, subject.Brief = w.Message, r.Message
	if c.sayings[w.Message] == 0 {
		c.sayings[w.Message] = c.unlikeOthers()
	}
	subject.Alike = c.sayings[w.Message]
	c.add(key, subject, true, func() *explain.Cause {
		cause := &explain.Cause{Message: w.Cause, Verdict: explain.Unsatisfiable, Actor: explain.User, OnPurpose: w.Decision.Outcome == kueue.Waits || slices.Contains(onPurpose, r.Code)}
		if w.Decision.Outcome == kueue.Unknown {
			cause.Verdict = explain.Unknown
		}
		if cause.OnPurpose || slices.Contains(ofQueues, r.Code) {
			cause.Actor = explain.ClusterAdmin
		}
		return cause
	})
}

// addWorkloads adds the workloads of which there are no pods.
func (c *collection) addWorkloads(h *held) {
	for _, w := range h.workloads {
		one := w.Workload
		c.addHeld(explain.StuckSubject{
			Subject: explain.Subject{Kind: "Workload", Namespace: one.Namespace, Name: one.Name}, Since: one.CreationTimestamp.Time,
		}, w)
	}
}

// onPurpose are the codes of what somebody has held back, or Kueue for a while.
var onPurpose = []kueue.Code{
	kueue.LocalQueueStopped, kueue.ClusterQueueStopped, kueue.Deactivated, kueue.AdmissionGated, kueue.OnHold, kueue.Backoff, kueue.Requeuing,
	kueue.Evicting, kueue.WaitingForReplacement,
}

// ofQueues are the codes of what is wrong with queues, and not with what waits in them.
var ofQueues = []kueue.Code{
	kueue.ClusterQueueNotFound, kueue.ClusterQueueInactive, kueue.CohortCycle, kueue.NamespaceMismatch, kueue.AdmissionCheckFailed, kueue.UnmappedClass, kueue.DRADisabled,
}

// heldSubject is a pod that Kueue holds back.
func heldSubject(pod *corev1.Pod) explain.StuckSubject {
	return explain.StuckSubject{Subject: cycle.SubjectOf(pod), Since: since(pod)}
}
