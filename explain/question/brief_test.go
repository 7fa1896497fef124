package question_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestBriefOfPodsThatHaveEnded: the scheduler does not come back for them.
func TestBriefOfPodsThatHaveEnded(t *testing.T) {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "shared"}}
	pod := func(name string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name},
			Spec:       corev1.PodSpec{ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("shared")}}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	for _, tt := range []struct {
		pods []*corev1.Pod
		want string
	}{
		{nil, "no pod uses it"},
		{[]*corev1.Pod{pod("a", corev1.PodPending)}, "waiting for the scheduler"},
		{[]*corev1.Pod{pod("a", corev1.PodSucceeded)}, "its pods have ended"},
		{[]*corev1.Pod{pod("a", corev1.PodSucceeded), pod("b", corev1.PodFailed)}, "its pods have ended"},
		{[]*corev1.Pod{pod("a", corev1.PodSucceeded), pod("b", corev1.PodPending)}, "waiting for the scheduler"},
	} {
		s := inspect.New(inspect.Objects{Claims: []*resourcev1.ResourceClaim{claim}, Pods: tt.pods}, inspect.Config{
			Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Synced}},
		})
		if got := question.Brief(s, claim, &explain.Explanation{Verdict: explain.Allocatable}); got != tt.want {
			t.Errorf("with %d pods: %q, want %q", len(tt.pods), got, tt.want)
		}
	}
}
