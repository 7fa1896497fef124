package cycle

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// QueueOrder returns the order in which subjects are asked.
func QueueOrder(s *inspect.Snapshot, subjects []metav1.Object) []int {
	order := make([]int, len(subjects))
	priorities := make([]int32, len(subjects))
	for i, subject := range subjects {
		order[i], priorities[i] = i, PriorityOf(s, subject)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(priorities[b], priorities[a]), Earlier(subjects[a], subjects[b]))
	})
	return order
}

// InQueueOrder returns pods in the order in which the scheduler takes them.
func InQueueOrder(s *inspect.Snapshot, pods []*corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, len(pods))
	for _, i := range QueueOrder(s, ObjectsOf(pods)) {
		out = append(out, pods[i])
	}
	return out
}

// Earlier compares the times at which objects were created. What is not created yet comes last.
func Earlier(a, b metav1.Object) int {
	at, other := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if at.IsZero() || other.IsZero() {
		return cmp.Compare(words.Btoi(at.IsZero()), words.Btoi(other.IsZero()))
	}
	return at.Compare(other.Time)
}

// PriorityOf is the priority of a pod, or for a claim the highest of the pods that use it.
func PriorityOf(s *inspect.Snapshot, subject metav1.Object) int32 {
	highest := int32(0)
	switch subject := subject.(type) {
	case *corev1.Pod:
		if subject.Spec.Priority != nil {
			highest = *subject.Spec.Priority
		}
	case *resourcev1.ResourceClaim:
		for i, ref := range s.PodsOf(inspect.RefOf(subject)) {
			if pod, ok := s.Pod(ref); ok && pod.Spec.Priority != nil && (i == 0 || *pod.Spec.Priority > highest) {
				highest = *pod.Spec.Priority
			}
		}
	}
	return highest
}

// SubjectOf names an object that can be asked about.
func SubjectOf(object metav1.Object) explain.Subject {
	kind := "ResourceClaimTemplate"
	switch object.(type) {
	case *corev1.Pod:
		kind = "Pod"
	case *resourcev1.ResourceClaim:
		kind = "ResourceClaim"
	}
	return explain.Subject{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
}

// ObjectsOf returns pods as objects.
func ObjectsOf(pods []*corev1.Pod) []metav1.Object {
	out := make([]metav1.Object, len(pods))
	for i, pod := range pods {
		out[i] = pod
	}
	return out
}
