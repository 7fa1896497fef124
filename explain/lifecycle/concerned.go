package lifecycle

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxPodsOfClaim is the number of pods of a claim of which the Events are looked at.
const maxPodsOfClaim = 16

// Concerned returns the objects whose Events belong to the answer about an object: a pod and its claims, or
// an allocated claim and the pods that use it. There are none if the object is not in the snapshot.
func Concerned(s *inspect.Snapshot, kind, namespace, name string) []inspect.ObjectRef {
	switch kind {
	case "Pod":
		if pod, ok := s.Pod(inspect.PodRef{Namespace: namespace, Name: name}); ok {
			return concernedByPod(s, pod)
		}
	case "ResourceClaim":
		if claim, ok := s.Claim(inspect.ClaimRef{Namespace: namespace, Name: name}); ok && claim.Status.Allocation != nil {
			out := []inspect.ObjectRef{refOf("ResourceClaim", claim)}
			for _, ref := range s.PodsOf(inspect.RefOf(claim)) {
				if pod, ok := s.Pod(ref); ok && Uses(pod, claim) && !inspect.Ended(pod) && len(out) <= maxPodsOfClaim {
					out = append(out, refOf("Pod", pod))
				}
			}
			return out
		}
	}
	return nil
}

func concernedByPod(s *inspect.Snapshot, pod *corev1.Pod) []inspect.ObjectRef {
	out := []inspect.ObjectRef{refOf("Pod", pod)}
	claims := s.ClaimsOf(pod)
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		if claim, ok := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: extended.ResourceClaimName}); ok {
			claims = append(claims, claim)
		}
	}
	for _, claim := range claims {
		out = append(out, refOf("ResourceClaim", claim))
	}
	for _, claim := range provisioning(s, pod) {
		out = append(out, refOf(volumeClaimKind, claim))
	}
	return out
}

func refOf(kind string, object metav1.Object) inspect.ObjectRef {
	return inspect.ObjectRef{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
}
