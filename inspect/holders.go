package inspect

import (
	"cmp"
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

// podsOfClaims finds the pods that use a claim: by name, through a template, or through the claim that
// the scheduler creates for extended resources.
func podsOfClaims(pods []*corev1.Pod) map[ClaimRef][]PodRef {
	out := map[ClaimRef][]PodRef{}
	for _, pod := range pods {
		for _, ref := range claimsOfPod(pod) {
			out[ref] = append(out[ref], PodRef{pod.Namespace, pod.Name})
		}
	}
	return out
}

func claimsOfPod(pod *corev1.Pod) []ClaimRef {
	var refs []ClaimRef
	add := func(name string) {
		ref := ClaimRef{pod.Namespace, name}
		if name != "" && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for i := range pod.Spec.ResourceClaims {
		if name, ok := ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok {
			add(name)
		}
	}
	if ext := pod.Status.ExtendedResourceClaimStatus; ext != nil {
		add(ext.ResourceClaimName)
	}
	return refs
}

// PodsOf returns the pods that use the claim or for which it is reserved, sorted. A pod for which the
// claim is reserved is listed even when the pod itself could not be read.
func (s *Snapshot) PodsOf(ref ClaimRef) []PodRef {
	pods := slices.Clone(s.podsOf()[ref])
	if claim, ok := s.Claim(ref); ok {
		for _, consumer := range claim.Status.ReservedFor {
			pod := PodRef{claim.Namespace, consumer.Name}
			if consumer.APIGroup == "" && consumer.Resource == "pods" && !slices.Contains(pods, pod) {
				pods = append(pods, pod)
			}
		}
	}
	slices.SortFunc(pods, func(a, b PodRef) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
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
