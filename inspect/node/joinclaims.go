package node

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// allocatedDevice is a device of an allocation and the request that it is for, without the name of an
// alternative.
type allocatedDevice struct {
	Device

	request string
}

// allocated are the devices that a claim has according to the API server. It is nil if that knows of no
// allocation.
func (j *joining) allocated(ref inspect.ClaimRef) []allocatedDevice {
	claim, ok := j.snapshot.Claim(ref)
	if !ok || claim.Status.Allocation == nil {
		return nil
	}
	out := []allocatedDevice{}
	for i := range claim.Status.Allocation.Devices.Results {
		result := &claim.Status.Allocation.Devices.Results[i]
		request, _, _ := strings.Cut(result.Request, "/")
		d := allocatedDevice{Device{DeviceID: inspect.DeviceOf(result)}, request}
		if result.ShareID != nil {
			d.Share = string(*result.ShareID)
		}
		out = append(out, d)
	}
	return out
}

// noteHolders notes the claims that have devices of the node, or had them until they were gone.
func (j *joining) noteHolders(inventory *inspect.Inventory) {
	note := func(node inspect.NodeName, holders []inspect.Holder) {
		if node != j.Node {
			return
		}
		for _, h := range holders {
			j.holders[h.Claim] = true
		}
	}
	for _, stock := range inventory.Stocks {
		for i := range stock.Devices {
			note(stock.Devices[i].Node, stock.Devices[i].Holders)
		}
	}
	for i := range inventory.Gone {
		note(inventory.Gone[i].Node, inventory.Gone[i].Holders)
	}
}

// claims compares the claims that are prepared with those that pods on the node use or that have devices of
// it.
func (j *joining) claims() {
	prepared := map[inspect.ClaimRef]*PreparedClaim{}
	refs := map[inspect.ClaimRef]bool{}
	for i := range j.view.Claims {
		prepared[j.view.Claims[i].Claim] = &j.view.Claims[i]
		refs[j.view.Claims[i].Claim] = true
	}
	listed := map[inspect.ClaimRef][]Device{} // of claims that PodResources knows
	for _, c := range j.Containers {
		for _, use := range c.Claims {
			refs[use.Claim] = true
			listed[use.Claim] = append(listed[use.Claim], use.Devices...)
		}
	}
	for ref := range j.users {
		refs[ref] = true
	}
	for ref := range j.holders {
		refs[ref] = true
	}
	for _, ref := range slices.SortedFunc(maps.Keys(refs), inspect.ClaimRef.Compare) {
		r := j.claim(ref, prepared[ref], listed[ref])
		j.Claims = append(j.Claims, r)
		j.disagreements(&r, prepared[ref])
	}
}

// unfinished are the drivers that were asked to prepare a claim and have given no device. The kubelet writes
// their names down before it asks, and starts the pod only when all have answered: one that has begun has a
// driver that gives none. Without a pod it cannot be told.
func (j *joining) unfinished(ref inspect.ClaimRef, prepared *PreparedClaim) []string {
	users := j.users[ref]
	if prepared == nil || slices.ContainsFunc(users, begun) || len(users) == 0 && j.knowsPods() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(prepared.Drivers), func(driver string) bool {
		return slices.ContainsFunc(prepared.Devices, func(d PreparedDevice) bool { return d.Driver == driver })
	})
}

// claim reports one claim. prepared is nil if it is not in the checkpoint.
func (j *joining) claim(ref inspect.ClaimRef, prepared *PreparedClaim, listed []Device) ClaimReport {
	claim, known := j.snapshot.Claim(ref)
	if known && prepared != nil && prepared.UID != "" && claim.UID != "" && prepared.UID != claim.UID {
		known = false // another one that had the same name
	}
	allocation := j.allocated(ref)
	r := ClaimReport{Claim: ref, Known: answer(j.read(inspect.Claims), known),
		Allocated: answer(known || j.read(inspect.Claims), known && allocation != nil),
		Prepared:  answer(j.view.Read(ClaimCheckpoint), prepared != nil || len(listed) > 0)}
	if len(j.unfinished(ref, prepared)) > 0 {
		r.Prepared = answer(j.knowsPods(), false)
	}
	for _, pod := range j.users[ref] {
		r.Pods = append(r.Pods, refOf(pod))
	}
	devices := map[Device]*ClaimDevice{}
	device := func(d Device) *ClaimDevice {
		if devices[d] == nil {
			devices[d] = &ClaimDevice{Device: d, Published: answer(j.read(inspect.Slices), j.devices(d.DeviceID)),
				Allocated: answer(r.Allocated != Unknown, false), Prepared: answer(j.view.Read(ClaimCheckpoint), false)}
		}
		return devices[d]
	}
	if known {
		for _, a := range allocation {
			device(a.Device).Allocated = Yes
		}
	}
	for _, d := range listed {
		device(d).Prepared = Yes
	}
	if prepared != nil {
		for _, d := range prepared.Devices {
			into := device(d.Device)
			into.Prepared, into.CDI = Yes, d.CDI
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(devices), Device.Compare) {
		r.Devices = append(r.Devices, *devices[d])
	}
	return r
}

// disagreements are what the kubelet and the API server disagree about of a claim.
func (j *joining) disagreements(r *ClaimReport, prepared *PreparedClaim) {
	add := func(code ProblemCode, d Device) {
		j.Problems = append(j.Problems, Problem{Code: code, Claim: r.Claim, Device: d})
	}
	if prepared == nil {
		j.unprepared(r)
		return
	}
	switch {
	case r.Known == No:
		add(PreparedUnknown, Device{})
	case r.Allocated == No:
		add(PreparedNotAllocated, Device{})
	case len(r.Pods) == 0 && j.knowsPods() && (r.Known == Yes || !j.read(inspect.Pods)):
		add(PreparedForNobody, Device{})
	}
	if len(r.Pods) > 0 && j.knowsPods() {
		for _, driver := range j.unfinished(r.Claim, prepared) {
			j.Problems = append(j.Problems, Problem{Code: PrepareUnfinished, Claim: r.Claim, Driver: driver})
		}
	}
	for i := range r.Devices {
		d := &r.Devices[i]
		if d.Prepared == Yes && d.Allocated == No && r.Allocated == Yes {
			add(OtherDevice, d.Device)
		}
		if d.Prepared == Yes && d.Published == No {
			add(DeviceUnpublished, d.Device)
		}
	}
}

// unprepared are the pods that run with a claim that is allocated and not prepared.
func (j *joining) unprepared(r *ClaimReport) {
	for _, pod := range j.users[r.Claim] {
		if r.Prepared == No && r.Allocated == Yes && running(pod) {
			j.Problems = append(j.Problems, Problem{Code: NotPrepared, Claim: r.Claim, Pod: refOf(pod)})
		}
	}
}

// knowsPods reports whether all pods of the node are known.
func (j *joining) knowsPods() bool { return j.read(inspect.Pods) || j.view.Read(PodsAPI) }

// begun reports whether any container of a pod has been started.
func begun(pod *corev1.Pod) bool {
	return running(pod) || slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil || c.State.Terminated != nil
	})
}

// running reports whether the kubelet has begun with a pod that has not ended: then its claims are prepared.
func running(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}
