package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// devices adds the devices of a claim of which somebody reports a state.
func (b *builder) devices(claim *resourcev1.ResourceClaim) {
	var reports []health
	for _, pod := range b.pods {
		reports = append(reports, healthIn(pod, []*resourcev1.ResourceClaim{claim})...)
	}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		state := explain.DeviceState{Claim: inspect.RefOf(claim), ID: inspect.DeviceOf(r)}
		report(&state, claim, r, reports)
		if state.Health != "" || len(state.Conditions) > 0 || state.Network != nil {
			b.l.Devices = append(b.l.Devices, state)
		}
	}
}

// report adds to the state of a device what its driver says in the status of the claim, and what pods say.
func report(state *explain.DeviceState, claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult, reports []health) {
	if status := statusOf(claim, r); status != nil {
		state.Conditions, state.Network = status.Conditions, networkOf(status.NetworkData)
	}
	for _, h := range reports {
		if h.device == state.ID && worse(h.health, state.Health) {
			state.Health, state.HealthSaid = h.health, h.said
		}
	}
}

// gone adds the devices of an allocated claim that no slice publishes any more, as far as slices were read.
// pod is the one on whose node they are used; it may be nil. A pod that has ended needs them no more.
func (b *builder) gone(pod *corev1.Pod, claim *resourcev1.ResourceClaim) {
	if pod != nil && inspect.Ended(pod) || b.s.Health(inspect.Slices).Partial() && len(b.s.Slices()) == 0 {
		return
	}
	gone := map[string][]inspect.DeviceID{}
	for _, id := range b.s.NotPublished(claim) {
		gone[id.Driver] = append(gone[id.Driver], id)
	}
	for _, driver := range slices.Sorted(maps.Keys(gone)) {
		devices := gone[driver]
		p := explain.Problem{
			Code: explain.DeviceGone, Fails: true, Devices: devices, Driver: driver, Actor: explain.DriverAdmin,
			Object: explain.Subject{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name},
		}
		names := make([]string, len(devices))
		for i, id := range devices {
			names[i] = id.String()
		}
		n := len(devices)
		p.Message = fmt.Sprintf("the driver no longer publishes %s", words.Shorten(names, 3))
		p.Brief = fmt.Sprintf("the driver %s no longer publishes %s", driver, words.Plural(n, "its device "+devices[0].Device, fmt.Sprintf("%d of its devices", n)))
		if pod != nil {
			b.addDriverLogs(&p, pod, driver)
		}
		b.add(p)
	}
}

// statusOf is what the driver reports of an allocated device, or of the share of it. It is nil if that is
// nothing.
func statusOf(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) *resourcev1.AllocatedDeviceStatus {
	for i := range claim.Status.Devices {
		d := &claim.Status.Devices[i]
		share := r.ShareID == nil || d.ShareID == nil || *d.ShareID == string(*r.ShareID)
		if d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device && share {
			return d
		}
	}
	return nil
}

func networkOf(data *resourcev1.NetworkDeviceData) *explain.Network {
	if data == nil {
		return nil
	}
	return &explain.Network{Interface: data.InterfaceName, Addresses: data.IPs, Hardware: data.HardwareAddress}
}

// worse reports whether a state of health says more against a device than another.
func worse(a, b explain.DeviceHealth) bool {
	order := []explain.DeviceHealth{"", explain.UnknownHealth, explain.Healthy, explain.Unhealthy}
	return slices.Index(order, a) > slices.Index(order, b)
}

// health is what a pod says of a resource that was allocated to one of its containers.
type health struct {
	container string
	// name is that of the resource, and id what the kubelet calls the unit of it.
	name, id string
	// device is the allocated device that this is. It is empty for the resources of device plugins, and if it
	// cannot be told.
	device inspect.DeviceID
	// like is a device that it may be, since CDI calls it the same. It is empty if there are none or several.
	like   inspect.DeviceID
	health explain.DeviceHealth
	said   string
}

