package triage

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// queued is a subject that waits to be scheduled.
type queued struct {
	subject metav1.Object
	shape   *shape
	// asked says that it was asked about: it is in a namespace that was.
	asked bool
}

// queueOf returns what waits, in the order in which the scheduler takes it: pods that are on no node, and
// claims that no pod uses. others are the pods that wait for other schedulers.
func queueOf(s *inspect.Snapshot, opts Options) (queue []queued, others map[string][]explain.Subject) {
	var subjects []metav1.Object
	others = map[string][]explain.Subject{}
	pods, foreign := plan.Waiting(s, func(*corev1.Pod) bool { return true })
	for _, pod := range pods {
		subjects = append(subjects, pod)
	}
	for _, pod := range foreign {
		if opts.asks(pod) {
			others[pod.Spec.SchedulerName] = append(others[pod.Spec.SchedulerName], cycle.SubjectOf(pod))
		}
	}
	for _, claim := range s.Objects().Claims {
		if opts.asks(claim) && unused(s, claim) {
			subjects = append(subjects, claim)
		}
	}
	shapes := newShaper(s)
	for _, i := range cycle.QueueOrder(s, subjects) {
		queue = append(queue, queued{subject: subjects[i], shape: shapes.of(subjects[i]), asked: opts.asks(subjects[i])})
	}
	return queue, others
}

// schedulerPods are pods that are called as other schedulers.
func schedulerPods(s *inspect.Snapshot, others map[string][]explain.Subject) map[string]string {
	out := map[string]string{}
	for name := range others {
		if pod := s.SchedulerPod(name); pod != "" {
			out[name] = pod
		}
	}
	return out
}

// Likely reports whether anything is likely to be stuck: the scheduler has said of some pod that it fits
// nowhere. That takes no question.
func Likely(s *inspect.Snapshot) bool {
	pods, foreign := plan.Waiting(s, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		})
	})
	return len(pods)+len(foreign) > 0
}

// unused reports whether a claim waits for devices and for a pod. Nobody else would tell that it can have
// none.
func unused(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) bool {
	return inspect.StateOf(claim) == inspect.ClaimPending && len(s.PodsOf(inspect.RefOf(claim))) == 0
}

// since is when a subject began to wait, as far as is known: when the scheduler first said that it does not
// fit, or when it was created.
func since(subject metav1.Object) time.Time {
	if pod, ok := subject.(*corev1.Pod); ok {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
		})
		if i >= 0 && !pod.Status.Conditions[i].LastTransitionTime.IsZero() {
			return pod.Status.Conditions[i].LastTransitionTime.Time
		}
	}
	return subject.GetCreationTimestamp().Time
}

// earliest is the earlier of two times, of which a zero one is not known.
func earliest(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// compareSince puts what has waited longer first, and what is not known last.
func compareSince(a, b time.Time) int {
	return cmp.Or(boolOrder(a.IsZero(), b.IsZero()), a.Compare(b))
}

// boolOrder puts false first.
func boolOrder(a, b bool) int { return words.Btoi(a) - words.Btoi(b) }
