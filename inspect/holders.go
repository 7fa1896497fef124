package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// Holder is a claim that holds a device, by one entry of its allocation.
type Holder struct {
	Claim ClaimRef
	// Result is the entry of the claim's status.allocation.devices.results.
	Result *resourcev1.DeviceRequestAllocationResult
}

// Admin reports whether the claim has only admin access, which takes nothing from others.
func (h Holder) Admin() bool { return isTrue(h.Result.AdminAccess) }

// Shared reports whether the claim holds a share of a device that allows multiple allocations.
func (h Holder) Shared() bool { return h.Result.ShareID != nil }

// ClaimNameFor returns the name of the claim that stands behind an entry of pod.spec.resourceClaims.
// ok is false while the claim of a template has not been created; a template for which no claim is
// needed gives "" and true.
func ClaimNameFor(pod *corev1.Pod, entry *corev1.PodResourceClaim) (name string, ok bool) {
	if entry.ResourceClaimName != nil {
		return *entry.ResourceClaimName, true
	}
	for i := range pod.Status.ResourceClaimStatuses {
		status := &pod.Status.ResourceClaimStatuses[i]
		if status.Name != entry.Name {
			continue
		}
		if status.ResourceClaimName == nil {
			return "", true
		}
		return *status.ResourceClaimName, true
	}
	return "", false
}

// ClaimsOf are the claims of the entries of a pod that exist, in their order, also one that its group shares.
func (s *Snapshot) ClaimsOf(pod *corev1.Pod) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, made := ClaimNameFor(pod, entry)
		claim, found := s.Claim(ClaimRef{Namespace: pod.Namespace, Name: name})
		if !made {
			claim, found = s.GroupClaimFor(pod, entry)
		}
		if found {
			out = append(out, claim)
		}
	}
	return out
}

// podIndex finds the pods that use a claim: by name, through a template, or through the claim that the
// scheduler creates for extended resources. The uses of a claim are chained, which saves a slice for each
// claim.
type podIndex struct {
	last map[ClaimRef]int32 // index into uses
	uses []podUse
}

// podUse is a pod that uses a claim; before is the index of another use of that claim, or -1.
type podUse struct {
	pod    PodRef
	before int32
}

func newPodIndex(pods []*corev1.Pod) *podIndex {
	x := &podIndex{last: make(map[ClaimRef]int32, len(pods)), uses: make([]podUse, 0, len(pods))}
	for _, pod := range pods {
		for i := range pod.Spec.ResourceClaims {
			if name, ok := ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok {
				x.add(pod, name)
			}
		}
		if ext := pod.Status.ExtendedResourceClaimStatus; ext != nil {
			x.add(pod, ext.ResourceClaimName)
		}
	}
	return x
}

// add records a use, of those of one pod in turn each once.
func (x *podIndex) add(pod *corev1.Pod, name string) {
	if name == "" {
		return
	}
	ref, user := ClaimRef{pod.Namespace, name}, PodRef{pod.Namespace, pod.Name}
	before, used := x.last[ref]
	switch {
	case !used:
		before = -1
	case x.uses[before].pod == user:
		return
	}
	x.last[ref] = int32(len(x.uses)) //nolint:gosec // one for each claim of each pod in memory
	x.uses = append(x.uses, podUse{user, before})
}

// sameUsers reports whether two lists have the same pods, in the same order, with the same claims.
func sameUsers(before, after []*corev1.Pod) bool {
	return slices.EqualFunc(before, after, func(a, b *corev1.Pod) bool {
		return a == b || byName(a, b) == 0 && sameUses(a, b)
	})
}

// sameUses reports whether two versions of a pod use the same claims.
func sameUses(a, b *corev1.Pod) bool {
	if len(a.Spec.ResourceClaims) != len(b.Spec.ResourceClaims) {
		return false
	}
	for i := range a.Spec.ResourceClaims {
		x, known := ClaimNameFor(a, &a.Spec.ResourceClaims[i])
		y, also := ClaimNameFor(b, &b.Spec.ResourceClaims[i])
		if x != y || known != also {
			return false
		}
	}
	x, y := a.Status.ExtendedResourceClaimStatus, b.Status.ExtendedResourceClaimStatus
	return x == y || x != nil && y != nil && x.ResourceClaimName == y.ResourceClaimName
}

// of returns the pods that use a claim.
func (x *podIndex) of(ref ClaimRef) []PodRef {
	var out []PodRef
	at, ok := x.last[ref]
	for ; ok && at >= 0; at = x.uses[at].before {
		out = append(out, x.uses[at].pod)
	}
	return out
}

// PodsOf returns the pods that use the claim or for which it is reserved, sorted. A pod for which the
// claim is reserved is listed even when the pod itself could not be read.
func (s *Snapshot) PodsOf(ref ClaimRef) []PodRef {
	pods := s.podsOf().of(ref)
	if claim, ok := s.Claim(ref); ok {
		for _, consumer := range claim.Status.ReservedFor {
			pod := PodRef{claim.Namespace, consumer.Name}
			if consumer.APIGroup == "" && consumer.Resource == "pods" && !slices.Contains(pods, pod) {
				pods = append(pods, pod)
			}
		}
	}
	slices.SortFunc(pods, PodRef.Compare)
	return pods
}

// ClaimState is where a claim is in its life.
type ClaimState string

// The states of a claim, in the order of its life.
const (
	ClaimPending   ClaimState = "Pending"   // not allocated
	ClaimAllocated ClaimState = "Allocated" // allocated, reserved by nobody
	ClaimReserved  ClaimState = "Reserved"  // allocated and reserved by a consumer
	ClaimDeleting  ClaimState = "Deleting"  // being deleted, whatever else it is
)

// StateOf returns the state of a claim.
func StateOf(claim *resourcev1.ResourceClaim) ClaimState {
	switch {
	case claim.DeletionTimestamp != nil:
		return ClaimDeleting
	case claim.Status.Allocation == nil:
		return ClaimPending
	case len(claim.Status.ReservedFor) > 0:
		return ClaimReserved
	}
	return ClaimAllocated
}
