package inspect

import (
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClaimFromTemplate makes the claim that Kubernetes would make from a template, under a name. It has the
// labels and annotations that the template gives to claims, not those of the template itself. The maps and
// the lists in it are the template's, so they must not be changed.
func ClaimFromTemplate(template *resourcev1.ResourceClaimTemplate, name string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: template.Namespace, Name: name, Labels: template.Spec.Labels, Annotations: template.Spec.Annotations,
		},
		Spec: template.Spec.Spec,
	}
	var newer []newerField
	for _, f := range newerOf(template) {
		if len(f.Path) > 1 && f.Path[1].Field != "metadata" {
			newer = append(newer, newerField{f.Path[1:], f.Value})
		}
	}
	if newer != nil {
		setNewer(claim, newer)
	}
	return claim
}
