package node

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// allocatedDevice is a device of an allocation and the request that it is for, without the name of an alternative.
type allocatedDevice struct {
	Device

	request string
}

// allocated are the devices that a claim has according to the API server. It is nil if that knows of no allocation.
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

// claims compares the claims that are prepared with those that pods on the node use.
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
	sorted := slices.SortedFunc(maps.Keys(refs), func(a, b inspect.ClaimRef) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, ref := range sorted {
		r := j.claim(ref, prepared[ref], listed[ref])
		j.Claims = append(j.Claims, r)
		j.disagreements(&r, prepared[ref])
	}
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
	for _, pod := range j.users[ref] {
		r.Pods = append(r.Pods, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
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
		for _, pod := range j.users[r.Claim] {
			if r.Prepared == No && r.Allocated == Yes && running(pod) {
				j.Problems = append(j.Problems, Problem{Code: NotPrepared, Claim: r.Claim, Pod: inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}})
			}
		}
		return
	}
	switch {
	case r.Known == No:
		add(PreparedUnknown, Device{})
	case r.Allocated == No:
		add(PreparedNotAllocated, Device{})
	case len(r.Pods) == 0 && (r.Known == Yes && j.read(inspect.Pods) || !j.read(inspect.Pods) && j.view.Read(PodsAPI)):
		add(PreparedForNobody, Device{})
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

// running reports whether the kubelet has begun with a pod that has not ended: then its claims are prepared.
func running(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}
