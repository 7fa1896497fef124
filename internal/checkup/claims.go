package checkup

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// settled is how long a claim may be idle, and a deletion or a creation may take, before it is told.
	settled = 10 * time.Minute
	// nearlyFull is from how many reservations on a claim is nearly full.
	nearlyFull = 240
)

var claimRules = []Rule{
	{
		Code: "ClaimIdle", Severity: Warning, needs: []inspect.Resource{inspect.Claims, inspect.Pods},
		About:  "A claim has held devices for more than ten minutes that nobody uses: it is reserved for no pod, or only for pods that have ended.",
		Remedy: "kubectl dra deallocate claim NAME frees the devices if the claim is reserved for nobody; otherwise delete the pods that have ended, or the claim.",
		find:   findIdle,
	},
	{
		Code: "ClaimReservedByGone", Severity: Warning, needs: []inspect.Resource{inspect.Claims, inspect.Pods},
		About:  "A claim is reserved for a pod that does not exist. The resourceclaim controller removes such reservations within seconds; if they stay, it is not running.",
		Remedy: "Check that kube-controller-manager runs, with its controller resourceclaim-controller.",
		find:   findReservedByGone,
	},
	{
		Code: "ClaimReservedByOther", Severity: Warning, needs: []inspect.Resource{inspect.Claims, inspect.Pods},
		About:  "A claim is reserved for a pod that no longer exists, and another pod has its name now. The reservation does not count for that pod.",
		Remedy: "Check that kube-controller-manager runs, with its controller resourceclaim-controller.",
		find:   findReservedByOther,
	},
	{
		Code: "ClaimNearlyFull", Severity: Warning, needs: []inspect.Resource{inspect.Claims},
		About:  fmt.Sprintf("A claim has at least %d of the %d reservations that it can have. Pods beyond that wait.", nearlyFull, resourcev1.ResourceClaimReservedForMaxSize),
		Remedy: "Use a second claim, or a template that gives each pod its own claim.",
		find:   findNearlyFull,
	},
	{
		Code: "ClaimStuckDeleting", Severity: Warning, needs: []inspect.Resource{inspect.Claims},
		About:  "A claim has been waiting for its deletion for more than ten minutes.",
		Remedy: "It is removed when no pod uses it and its finalizers are gone. Delete the pods that it is reserved for; if there are none, look at kube-controller-manager.",
		find:   findStuckDeleting,
	},
	{
		Code: "PodNotReserved", Severity: Error, needs: []inspect.Resource{inspect.Claims, inspect.Pods},
		About:  "A pod is on a node and its claim is not reserved for it. The kubelet does not start the pod, and the claim can be deallocated at any time.",
		Remedy: "Delete the pod: it was put on the node without the scheduler. If nodeName was set by hand, let the scheduler choose the node.",
		find:   findNotReserved,
	},
	{
		Code: "AllocatedDeviceGone", Severity: Warning, needs: []inspect.Resource{inspect.Claims, inspect.Slices},
		About:  "A claim holds a device that no slice publishes any more. Running pods keep it; a pod that starts may fail.",
		Remedy: "A driver publishes again within a minute after the kubelet was restarted. If the device is gone for good, delete the pods and the claim.",
		find:   findDevicesGone,
	},
	{
		Code: "AllocatedNodeGone", Severity: Warning, needs: []inspect.Resource{inspect.Claims, inspect.Nodes},
		About:  "A claim is allocated for a node that does not exist, so no pod can use it.",
		Remedy: "Delete the pods that use it, and the claim; or deallocate it: kubectl dra deallocate claim NAME.",
		find:   findNodesGone,
	},
	{
		Code: "StatusWithoutAllocation", Severity: Warning, needs: []inspect.Resource{inspect.Claims},
		About:  "The status of a claim mentions a device that the claim does not hold: a driver wrote it and has not removed it.",
		Remedy: "The driver has to clear what it reports. Until then, tools may show devices that the claim does not have.",
		find:   findLeftStatus,
	},
	{
		Code: "DeviceNotReady", Severity: Error, needs: []inspect.Resource{inspect.Claims},
		About:  "A driver reports that a device held by a claim is not ready.",
		Remedy: "Look at the driver's logs on that node.",
		find:   findNotReady,
	},
	{
		Code: "BindingFailed", Severity: Error, needs: []inspect.Resource{inspect.Claims},
		About:  "A device of a claim reports a binding failure, or has not met its binding conditions in time. The scheduler releases the device and tries again.",
		Remedy: "Look at the driver that prepares the device, such as the controller of a fabric.",
		find:   func(v *visit) { v.claimProblems("BindingFailed") },
	},
	{
		Code: "BindingPending", Severity: Note, also: Warning, needs: []inspect.Resource{inspect.Claims},
		About:  "A claim waits for the binding conditions of its devices. After ten minutes the scheduler releases the devices. The finding is a warning after half of that time.",
		Remedy: "Look at the driver that prepares the device, such as the controller of a fabric.",
		find:   func(v *visit) { v.claimProblems("BindingPending") },
	},
}

func claimRef(c *resourcev1.ResourceClaim) inspect.ObjectRef {
	return object("ResourceClaim", c.Namespace, c.Name)
}

func (v *visit) reportClaim(c *resourcev1.ResourceClaim, path, detail string, more ...inspect.ObjectRef) {
	v.report(about(claimRef(c), path, detail, more...))
}

// ago says how long ago something was, as " for 5m", or "" if that is not known.
func (v *visit) ago(before string, t time.Time) string {
	if age := words.Age(t, v.now); age != "" {
		return before + age
	}
	return ""
}

