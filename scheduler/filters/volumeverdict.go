package filters

import "k8s.io/apimachinery/pkg/api/resource"

// VolumeRule is what decides about a volume claim on a node.
type VolumeRule string

// The rules. Those that follow the first two are about a claim that is bound once a node has been chosen.
const (
	// VolumeReach: the claim is bound, and the node affinity of its volume decides.
	VolumeReach VolumeRule = "Bound"
	// VolumeSelected: the volume is being made for a node that has been chosen before.
	VolumeSelected VolumeRule = "SelectedNode"
	// VolumeExisting: a volume that there is already.
	VolumeExisting VolumeRule = "Volume"
	// VolumeShared: such a volume, but other claims of the same pod take it.
	VolumeShared VolumeRule = "VolumeShared"
	// VolumeTopology: the StorageClass makes volumes for some nodes only (allowedTopologies).
	VolumeTopology VolumeRule = "Topology"
	// VolumeRoom: what can still be provisioned, by a CSIStorageCapacity.
	VolumeRoom VolumeRule = "Capacity"
	// VolumeUntracked: a volume is made, and nobody looks at what is left, as the CSIDriver does not ask for
	// that.
	VolumeUntracked VolumeRule = "CapacityIgnored"
	// VolumeSizeless: a volume is made, and the claim asks for no size.
	VolumeSizeless VolumeRule = "NoSize"
)

// VolumeVerdict is how a volume claim fares on a node, by the plugin VolumeBinding.
type VolumeVerdict struct {
	Claim Object
	Rule  VolumeRule
	// By is the object that decides: the volume, the storage class, the CSIDriver, or the storage capacity
	// that offers most. It is empty if there is no such object.
	By Object
	// Wanted is what the claim asks for, or nil. Offered is what By offers, or nil if the rule does not look
	// at sizes or nothing is offered, and Field says which field of By has it.
	Wanted, Offered *resource.Quantity
	Field           string
	// Refusal is why the claim cannot be served, Doubt why that is not known. One of them at most is set.
	Refusal *Refusal
	Doubt   *Doubt
}

// answer is the verdict without reasons.
func (v *VolumeVerdict) answer() answer {
	switch {
	case v.Refusal != nil:
		return refused
	case v.Doubt != nil:
		return doubtful
	}
	return fits
}

// outcome is the verdict for the plugin.
func (v *VolumeVerdict) outcome() Outcome {
	switch {
	case v.Refusal != nil:
		return refuse(*v.Refusal)
	case v.Doubt != nil:
		return doubt(*v.Doubt)
	}
	return Outcome{}
}

// refuse makes the verdict a refusal.
func (v VolumeVerdict) refuse(code Code, key, message string) VolumeVerdict {
	v.Refusal = &Refusal{
		Plugin: VolumeBinding, Code: code, Key: key, Unresolvable: true, Object: v.Claim, By: v.By, Message: message,
	}
	if v.Wanted != nil {
		v.Refusal.Requested = v.Wanted.Value()
	}
	if v.Offered != nil {
		v.Refusal.Allocatable = v.Offered.Value()
	}
	return v
}

// Missing is how much of what is wanted is not offered, or nil if enough is, or no size is wanted.
func (v *VolumeVerdict) Missing() *resource.Quantity {
	if v.Wanted == nil {
		return nil
	}
	missing := v.Wanted.DeepCopy()
	if v.Offered != nil {
		missing.Sub(*v.Offered)
	}
	if missing.Sign() <= 0 {
		return nil
	}
	return &missing
}
