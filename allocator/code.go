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
)

// Codes returns every code, in the order of their declaration.
func Codes() []Code {
	return []Code{
		ClassNotFound, NoDevices, PoolIncomplete, PoolInvalid, ClassSelectorRejected, SelectorRejected,
		SelectorError, DeviceTainted, DeviceInUse, CapacityInsufficient, CapacityPolicyViolated,
		CountersExhausted, CompatibilityGroupConflict, AttributeMissing, MatchAttributeConflict,
		DistinctAttributeConflict, NotEnoughDevices, AllDevicesRequired, TooManyDevices,
		FeatureDisabled, NodeUnsuitable, SearchLimit, SchedulerCrash, Malformed,
	}
}
