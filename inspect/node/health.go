package node

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DeviceHealth is what is known of the health of a device that a container has.
type DeviceHealth struct {
	Pod       inspect.PodRef
	Container string
	// Resource is the name that the status of the container has for it: that of the resource of a device
	// plugin, or claim:ENTRY or claim:ENTRY/REQUEST with the entry of the pod.
	Resource string
	// ID is what the kubelet calls the device: the id of a device plugin, the first CDI device of a driver,
	// or driver/pool/device.
	ID string
	// Claim and Device are of DRA. They are empty for device plugins, and the device is if the ID does not
	// tell which it is.
	Claim  inspect.ClaimRef
	Device inspect.DeviceID
	State  corev1.ResourceHealthStatus
	// Message is what the driver says of it.
	Message string
	// Withdrawn: the status of the pod does not tell, but the kubelet does not offer the device any more.
	Withdrawn bool
}

// claimPrefix begins the names of resources that are claims.
const claimPrefix = "claim:"

// healths finds what the statuses of containers say of their devices (KEP-4680): that which the kubelet has
// of a pod is newer than that of the API server. Kubelets that do not write it still withdraw unhealthy
// devices of device plugins.
func (j *joining) healths() {
	for _, ref := range slices.SortedFunc(maps.Keys(j.pods), inspect.PodRef.Compare) {
		j.healthIn(j.pods[ref], j.statusOf(ref))
	}
	for ref, pod := range j.kubeletPods {
		if j.pods[ref] == nil {
			j.healthIn(pod, pod)
		}
	}
	j.withdrawn()
	slices.SortStableFunc(j.Health, func(a, b DeviceHealth) int {
		return cmp.Or(a.Pod.Compare(b.Pod), cmp.Compare(a.Container, b.Container),
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.ID, b.ID))
	})
	for _, h := range j.Health {
		if h.State != corev1.ResourceHealthStatusUnhealthy {
			continue
		}
		detail := h.Message
		if h.Withdrawn {
			detail = "the kubelet offers others of the resource, and this one no more"
		}
		j.Problems = append(j.Problems, Problem{Code: DeviceUnhealthy, Pod: h.Pod, Container: h.Container, Claim: h.Claim,
			Device: Device{DeviceID: h.Device}, Resource: h.Resource, Unit: h.ID, Detail: detail})
	}
}

// statusOf is the pod with the newest status that is known.
func (j *joining) statusOf(ref inspect.PodRef) *corev1.Pod {
	pod := j.pods[ref]
	if mine := j.kubeletPods[ref]; mine != nil && sameUID(pod.UID, mine.UID) {
		return mine
	}
	return pod
}

// healthIn reads what the status of a pod says. The names of claims from templates are in the status that the
// API server has; that of the kubelet may lack them.
func (j *joining) healthIn(pod, newest *corev1.Pod) {
	if inspect.Ended(newest) {
		return
	}
	for _, c := range slices.Concat(newest.Status.InitContainerStatuses, newest.Status.ContainerStatuses) {
		for _, resource := range c.AllocatedResourcesStatus {
			claim := claimNamed(pod, string(resource.Name))
			for _, r := range resource.Resources {
				h := DeviceHealth{Pod: refOf(pod), Container: c.Name, Resource: string(resource.Name), ID: string(r.ResourceID), Claim: claim, State: r.Health}
				if r.Message != nil {
					h.Message = *r.Message
				}
				if claim.Name == "" && claim.Namespace != "" {
					h.Claim = j.preparedWithID(pod, h.ID)
				}
				h.Device = j.deviceWithID(h.Claim, h.ID)
				j.Health = append(j.Health, h)
			}
		}
	}
}

// claimNamed is the claim that the name of a resource in a status is about. It is empty for resources of
// device plugins.
func claimNamed(pod *corev1.Pod, resource string) inspect.ClaimRef {
	entry, found := strings.CutPrefix(resource, claimPrefix)
	if !found {
		return inspect.ClaimRef{}
	}
	entry, _, _ = strings.Cut(entry, "/")
	ref := inspect.ClaimRef{Namespace: pod.Namespace}
	for i := range pod.Spec.ResourceClaims {
		if pod.Spec.ResourceClaims[i].Name == entry {
			ref.Name, _ = inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
			return ref
		}
	}
	return ref
}

// preparedWithID is the claim that the kubelet keeps as prepared for a pod with a device of that ID. It has
// no name if there is none.
func (j *joining) preparedWithID(pod *corev1.Pod, id string) inspect.ClaimRef {
	for i := range j.view.Claims {
		c := &j.view.Claims[i]
		has := func(d PreparedDevice) bool { return d.String() == id || len(d.CDI) > 0 && d.CDI[0] == id }
		if slices.Contains(c.Pods, pod.UID) && slices.ContainsFunc(c.Devices, has) {
			return c.Claim
		}
	}
	return inspect.ClaimRef{Namespace: pod.Namespace}
}

// deviceWithID is the device of a claim that the kubelet means by an ID. The checkpoint says which CDI
// devices a device has; a name says it by itself. Of two devices with the same CDI device the kubelet shows
// one, and which of them cannot be told.
func (j *joining) deviceWithID(claim inspect.ClaimRef, id string) inspect.DeviceID {
	found := map[inspect.DeviceID]bool{}
	for i := range j.view.Claims {
		if j.view.Claims[i].Claim != claim {
			continue
		}
		for _, d := range j.view.Claims[i].Devices {
			if d.String() == id || len(d.CDI) > 0 && d.CDI[0] == id {
				found[d.DeviceID] = true
			}
		}
	}
	allocated := j.allocated(claim)
	for _, d := range allocated {
		if d.String() == id || len(allocated) == 1 && len(found) == 0 {
			found[d.DeviceID] = true
		}
	}
	if len(found) != 1 {
		return inspect.DeviceID{}
	}
	return slices.Collect(maps.Keys(found))[0]
}

// withdrawn finds the devices of device plugins that containers have and the kubelet does not offer any more,
// where it offers others of the resource. Where it offers none, the plugin may be gone.
func (j *joining) withdrawn() {
	if !j.view.Read(Allocatables) {
		return
	}
	offered := map[string]map[string]bool{}
	for _, d := range j.view.Allocatable.Devices {
		if offered[d.Resource] == nil {
			offered[d.Resource] = map[string]bool{}
		}
		offered[d.Resource][d.ID] = true
	}
	for i := range j.Containers {
		c := &j.Containers[i]
		for _, d := range c.Devices {
			said := slices.ContainsFunc(j.Health, func(h DeviceHealth) bool {
				return h.Pod == c.Pod && h.Container == c.Name && h.Resource == d.Resource && h.ID == d.ID
			})
			if !said && offered[d.Resource] != nil && !offered[d.Resource][d.ID] {
				j.Health = append(j.Health, DeviceHealth{Pod: c.Pod, Container: c.Name, Resource: d.Resource, ID: d.ID, State: corev1.ResourceHealthStatusUnhealthy, Withdrawn: true})
			}
		}
	}
}
