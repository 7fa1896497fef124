package explain

// RequirementKind says what a requirement of a conflict is.
type RequirementKind string

// The kinds, those first that a user can do least about. Relaxing a requirement means what is said
// behind it.
const (
	// CountersRequired is that devices of a pool must not draw more than there is of the counters that they share:
	// there is plenty of each. Nobody can do that; it says why devices cannot be had together.
	CountersRequired RequirementKind = "Counters"
	// ClassTermRequired is a term of a selector of the DeviceClass: the term is dropped.
	ClassTermRequired RequirementKind = "ClassTerm"
	// PoolRequired is that a pool must be complete and valid: it is taken with the slices that are
	// published, without what contradicts itself in them.
	PoolRequired RequirementKind = "PoolComplete"
	// FeatureRequired is a feature gate that is off: it is turned on.
	FeatureRequired RequirementKind = "Feature"
	// TaintRequired is that a taint must be tolerated: a toleration for its key and effect is added.
	TaintRequired RequirementKind = "Taint"
	// HeldRequired is that a claim keeps its devices: it is released.
	HeldRequired RequirementKind = "HeldBy"
	// CapacityRequired is a requested capacity: the least amount is asked for, or none at all on a node
	// where no device has the capacity. (Not to ask for any may be to ask for the whole.)
	CapacityRequired RequirementKind = "Capacity"
	// TermRequired is a term of a selector of the request: the term is dropped.
	TermRequired RequirementKind = "Term"
	// ConstraintRequired is a constraint: it is dropped.
	ConstraintRequired RequirementKind = "Constraint"
	// CountRequired is a number of devices above one, or all: one device is asked for.
	CountRequired RequirementKind = "Count"
	// RequestRequired is a request as such: it is dropped.
	RequestRequired RequirementKind = "Request"
)
