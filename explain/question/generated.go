package question

import (
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// generatedFrom names the template from which a claim was made for a pod. It is "" if the claim was not made
// for one, or if the template no longer asks for the same.
func generatedFrom(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	owner := metav1.GetControllerOf(claim)
	if owner == nil || owner.Kind != "Pod" {
		return ""
	}
	pod, ok := s.Pod(inspect.PodRef{Namespace: claim.Namespace, Name: owner.Name})
	if !ok || pod.UID != owner.UID {
		return ""
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if name, ok := inspect.ClaimNameFor(pod, entry); ok && name == claim.Name {
			return cycle.TemplateBehind(s, entry, claim)
		}
	}
	return ""
}
