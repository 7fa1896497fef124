package validate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// checkPod checks how a pod refers to claims; nothing else of a pod is checked.
func checkPod(v *validator, spec *corev1.PodSpec, path place) {
	names := map[string]bool{}
	for i := range spec.ResourceClaims {
		claim, at := &spec.ResourceClaims[i], path.Child("resourceClaims").Index(i)
		v.label(claim.Name, at.Child("name"))
		unique(v, names, claim.Name, at.Child("name"))
		v.oneOf(at, "resourceClaimName and resourceClaimTemplateName",
			choice{"resourceClaimName", claim.ResourceClaimName != nil},
			choice{"resourceClaimTemplateName", claim.ResourceClaimTemplateName != nil})
	}
	for i := range spec.InitContainers {
		checkContainerClaims(v, &spec.InitContainers[i], names, path.Child("initContainers").Index(i))
	}
	for i := range spec.Containers {
		checkContainerClaims(v, &spec.Containers[i], names, path.Child("containers").Index(i))
	}
}

func checkContainerClaims(v *validator, container *corev1.Container, names map[string]bool, path place) {
	seen := map[corev1.ResourceClaim]bool{}
	for i, claim := range container.Resources.Claims {
		at := path.Child("resources", "claims").Index(i)
		if !names[claim.Name] {
			v.refuse(field.NotFound(at.Child("name").path, inspect.SanitizeShort(claim.Name, maxSnippetLength)))
		}
		unique(v, seen, claim, at)
	}
}
