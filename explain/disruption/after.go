package disruption

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// After is the cluster after an event, before kube-scheduler places anything: all pods that are evicted have
// gone, also those that tolerate a taint for a while. Those that a controller makes again wait, with new
// claims where claims were made for them, from the templates as they are.
func After(s *inspect.Snapshot, e *Event) *inspect.Snapshot {
	ended := make(map[inspect.PodRef]bool, len(e.Evicted))
	var again []*corev1.Pod
	var claims []*resourcev1.ResourceClaim
	for _, v := range e.Evicted {
		ended[v.ref()] = true
		if !e.Final && !v.Along && plan.ComesBack(v.Pod) {
			pod := plan.Replacement(v.Pod, s.Time())
			pod.UID = v.Pod.UID // by which its claims are its own
			pod.Status.Phase = corev1.PodPending
			made, entries := claimsAgain(s, v.Pod)
			pod.Status.ResourceClaimStatuses = entries
			again, claims = append(again, pod), append(claims, made...)
		}
	}
	return s.With(func(o *inspect.Objects) {
		plan.EndPods(o, ended)
		o.Pods, o.Claims = append(o.Pods, again...), append(o.Claims, claims...)
		if e.Change != nil {
			e.Change(o)
		}
	})
}

// claimsAgain are the claims that are made for a pod which is made again, as the controller of claims makes
// them, and how the status of the pod names them.
func claimsAgain(s *inspect.Snapshot, pod *corev1.Pod) (claims []*resourcev1.ResourceClaim, entries []corev1.PodResourceClaimStatus) {
	templates := map[string]string{}
	for _, c := range pod.Spec.ResourceClaims {
		if c.ResourceClaimTemplateName != nil {
			templates[c.Name] = *c.ResourceClaimTemplateName
		}
	}
	for _, entry := range pod.Status.ResourceClaimStatuses {
		if entry.ResourceClaimName == nil {
			continue
		}
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: *entry.ResourceClaimName})
		if !ok || !metav1.IsControlledBy(claim, pod) {
			continue
		}
		template, there := s.Template(pod.Namespace, templates[entry.Name])
		if !there && !s.Health(inspect.Templates).Partial() {
			continue // it cannot be made any more
		}
		made := claim.DeepCopy()
		made.Status, made.CreationTimestamp, made.DeletionTimestamp = resourcev1.ResourceClaimStatus{}, metav1.NewTime(s.Time()), nil
		if there {
			made.Spec = template.Spec.Spec
		}
		claims, entries = append(claims, made), append(entries, entry)
	}
	return claims, entries
}
