package allocator

import (
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Features are the switches of the scheduler's allocator. Most are feature gates of the same name;
// DeviceBindingAndStatus needs two gates.
type Features struct {
	AdminAccess             bool
	CompatibilityGroups     bool
	ConsumableCapacity      bool
	DerivedAttributes       bool
	DeviceBindingAndStatus  bool
	DeviceTaints            bool
	FractionalCapacityRange bool
	ListTypeAttributes      bool
	OptionalNodeOperations  bool
	PartitionableDevices    bool
	PrioritizedList         bool
}

// FeaturesOf maps feature gates to the switches of the allocator, as the scheduler's plugin does.
func FeaturesOf(f inspect.Features) Features {
	return Features{
		AdminAccess:             f.Enabled(inspect.GateAdminAccess),
		CompatibilityGroups:     f.Enabled(inspect.GateDeviceCompatibilityGroups),
		ConsumableCapacity:      f.Enabled(inspect.GateConsumableCapacity),
		DerivedAttributes:       f.Enabled(inspect.GateDerivedAttributes),
		DeviceBindingAndStatus:  f.Enabled(inspect.GateDeviceBindingConditions) && f.Enabled(inspect.GateDeviceStatus),
		DeviceTaints:            f.Enabled(inspect.GateDeviceTaints),
		FractionalCapacityRange: f.Enabled(inspect.GateFractionalCapacityRange),
		ListTypeAttributes:      f.Enabled(inspect.GateListTypeAttributes),
		OptionalNodeOperations:  f.Enabled(inspect.GateOptionalNodeOperations),
		PartitionableDevices:    f.Enabled(inspect.GatePartitionableDevices),
		PrioritizedList:         f.Enabled(inspect.GatePrioritizedList),
	}
}

// SelectorFeatures are what the language of selectors depends on in a cluster.
func SelectorFeatures(s *inspect.Snapshot) selector.Features {
	f := s.Features()
	_, variant := featuresAt(s.Release(), f)
	r := rulesOf(s.Release(), variant, f)
	return selector.Features{
		ConsumableCapacity: f.Enabled(inspect.GateConsumableCapacity),
		ListTypeAttributes: f.Enabled(inspect.GateListTypeAttributes),
		HideSharing:        r.basic,
		Lazy:               r.lazyAttributes,
	}
}

// featuresAt returns the switches that the scheduler's plugin of a release sets, and the variant that is
// chosen for them.
func featuresAt(release inspect.Release, gates inspect.Features) (Features, Variant) {
	f, r := FeaturesOf(gates), release.Modelled()
	if r.Before(37, 0) {
		// The plugin of 1.36 has expressions see lists, but does not tell the allocator.
		f.ListTypeAttributes = false
		f.CompatibilityGroups, f.DerivedAttributes, f.FractionalCapacityRange, f.OptionalNodeOperations = false, false, false, false
	}
	switch {
	case !r.Before(38, 0):
		return f, variantSince38(f)
	case !r.Before(36, 0):
		return f, VariantOf(f)
	}
	return f, variantBefore36(r, f, gates)
}

// variantSince38 chooses among the variants of 1.38: stable is what incubating was in 1.37, and incubating
// knows all that experimental knows.
func variantSince38(f Features) Variant {
	if VariantOf(f) == Experimental {
		return Incubating
	}
	return Stable
}

// variantBefore36 chooses among the variants of 1.34 and 1.35: stable supports no feature at all, incubating
// what stable supports later, experimental the rest. The plugin of 1.34 names the two gates of
// DeviceBindingAndStatus one by one.
func variantBefore36(r inspect.Release, f Features, gates inspect.Features) Variant {
	status := r.Before(35, 0) && (gates.Enabled(inspect.GateDeviceBindingConditions) || gates.Enabled(inspect.GateDeviceStatus))
	switch {
	case f.DeviceBindingAndStatus || f.ConsumableCapacity || status:
		return Experimental
	case f.AdminAccess || f.PrioritizedList || f.PartitionableDevices || f.DeviceTaints:
		return Incubating
	}
	return Stable
}

// Variant is one of the implementations of the allocator that the scheduler chooses from.
type Variant string

// The variants, from the oldest to the newest. The scheduler uses the first that supports every
// feature that is on. Some behaviour depends on the variant, not on the features alone.
const (
	// Stable does not define the order in which devices are taken before 1.38; what is decided here in its
	// name is one of the answers that it may give.
	Stable       Variant = "stable"
	Incubating   Variant = "incubating"
	Experimental Variant = "experimental"
)

// VariantOf returns the variant that the scheduler of 1.36 and 1.37 uses for a set of features.
func VariantOf(f Features) Variant {
	switch {
	case f.ListTypeAttributes || f.OptionalNodeOperations || f.DerivedAttributes || f.CompatibilityGroups:
		return Experimental
	case f.DeviceBindingAndStatus || f.ConsumableCapacity || f.FractionalCapacityRange:
		return Incubating
	}
	return Stable
}