// healthIn is what a pod says of the resources of its containers (KEP-4680), in the order of the containers.
func healthIn(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) []health {
	var out []health
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		for j := range container.AllocatedResourcesStatus {
			resource := &container.AllocatedResourcesStatus[j]
			devices := devicesNamed(pod, claims, string(resource.Name))
			for k := range resource.Resources {
				r := &resource.Resources[k]
				h := health{container: container.Name, name: string(resource.Name), id: string(r.ResourceID), health: explain.DeviceHealth(r.Health)}
				if r.Message != nil {
					h.said = *r.Message
				}
				h.device, h.like = deviceWithID(devices, h.id), deviceLike(devices, h.id)
				out = append(out, h)
			}
		}
	}
	return out
}

// claimPrefix begins the names of resources that are claims: claim:ENTRY or claim:ENTRY/REQUEST.
const claimPrefix = "claim:"

// devicesNamed are the allocated devices that the name of a resource in the status of a container is about.
func devicesNamed(pod *corev1.Pod, claims []*resourcev1.ResourceClaim, name string) []inspect.DeviceID {
	entry, found := strings.CutPrefix(name, claimPrefix)
	if !found {
		return nil
	}
	entry, request, _ := strings.Cut(entry, "/")
	var out []inspect.DeviceID
	for _, claim := range claims {
		if claim.Name != claimOfEntry(pod, entry) {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			if base, _, _ := strings.Cut(r.Request, "/"); request == "" || base == request || r.Request == request {
				out = append(out, inspect.DeviceOf(r))
			}
		}
	}
	return out
}

// claimOfEntry is the name of the claim behind an entry of a pod, or of the claim for its extended resources.
func claimOfEntry(pod *corev1.Pod, entry string) string {
	for i := range pod.Spec.ResourceClaims {
		if pod.Spec.ResourceClaims[i].Name == entry {
			name, _ := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
			return name
		}
	}
	return entry
}

// deviceWithID is the device that an ID of the kubelet means: the name of the device or, if the driver uses
// CDI, what CDI calls it. The latter tells the device only where there is but one.
func deviceWithID(devices []inspect.DeviceID, id string) inspect.DeviceID {
	for _, d := range devices {
		if d.String() == id {
			return d
		}
	}
	if len(devices) == 1 {
		return devices[0]
	}
	return inspect.DeviceID{}
}

// deviceLike is the only device whose name is the name of a CDI device. Most drivers call both the same, and
// none has to.
func deviceLike(devices []inspect.DeviceID, id string) inspect.DeviceID {
	_, name, _ := strings.Cut(id, "=")
	var out inspect.DeviceID
	for _, d := range devices {
		switch {
		case d.Device != name:
		case out != inspect.DeviceID{}:
			return inspect.DeviceID{}
		default:
			out = d
		}
	}
	return out
}

// unhealthy adds the resources of a pod that are not healthy.
func (b *builder) unhealthy(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) {
	for _, h := range healthIn(pod, claims) {
		if h.health != explain.Unhealthy {
			continue
		}
		p := explain.Problem{
			Code: explain.DeviceUnhealthy, Fails: true, Object: podSubject(pod), Said: h.said, Actor: explain.DriverAdmin, Reason: h.id,
			Commands: commands(describe("pod", pod.Namespace, pod.Name)),
		}
		switch {
		case h.device != inspect.DeviceID{}:
			p.Devices, p.Driver, p.Reason = []inspect.DeviceID{h.device}, h.device.Driver, ""
			p.Message, p.Brief = "device "+h.device.String()+" is unhealthy", "its device "+h.device.Device+" is unhealthy"
			b.addDriverLogs(&p, pod, p.Driver)
		case strings.HasPrefix(h.name, claimPrefix):
			p.Message = "the device with the ID " + h.id + " of " + h.name + " is unhealthy"
			p.Brief = "one of its devices is unhealthy"
			if h.like != (inspect.DeviceID{}) {
				p.Message += "; by its name it is " + h.like.String()
			}
		default:
			p.Message, p.Brief = "device "+h.id+" of "+h.name+" is unhealthy", "one of its devices of "+h.name+" is unhealthy"
		}
		b.add(p)
	}
}