func findIdle(v *visit) {
	for _, claim := range v.s.IdleHolders() {
		since, known := lifecycle.HeldSince(v.s, inspect.RefOf(claim))
		if known != lifecycle.NotKnown && v.age(since) < settled && !v.now.IsZero() {
			continue
		}
		detail := "it holds " + words.Count(len(claim.Status.Allocation.Devices.Results), "device")
		if known == lifecycle.Exactly {
			detail += v.ago(" for ", since)
		}
		switch n := len(claim.Status.ReservedFor); n {
		case 0:
			detail += ", and nobody has reserved it"
		default:
			detail += fmt.Sprintf(", and is reserved for %s only", words.Plural(n, "a pod that has ended", fmt.Sprintf("%d pods that have ended", n)))
		}
		v.reportClaim(claim, "", detail)
	}
}

func isPod(c *resourcev1.ResourceClaimConsumerReference) bool {
	return c.APIGroup == "" && c.Resource == "pods"
}

func findReservedByGone(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		if gone := v.s.ReservedByGone(claim); len(gone) > 0 {
			v.reportClaim(claim, "status.reservedFor", fmt.Sprintf("it is reserved for %s, which %s not exist: %s",
				words.Count(len(gone), "pod"), words.Plural(len(gone), "does", "do"), words.Shorten(gone, 3)))
		}
	}
}

func findReservedByOther(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		for i := range claim.Status.ReservedFor {
			by := &claim.Status.ReservedFor[i]
			pod, exists := v.s.Pod(inspect.PodRef{Namespace: claim.Namespace, Name: by.Name})
			if !isPod(by) || !exists || by.UID == "" || pod.UID == "" || by.UID == pod.UID {
				continue
			}
			v.reportClaim(claim, fmt.Sprintf("status.reservedFor[%d]", i),
				fmt.Sprintf("it is reserved for an earlier pod %s, of another UID than that which has the name now", by.Name), object("Pod", pod.Namespace, pod.Name))
		}
	}
}

func findNearlyFull(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		if n := len(claim.Status.ReservedFor); n >= nearlyFull {
			v.reportClaim(claim, "status.reservedFor", fmt.Sprintf("it has %d of %d reservations", n, resourcev1.ResourceClaimReservedForMaxSize))
		}
	}
}

func findStuckDeleting(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		if claim.DeletionTimestamp == nil || v.age(claim.DeletionTimestamp.Time) < settled {
			continue
		}
		detail := "it has been about to be deleted" + v.ago(" for ", claim.DeletionTimestamp.Time)
		if n := len(claim.Status.ReservedFor); n > 0 {
			detail += ", and still reserved for " + words.Count(n, "consumer")
		}
		v.reportClaim(claim, "metadata.deletionTimestamp", detail)
	}
}

func findNotReserved(v *visit) {
	v.claimEntries(func(pod *corev1.Pod, path string, entry *corev1.PodResourceClaim) {
		name, made := inspect.ClaimNameFor(pod, entry)
		claim, exists := v.s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		if pod.Spec.NodeName != "" && made && exists && !lifecycle.Uses(pod, claim) {
			v.reportPod(pod, path,
				fmt.Sprintf("it is on node %s, and ResourceClaim %s is not reserved for it",
					pod.Spec.NodeName, name), claimRef(claim))
		}
	})
}

func findDevicesGone(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		var gone []string
		for _, id := range v.s.NotPublished(claim) {
			gone = append(gone, id.String())
		}
		if len(gone) > 0 {
			v.reportClaim(claim, "status.allocation", fmt.Sprintf("it holds %s that %s no longer published: %s",
				words.Count(len(gone), "device"), words.Plural(len(gone), "is", "are"), words.Shorten(gone, 3)))
		}
	}
}

func findNodesGone(v *visit) {
	if v.s.NodesAssumed() {
		return
	}
	for _, claim := range v.s.Objects().Claims {
		name := inspect.AllocationNode(claim.Status.Allocation)
		if name == "" {
			continue
		}
		if _, exists := v.s.Node(name); !exists {
			v.reportClaim(claim, "status.allocation.nodeSelector", fmt.Sprintf("it is allocated for node %s, which does not exist", name))
		}
	}
}

func findLeftStatus(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		held := map[inspect.DeviceID]bool{}
		if claim.Status.Allocation != nil {
			for i := range claim.Status.Allocation.Devices.Results {
				held[inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i])] = true
			}
		}
		for i := range claim.Status.Devices {
			d := &claim.Status.Devices[i]
			if id := (inspect.DeviceID{Driver: d.Driver, Pool: d.Pool, Device: d.Device}); !held[id] {
				v.reportClaim(claim, fmt.Sprintf("status.devices[%d]", i), fmt.Sprintf("its status tells of %s, which it does not hold", id))
			}
		}
	}
}

func findNotReady(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		for i := range claim.Status.Devices {
			d := &claim.Status.Devices[i]
			for j := range d.Conditions {
				c := &d.Conditions[j]
				if c.Type != "Ready" || c.Status != metav1.ConditionFalse {
					continue
				}
				detail := fmt.Sprintf("%s is not ready", inspect.DeviceID{Driver: d.Driver, Pool: d.Pool, Device: d.Device})
				if c.Reason != "" {
					detail += ": " + c.Reason
				}
				if c.Message != "" {
					detail += ": " + words.OneLine(c.Message)
				}
				v.reportClaim(claim, fmt.Sprintf("status.devices[%d].conditions", i), detail)
			}
		}
	}
}
