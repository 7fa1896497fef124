package cycle

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestFullForItsGroup: a claim that is reserved for the group of a pod takes any number of its pods.
func TestFullForItsGroup(t *testing.T) {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml"}}
	for len(claim.Status.ReservedFor) < resourcev1.ResourceClaimReservedForMaxSize {
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "x"})
	}
	claim.Status.ReservedFor[7] = resourcev1.ResourceClaimConsumerReference{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: "train"}
	for group, want := range map[string]bool{"train": false, "other": true} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}}
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To(group)}
		if got := full(claim, pod); got != want {
			t.Errorf("for a pod of %s: %t", group, got)
		}
	}
}
