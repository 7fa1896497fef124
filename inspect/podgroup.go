package inspect

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods of a PodGroup may share claims that the group has (KEP-5729, DRAWorkloadResourceClaims). The group
// itself is not read: what is known of its claims stands in the claims.

// podGroupKind and podGroupResource are what owner and consumer references call a PodGroup.
const (
	podGroupKind     = "PodGroup"
	podGroupResource = "podgroups"
)

// PodGroupOf returns the name of the PodGroup that a pod belongs to, or "" if it belongs to none.
func PodGroupOf(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}

// ReservedForGroupOf reports whether a claim is reserved for the PodGroup of a pod, which all pods of the
// group may use.
func ReservedForGroupOf(pod *corev1.Pod, claim *resourcev1.ResourceClaim) bool {
	group := PodGroupOf(pod)
	if group == "" || pod.Namespace != claim.Namespace {
		return false
	}
	for i := range claim.Status.ReservedFor {
		by := &claim.Status.ReservedFor[i]
		if by.APIGroup == schedulingv1alpha3.GroupName && by.Resource == podGroupResource && by.Name == group {
			return true
		}
	}
	return false
}

// GroupClaimFor returns the claim that was generated for the PodGroup of a pod and an entry of its
// spec.resourceClaims that names a template. The result is false if there is none, or if pods do not share
// such claims.
func (s *Snapshot) GroupClaimFor(pod *corev1.Pod, entry *corev1.PodResourceClaim) (*resourcev1.ResourceClaim, bool) {
	group := PodGroupOf(pod)
	if group == "" || entry.ResourceClaimTemplateName == nil || !s.Features().Enabled(GateWorkloadResourceClaims) {
		return nil, false
	}
	for _, claim := range s.Objects().Claims {
		if claim.Namespace == pod.Namespace && OwnedByPodGroup(claim, group) && generatedFor(claim, group, entry.Name) {
			return claim, true
		}
	}
	return nil, false
}

// OwnedByPodGroup reports whether the controller of a claim is the PodGroup of a name, or any if the name is
// "".
func OwnedByPodGroup(claim *resourcev1.ResourceClaim, name string) bool {
	owner := metav1.GetControllerOf(claim)
	return owner != nil && owner.Kind == podGroupKind && strings.HasPrefix(owner.APIVersion, schedulingv1alpha3.GroupName+"/") &&
		(name == "" || owner.Name == name)
}

// generatedFor reports whether a claim of a group is for the entry of that name. The annotation says so;
// where it was left out, as in snapshots, the generated name does.
func generatedFor(claim *resourcev1.ResourceClaim, group, entry string) bool {
	if name, ok := claim.Annotations[resourcev1.PodResourceClaimAnnotation]; ok {
		return name == entry
	}
	return strings.HasPrefix(claim.Name, group+"-"+entry+"-")
}
