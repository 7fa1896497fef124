package allocator

// Code says why a device, a pool, a request or a node was refused. Codes are stable and documented:
// they are part of the output.
type Code string

// The reasons. The comment of each says when it is given.
const (
	// ClassNotFound: the request names a DeviceClass that does not exist.
	ClassNotFound Code = "ClassNotFound"
	// NoDevices: no pool that reaches the node publishes any device.
	NoDevices Code = "NoDevices"
	// PoolIncomplete: the driver has not published all slices of the pool's generation.
	PoolIncomplete Code = "PoolIncomplete"
	// PoolInvalid: the slices of the pool contradict each other.
	PoolInvalid Code = "PoolInvalid"
	// ClassSelectorRejected: a selector of the DeviceClass is false for the device.
	ClassSelectorRejected Code = "ClassSelectorRejected"
	// SelectorRejected: a selector of the request is false for the device.
	SelectorRejected Code = "SelectorRejected"
	// SelectorError: a selector does not compile or fails at run time, which aborts the scheduling
	// of the pod as soon as the scheduler gets to that device.
	SelectorError Code = "SelectorError"
	// DeviceTainted: the device has a taint that the request does not tolerate.
	DeviceTainted Code = "DeviceTainted"
	// DeviceInUse: another claim holds the device, or another request of this question took it.
	DeviceInUse Code = "DeviceInUse"
	// CapacityInsufficient: the device lacks a requested capacity or has not enough of it left.
	CapacityInsufficient Code = "CapacityInsufficient"
	// CapacityPolicyViolated: the requested amount is not one that the device's policy allows.
	CapacityPolicyViolated Code = "CapacityPolicyViolated"
	// CountersExhausted: a counter of the pool would be overdrawn.
	CountersExhausted Code = "CountersExhausted"
	// CompatibilityGroupConflict: devices already on the counter set are of other groups.
	CompatibilityGroupConflict Code = "CompatibilityGroupConflict"
	// AttributeMissing: the device lacks the attribute of a constraint.
	AttributeMissing Code = "AttributeMissing"
	// MatchAttributeConflict: the attribute differs from that of a device chosen before.
	MatchAttributeConflict Code = "MatchAttributeConflict"
	// DistinctAttributeConflict: the attribute equals that of a device chosen before.
	DistinctAttributeConflict Code = "DistinctAttributeConflict"
	// NotEnoughDevices: fewer devices are left than the request needs.
	NotEnoughDevices Code = "NotEnoughDevices"
	// AllDevicesRequired: the request wants all matching devices and cannot have one of them.
	AllDevicesRequired Code = "AllDevicesRequired"
	// TooManyDevices: the claim would need more devices than an allocation can hold.
	TooManyDevices Code = "TooManyDevices"
	// FeatureDisabled: the request or the device needs a feature that is off.
	FeatureDisabled Code = "FeatureDisabled"
	// NodeUnsuitable: the node itself does not fit the pod or the device.
	NodeUnsuitable Code = "NodeUnsuitable"
	// SearchLimit: the search was given up before it had an answer.
	SearchLimit Code = "SearchLimit"
	// SchedulerCrash: the scheduler of this release crashes when it gets there.
	SchedulerCrash Code = "SchedulerCrash"
	// Malformed: an object is such that the API server would have refused it.
	Malformed Code = "Malformed"

	// What the scheduler's other filters refuse pods for (package filters).

	// InsufficientResources: the node has too little left of CPU, memory or another resource that the pod
	// asks for.
	InsufficientResources Code = "InsufficientResources"
	// TooManyPods: the node runs as many pods as it may.
	TooManyPods Code = "TooManyPods"
	// PortInUse: another pod has a port of the node that the pod wants.
	PortInUse Code = "PortInUse"
	// NodeAffinity: the node does not match the node selector or the node affinity of the pod.
	NodeAffinity Code = "NodeAffinity"
	// NodeTainted: the pod does not tolerate a taint of the node.
	NodeTainted Code = "NodeTainted"
	// NodeUnschedulable: the node is cordoned.
	NodeUnschedulable Code = "NodeUnschedulable"
	// VolumeCapacity: no storage capacity of the node is large enough for a volume.
	VolumeCapacity Code = "VolumeCapacity"
	// VolumeNode: a volume cannot be used on the node, or none that is there suits the claim.
	VolumeNode Code = "VolumeNode"
	// VolumeZone: a volume is in another zone.
	VolumeZone Code = "VolumeZone"
	// VolumeLimit: the node has as many volumes of a driver as it may.
	VolumeLimit Code = "VolumeLimit"
	// VolumeInUse: another pod uses a volume that serves only one.
	VolumeInUse Code = "VolumeInUse"
	// VolumeUnbound: a volume claim does not exist, is lost, or waits to be bound.
	VolumeUnbound Code = "VolumeUnbound"
	// SpreadConstraint: there would be too many such pods in a topology domain.
	SpreadConstraint Code = "SpreadConstraint"
	// PodAffinity: the pods that the pod wants to be with are not there.
	PodAffinity Code = "PodAffinity"
	// PodAntiAffinity: there are pods that the pod has to keep away from, or that keep it away.
	PodAntiAffinity Code = "PodAntiAffinity"
	// DeclaredFeature: the kubelet does not have a feature that the pod needs.
	DeclaredFeature Code = "DeclaredFeature"
	// AdminAccessRefused: the namespace lacks the label with which the API server takes claims for admin
	// access.
	AdminAccessRefused Code = "AdminAccessRefused"
	// SchedulingGated: scheduling gates hold the pod back, or its controller does not make it, as that of a
	// suspended Job.
	SchedulingGated Code = "SchedulingGated"
	// PodGroupIncomplete: the pod waits for others of its PodGroup.
	PodGroupIncomplete Code = "PodGroupIncomplete"
)

// Codes returns every code, in the order of their declaration.
func Codes() []Code {
	return append(deviceCodes(),
		InsufficientResources, TooManyPods, PortInUse, NodeAffinity, NodeTainted, NodeUnschedulable, VolumeCapacity, VolumeNode,
		VolumeZone, VolumeLimit, VolumeInUse, VolumeUnbound, SpreadConstraint, PodAffinity, PodAntiAffinity, DeclaredFeature,
		AdminAccessRefused, SchedulingGated, PodGroupIncomplete)
}

// deviceCodes are those that Allocate gives; the others come from the filters of a pod.
func deviceCodes() []Code {
	return []Code{
		ClassNotFound, NoDevices, PoolIncomplete, PoolInvalid, ClassSelectorRejected, SelectorRejected,
		SelectorError, DeviceTainted, DeviceInUse, CapacityInsufficient, CapacityPolicyViolated,
		CountersExhausted, CompatibilityGroupConflict, AttributeMissing, MatchAttributeConflict,
		DistinctAttributeConflict, NotEnoughDevices, AllDevicesRequired, TooManyDevices,
		FeatureDisabled, NodeUnsuitable, SearchLimit, SchedulerCrash, Malformed,
	}
}
