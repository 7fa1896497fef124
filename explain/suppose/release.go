package suppose

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Devices that are hypothetically free, held or without taints.

// Release takes their allocations from claims. Those that are not among the objects change nothing.
func Release(o *inspect.Objects, refs ...inspect.ClaimRef) {
	for i, claim := range o.Claims {
		if slices.Contains(refs, inspect.RefOf(claim)) {
			o.Claims[i] = claim.DeepCopy()
			o.Claims[i].Status = resourcev1.ResourceClaimStatus{}
		}
	}
}

// ReleaseFromUse takes its allocation from a claim, and ends the pods that hold it, without which that cannot
// be: they are taken away from the objects, which are those of the snapshot. Other claims that were reserved
// for nothing but these pods give their devices back, too. A claim that is not among the objects changes
// nothing.
func ReleaseFromUse(o *inspect.Objects, s *inspect.Snapshot, ref inspect.ClaimRef) {
	ended := map[inspect.PodRef]bool{}
	for _, name := range EndedBy(s, ref) {
		ended[name] = true
	}
	refs := []inspect.ClaimRef{ref}
	if len(ended) > 0 {
		o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool {
			return ended[inspect.PodRef{Namespace: p.Namespace, Name: p.Name}]
		})
		for _, claim := range o.Claims {
			if ReservedOnlyFor(claim, ended) {
				refs = append(refs, inspect.RefOf(claim))
			}
		}
	}
	Release(o, refs...)
}

// MaxSpared is the number of pods that use a claim up to which it is tried whether some of them can stay.
const MaxSpared = 16

// EndedBy are the pods that have to end for a claim to be released. Those that wait go on waiting.
func EndedBy(s *inspect.Snapshot, ref inspect.ClaimRef) []inspect.PodRef {
	return slices.DeleteFunc(slices.Clone(s.PodsOf(ref)), func(name inspect.PodRef) bool {
		pod, ok := s.Pod(name)
		return !ok || pod.Spec.NodeName == ""
	})
}

// ReservedOnlyFor reports whether a claim is reserved, and for nothing but some pods.
func ReservedOnlyFor(claim *resourcev1.ResourceClaim, pods map[inspect.PodRef]bool) bool {
	for _, c := range claim.Status.ReservedFor {
		if c.Resource != "pods" || c.APIGroup != "" || !pods[inspect.PodRef{Namespace: claim.Namespace, Name: c.Name}] {
			return false
		}
	}
	return len(claim.Status.ReservedFor) > 0
}

// GoesWith reports whether a claim is deleted when some pods end: it was made for one of them.
func GoesWith(claim *resourcev1.ResourceClaim, ended []inspect.PodRef) bool {
	owner := OwnerOf(claim)
	return owner.Name != "" && slices.Contains(ended, owner)
}

// OwnerOf is the pod that a claim was made for. It has no name if there is none.
func OwnerOf(claim *resourcev1.ResourceClaim) inspect.PodRef {
	if owner := metav1.GetControllerOf(claim); owner != nil && owner.Kind == "Pod" {
		return inspect.PodRef{Namespace: claim.Namespace, Name: owner.Name}
	}
	return inspect.PodRef{}
}

// Hold makes claims that hold allocations, for copies of a claim that exist nowhere. They have no namespace
// and are numbered from first.
func Hold(held []resourcev1.AllocationResult, first int) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for i := range held {
		allocation := held[i]
		allocation.Devices.Results = slices.Clone(allocation.Devices.Results)
		for j := range allocation.Devices.Results {
			r := &allocation.Devices.Results[j]
			if r.ShareID != nil {
				id := types.UID(fmt.Sprintf("copy-%d-%d", i, j))
				r.ShareID = &id
			}
		}
		out = append(out, &resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("copy %d", first+i)},
			Status:     resourcev1.ResourceClaimStatus{Allocation: &allocation},
		})
	}
	return out
}

// SettleTaints writes the taints of the DeviceTaintRules that select some devices into the slices, of all
// that they select, and drops these rules, so that the taints of single devices can be taken away. Other
// rules stay.
func SettleTaints(o *inspect.Objects, s *inspect.Snapshot, of ...inspect.DeviceID) {
	if !s.Features().Enabled(inspect.GateDeviceTaintRules) {
		return // they taint nothing
	}
	var settled, kept []*resourcev1.DeviceTaintRule
	for _, rule := range o.TaintRules {
		if slices.ContainsFunc(of, func(id inspect.DeviceID) bool { return s.RuleTaints(rule, id) }) {
			settled = append(settled, rule)
		} else {
			kept = append(kept, rule)
		}
	}
	o.Slices, o.TaintRules = slices.Clone(o.Slices), kept
	for i, slice := range o.Slices {
		own := slice
		for d := range slice.Spec.Devices {
			for _, rule := range settled {
				if !s.RuleTaints(rule, inspect.DeviceIDOf(slice, d)) {
					continue
				}
				if own == slice {
					own = slice.DeepCopy()
				}
				own.Spec.Devices[d].Taints = append(own.Spec.Devices[d].Taints, rule.Spec.Taint)
			}
		}
		o.Slices[i] = own
	}
}

// Untaint takes the taints off a device, once they are settled.
func Untaint(o *inspect.Objects, id inspect.DeviceID) {
	for i, slice := range o.Slices {
		for d := range slice.Spec.Devices {
			if inspect.DeviceIDOf(slice, d) == id {
				slice = slice.DeepCopy()
				slice.Spec.Devices[d].Taints = nil
				o.Slices[i] = slice
			}
		}
	}
}
