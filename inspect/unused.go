package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// Idle reports whether a claim can be released without hurting anybody: it is reserved for nobody, or for
// pods only that have ended. A pod that could not be read may be running. It returns false if there is no
// such claim.
func (s *Snapshot) Idle(ref ClaimRef) bool {
	claim, ok := s.Claim(ref)
	if !ok {
		return false
	}
	if len(claim.Status.ReservedFor) == 0 {
		return true
	}
	if slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool { return !isPod(&c) }) {
		return false
	}
	return !slices.ContainsFunc(s.PodsOf(ref), func(p PodRef) bool {
		pod, ok := s.Pod(p)
		return !ok || !Ended(pod)
	})
}

func isPod(c *resourcev1.ResourceClaimConsumerReference) bool {
	return c.APIGroup == "" && c.Resource == "pods"
}

// ReservedByGone returns the names of the pods that a claim is reserved for and that do not exist. The
// resourceclaim controller removes such reservations within seconds. It returns nothing where not all pods
// were read.
func (s *Snapshot) ReservedByGone(claim *resourcev1.ResourceClaim) []string {
	if !s.Health(Pods).Complete() {
		return nil
	}
	var gone []string
	for i := range claim.Status.ReservedFor {
		by := &claim.Status.ReservedFor[i]
		if _, exists := s.Pod(PodRef{claim.Namespace, by.Name}); isPod(by) && !exists {
			gone = append(gone, by.Name)
		}
	}
	return gone
}

// Ended reports whether the containers of a pod have ended for good.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IdleHolders returns the claims that are allocated and idle, in the order of the claims of the Snapshot.
func (s *Snapshot) IdleHolders() []*resourcev1.ResourceClaim { return s.idleHolders() }

// findIdleHolders looks closely only at claims that nobody has reserved, or first of all a pod that has
// ended: in a large cluster these are few.
func (s *Snapshot) findIdleHolders() []*resourcev1.ResourceClaim {
	ended := map[PodRef]bool{}
	for _, pod := range s.Objects().Pods {
		if Ended(pod) {
			ended[PodRef{pod.Namespace, pod.Name}] = true
		}
	}
	var out []*resourcev1.ResourceClaim
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		if by := claim.Status.ReservedFor; len(by) > 0 && (len(ended) == 0 || !ended[PodRef{claim.Namespace, by[0].Name}]) {
			continue
		}
		if s.Idle(RefOf(claim)) {
			out = append(out, claim)
		}
	}
	return out
}
