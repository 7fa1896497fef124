package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Admitted is a cluster in which pods wait as if they had been created a moment ago: with the claims that a
// controller makes for them from templates. The pods are as they then are.
func Admitted(c *scheduler.Cluster, pods []*corev1.Pod) (*scheduler.Cluster, []*corev1.Pod) {
	s := c.Snapshot()
	out := make([]*corev1.Pod, len(pods))
	var reservations []*replay.Reservation
	for i, pod := range pods {
		known, ok := s.Pod(refOf(pod))
		own, claims := withClaims(s, pod)
		out[i] = own
		if len(claims) > 0 || !ok || known != own {
			reservations = append(reservations, &replay.Reservation{Pod: own, Claims: claims})
		}
	}
	if len(reservations) == 0 {
		return c, out
	}
	return replay.With(c, reservations...), out
}

// admittedWith is Admitted, also for other pods that wait: those of a pod group are only placed once the
// claims of all are there.
func admittedWith(c *scheduler.Cluster, pods, others []*corev1.Pod) (with *scheduler.Cluster, own, rest []*corev1.Pod) {
	asked := make(map[inspect.PodRef]bool, len(pods))
	for _, pod := range pods {
		asked[refOf(pod)] = true
	}
	all := slices.Clone(pods)
	for _, pod := range others {
		if !asked[refOf(pod)] {
			all = append(all, pod)
		}
	}
	with, all = Admitted(c, all)
	return with, all[:len(pods):len(pods)], all[len(pods):]
}

// withClaims is a pod with those of its claims that are still to be made. Entries whose template does not
// exist are left as they are, and a pod that lacks nothing is the same.
func withClaims(s *inspect.Snapshot, pod *corev1.Pod) (*corev1.Pod, []*resourcev1.ResourceClaim) {
	if pod.Spec.NodeName != "" || inspect.Ended(pod) || pod.DeletionTimestamp != nil {
		return pod, nil
	}
	var claims []*resourcev1.ResourceClaim
	own := *pod
	if own.UID == "" {
		own.UID = types.UID("planned-" + pod.Namespace + "-" + pod.Name)
	}
	for _, i := range lifecycle.Uncreated(s, pod) {
		entry := &pod.Spec.ResourceClaims[i]
		template, _ := s.Template(pod.Namespace, *entry.ResourceClaimTemplateName)
		claim := inspect.ClaimFromTemplate(template, freeName(s, pod.Namespace, pod.Name+"-"+entry.Name))
		claim.UID = types.UID("planned-" + claim.Namespace + "-" + claim.Name)
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: own.Name, UID: own.UID, Controller: ptr.To(true)}}
		claims = append(claims, claim)
		own.Status.ResourceClaimStatuses = append(slices.Clip(own.Status.ResourceClaimStatuses), corev1.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: &claim.Name})
	}
	if own.UID == pod.UID && len(claims) == 0 {
		return pod, nil
	}
	return &own, claims
}

// freeName is a name that no claim has, like another.
func freeName(s *inspect.Snapshot, namespace, name string) string {
	for {
		if _, taken := s.Claim(inspect.ClaimRef{Namespace: namespace, Name: name}); !taken {
			return name
		}
		name += "-planned"
	}
}
