package remedy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxRemade is the number of pods that commands name.
const maxRemade = 16

// remake writes what lets pods have claims that are made from a changed template. A claim that is deleted would be made
// anew, but the controller that does so (package resourceclaim of kube-controller-manager) may remember the old one for an
// hour. So it is the pods that are made anew: those that wait with a claim made from the template.
func (b *builder) remake(template explain.ObjectChange) {
	words := []string{"delete", "pod"}
	found := 0
	for _, pod := range b.s.Objects().Pods {
		if pod.Namespace != template.Namespace || !waitsWithClaimOf(pod, template.Name) {
			continue
		}
		if found++; found > maxRemade {
			continue
		}
		if ControllerOf(pod) != nil {
			words = append(words, b.name(pod.Name))
			continue
		}
		b.add(b.kubectl("get", "pod", b.name(pod.Name), "-n", pod.Namespace, "-o", "yaml") + " | " + b.kubectl("replace", "--force", "-f", "-"))
	}
	if len(words) > 2 {
		b.add(b.kubectl(append(words, "-n", template.Namespace)...))
	}
	if found > 0 {
		b.remark("Claims that were made from the template stay as they are, so the pods that wait with one are made anew.")
	}
	if found > maxRemade {
		b.remark(fmt.Sprintf("%d more pods wait with such a claim.", found-maxRemade))
	}
}

// waitsWithClaimOf reports whether a pod that has no node yet has got a claim that was made from a template.
func waitsWithClaimOf(pod *corev1.Pod, template string) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return false
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if entry.ResourceClaimTemplateName == nil || *entry.ResourceClaimTemplateName != template {
			continue
		}
		if name, made := inspect.ClaimNameFor(pod, entry); made && name != "" {
			return true
		}
	}
	return false
}
