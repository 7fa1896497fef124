package remedy

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxRemade is the number of claims that a command names.
const maxRemade = 16

// remake writes what lets claims be made anew from a template that has changed: those that wait for devices are deleted.
// The controller that made them makes others for their pods (package resourceclaim of kube-controller-manager).
func (b *builder) remake(template explain.ObjectChange) {
	words := []string{"delete", "resourceclaim"}
	left := 0
	for _, claim := range b.s.Objects().Claims {
		if claim.Namespace != template.Namespace || !waitsForTemplate(b.s, claim, template.Name) {
			continue
		}
		if len(words) == maxRemade+2 {
			left++
			continue
		}
		words = append(words, b.name(claim.Name))
	}
	if len(words) == 2 {
		return
	}
	b.add(b.kubectl(append(words, "-n", template.Namespace)...))
	b.remark("Claims that were made from the template stay as they are. Those that wait are deleted, and are then made anew for their pods.")
	if left > 0 {
		b.remark(fmt.Sprintf("%d more claims wait that were made from the template; they have to be deleted as well.", left))
	}
}

// waitsForTemplate reports whether a claim was made from a template for a pod that is not placed yet, and has no devices.
func waitsForTemplate(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, template string) bool {
	owner := metav1.GetControllerOf(claim)
	if owner == nil || owner.Kind != "Pod" || claim.Status.Allocation != nil || claim.DeletionTimestamp != nil {
		return false
	}
	pod, ok := s.Pod(inspect.PodRef{Namespace: claim.Namespace, Name: owner.Name})
	if !ok || pod.UID != owner.UID || pod.Spec.NodeName != "" {
		return false
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, known := inspect.ClaimNameFor(pod, entry)
		if known && name == claim.Name && entry.ResourceClaimTemplateName != nil {
			return *entry.ResourceClaimTemplateName == template
		}
	}
	return false
}
