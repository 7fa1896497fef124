package cycle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// What the scheduler, or the API server when the scheduler writes, refuses of the claims of a pod whatever
// devices there are (PreEnqueue, Filter and PreBind of the scheduler's plugin DynamicResources).

// RefusedClaim says why the scheduler does not even try a pod because of one of its claims. generated says
// that the claim was made for the pod from a template. It is "" if the scheduler tries, or has put the pod on
// a node already.
func RefusedClaim(s *inspect.Snapshot, pod *corev1.Pod, claim *resourcev1.ResourceClaim, generated bool) string {
	switch {
	case pod.Spec.NodeName != "":
		return ""
	case claim.DeletionTimestamp != nil:
		return fmt.Sprintf("resourceclaim %q is being deleted", claim.Name)
	case generated && pod.UID != "" && !madeFor(s, claim, pod):
		return fmt.Sprintf("resourceclaim %q was not made for this pod but for %s", claim.Name, ownerInWords(claim, pod))
	case full(claim, pod):
		return fmt.Sprintf("resourceclaim %q is reserved for %d consumers already, which is the most there may be", claim.Name, resourcev1.ResourceClaimReservedForMaxSize)
	case untimed(s, claim) && !reservedFor(claim, pod):
		return fmt.Sprintf("resourceclaim %q is allocated without a time of allocation; kube-scheduler adds it when it reserves the claim for another pod, which the API server refuses", claim.Name)
	}
	return ""
}

// madeFor reports whether a claim was made for the pod. A claim of the same name may have been made for an
// older one.
func madeFor(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(claim)
	if owner == nil {
		return false
	}
	if owner.UID == pod.UID {
		return true
	}
	group := pod.Spec.SchedulingGroup
	return s.Features().Enabled(inspect.GateWorkloadResourceClaims) && group != nil && group.PodGroupName != nil &&
		owner.Kind == "PodGroup" && owner.Name == *group.PodGroupName && strings.HasPrefix(owner.APIVersion, "scheduling.k8s.io/")
}

// ownerInWords says for whom a claim was made that was not made for a pod.
func ownerInWords(claim *resourcev1.ResourceClaim, pod *corev1.Pod) string {
	switch owner := metav1.GetControllerOfNoCopy(claim); {
	case owner == nil:
		return "nobody"
	case owner.Kind == "Pod" && owner.Name == pod.Name:
		return "an older pod of the same name"
	default:
		return strings.ToLower(owner.Kind) + " " + owner.Name
	}
}

// full reports whether no further pod may use the claim.
func full(claim *resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	return len(claim.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize && !reservedFor(claim, pod) && !inspect.ReservedForGroupOf(pod, claim)
}

// reservedFor reports whether a claim is reserved for the pod. The UID of a pod from a file may not be known.
func reservedFor(claim *resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	return slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool {
		return c.APIGroup == "" && c.Resource == "pods" && c.Name == pod.Name && (pod.UID == "" || c.UID == pod.UID)
	})
}

// untimed reports whether a claim is allocated without a time of allocation where the scheduler needs that.
// Objects that were written by hand have none; that says nothing of a cluster.
func untimed(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) bool {
	return s.ServerVersion() != "" && lifecycle.BindsLater(s) && claim.Status.Allocation != nil && claim.Status.Allocation.AllocationTimestamp == nil
}

// unavailable says why an allocated claim cannot be used on a node, in the order in which the scheduler looks
// (Filter of its DynamicResources plugin). It is nil if the claim can be used there.
func unavailable(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, node *corev1.Node) *explain.Reason {
	if !suppose.NodeMatches(claim.Status.Allocation.NodeSelector, node) {
		reason := OutOfReach(claim)
		return &reason
	}
	if device := unprepared(s, claim); device != nil && !slices.Contains(node.Status.DeclaredFeatures, string(inspect.GateOptionalNodeOperations)) {
		reason := whatif.UnsuitableFor(words.Key("node operations", claim.Name),
			"device %s of the allocated claim %s goes without operations on the node, and the node does not declare the feature %s", device, claim.Name, inspect.GateOptionalNodeOperations)
		return &reason
	}
	return unbindable(s, claim)
}

// unprepared is a device of an allocated claim that is not to be prepared or unprepared on the node. It is
// nil if there is none, and where the scheduler does not know of such devices; where it does, its gate does
// not matter to it.
func unprepared(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) *inspect.DeviceID {
	if !s.Features().Knows(inspect.GateOptionalNodeOperations) {
		return nil
	}
	for i := range claim.Status.Allocation.Devices.Results {
		if r := &claim.Status.Allocation.Devices.Results[i]; len(r.SkipNodeOperations) > 0 {
			device := inspect.DeviceOf(r)
			return &device
		}
	}
	return nil
}

// unbindable says why an allocated claim cannot be used on any node: a device of it failed to get ready, or
// takes too long. It is nil otherwise.
func unbindable(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) *explain.Reason {
	if !lifecycle.BindsLater(s) {
		return nil
	}
	waits := false
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if failed := lifecycle.FailedCondition(claim, r); failed != nil {
			reason := whatif.UnsuitableFor(words.Key("binding failed", claim.Name),
				"device %s of the allocated claim %s reports the binding failure %s", inspect.DeviceOf(r), claim.Name, failed.Type)
			return &reason
		}
		if waits = len(lifecycle.OpenConditions(claim, r)) > 0; waits {
			break // the scheduler looks no further
		}
	}
	at := claim.Status.Allocation.AllocationTimestamp
	timeout := s.Scheduler().BindingTimeout()
	if !waits || at == nil || s.Time().IsZero() || !at.Add(timeout).Before(s.Time()) {
		return nil
	}
	reason := whatif.UnsuitableFor(words.Key("binding timeout", claim.Name),
		"the devices of the allocated claim %s have not met their binding conditions within %s", claim.Name, words.Minutes(timeout))
	return &reason
}

// Clears reports whether the scheduler may clear the allocation of a claim itself. It does if nothing but the
// pod reserves the claim, and if the claim is what keeps the pod from some node that no filter before
// refuses.
func Clears(filtered *filters.Prepared, claim *resourcev1.ResourceClaim) bool {
	s, pod := filtered.Snapshot(), filtered.Pod
	by := claim.Status.ReservedFor
	if len(by) > 1 || len(by) == 1 && (by[0].UID != pod.UID || by[0].Name != pod.Name) {
		return false
	}
	return slices.ContainsFunc(s.Nodes(), func(node *corev1.Node) bool {
		o := filtered.On(inspect.NodeName(node.Name))
		return unavailable(s, claim, node) != nil && !whatif.RefusedBefore(&o)
	})
}
