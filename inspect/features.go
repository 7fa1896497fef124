package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gate is the name of a Kubernetes feature gate that changes what the scheduler decides about pods and their
// devices.
type Gate string

// The feature gates that matter to where the volumes of a pod can be.
const (
	GateStorageCapacityScoring Gate = "StorageCapacityScoring"
	GateVolumeAttributesClass  Gate = "VolumeAttributesClass"
	GateVolumeLimitScaling     Gate = "VolumeLimitScaling"
)

// The feature gates that matter to dynamic resource allocation.
const (
	GateDynamicResourceAllocation   Gate = "DynamicResourceAllocation"
	GateAdminAccess                 Gate = "DRAAdminAccess"
	GatePrioritizedList             Gate = "DRAPrioritizedList"
	GateDeviceStatus                Gate = "DRAResourceClaimDeviceStatus"
	GatePartitionableDevices        Gate = "DRAPartitionableDevices"
	GateDeviceTaints                Gate = "DRADeviceTaints"
	GateDeviceTaintRules            Gate = "DRADeviceTaintRules"
	GateConsumableCapacity          Gate = "DRAConsumableCapacity"
	GateDeviceBindingConditions     Gate = "DRADeviceBindingConditions"
	GateExtendedResource            Gate = "DRAExtendedResource"
	GateSchedulerFilterTimeout      Gate = "DRASchedulerFilterTimeout"
	GateFractionalCapacityRange     Gate = "DRAFractionalCapacityRange"
	GateListTypeAttributes          Gate = "DRAListTypeAttributes"
	GateNodeAllocatableResources    Gate = "DRANodeAllocatableResources"
	GateResourcePoolStatus          Gate = "DRAResourcePoolStatus"
	GateWorkloadResourceClaims      Gate = "DRAWorkloadResourceClaims"
	GateDerivedAttributes           Gate = "DRADerivedAttributes"
	GateDeviceCompatibilityGroups   Gate = "DRADeviceCompatibilityGroups"
	GateOptionalNodeOperations      Gate = "DRAOptionalNodeOperations"
	GatePartitionableDevicesType    Gate = "DRAPartitionableDevicesType"
	GateGranularStatusAuthorization Gate = "DRAResourceClaimGranularStatusAuthorization"
)

// GatePreemption is planned, and in no release that is modelled: answers say what it may change.
const GatePreemption Gate = "DRAPreemption"

// The feature gates that matter to what else decides where a pod can run.
const (
	GateCompositePodGroup                       Gate = "CompositePodGroup"
	GateGenericWorkload                         Gate = "GenericWorkload"
	GateInPlacePodVerticalScaling               Gate = "InPlacePodVerticalScaling"
	GateInPlacePodLevelResourcesVerticalScaling Gate = "InPlacePodLevelResourcesVerticalScaling"
	GateInterPodAffinityHostnameFastPath        Gate = "InterPodAffinityHostnameFastPath"
	GateMatchLabelKeysInPodTopologySpread       Gate = "MatchLabelKeysInPodTopologySpread"
	GateNodeDeclaredFeatures                    Gate = "NodeDeclaredFeatures"
	GatePodGroupPreemptionPolicy                Gate = "PodGroupPreemptionPolicy"
	GatePodLevelResources                       Gate = "PodLevelResources"
	GateTaintTolerationComparisonOperators      Gate = "TaintTolerationComparisonOperators"
	GateTopologyAwareWorkloadScheduling         Gate = "TopologyAwareWorkloadScheduling"
)

// NewestMinor is the newest Kubernetes minor release (1.NewestMinor) that is out and whose behaviour is
// modelled. What does not say its release is taken for this one.
const NewestMinor = 37

// PreviewMinor is the newest minor release that is modelled. If it is not NewestMinor it is a preview: its
// rules and gates are those of the sources of PreviewVersion, from which the release may differ.
const (
	PreviewMinor   = 38
	PreviewVersion = "1.38.0-beta.0"
)

// gateHistory says from which minor release on a gate is known and, of those, from which on it is enabled by
// default (0 if it is not yet), has its default whatever is set, and is gone (0 for never). What a gate that
// is gone stood for is always on, so it counts as enabled. Source: the feature gate tables of the Kubernetes
// releases (pkg/features/kube_features.go), 1.32 to 1.38.0-beta.0, for a control plane as it is by default,
// which stays compatible with the release before. So DRAFractionalCapacityRange of 1.37 is off, although it
// is on by default where the minimum compatibility version is 1.37; inspect/live takes that from the server.
var gateHistory = map[Gate]struct{ known, enabled, locked, gone int }{
	GateStorageCapacityScoring: {33, 37, 0, 0},
	GateVolumeAttributesClass:  {29, 34, 36, 0},
	GateVolumeLimitScaling:     {35, 37, 0, 0},

	GateDynamicResourceAllocation:   {26, 34, 35, 38},
	GateAdminAccess:                 {32, 34, 36, 0},
	GatePrioritizedList:             {33, 34, 37, 0},
	GateDeviceStatus:                {32, 33, 37, 0},
	GatePartitionableDevices:        {33, 36, 38, 0},
	GateDeviceTaints:                {33, 36, 38, 0},
	GateDeviceTaintRules:            {35, 37, 38, 0},
	GateConsumableCapacity:          {34, 36, 0, 0},
	GateDeviceBindingConditions:     {34, 36, 38, 0},
	GateExtendedResource:            {34, 36, 37, 0},
	GateSchedulerFilterTimeout:      {34, 34, 0, 0},
	GateFractionalCapacityRange:     {37, 38, 0, 0},
	GateListTypeAttributes:          {36, 0, 0, 0},
	GateNodeAllocatableResources:    {36, 0, 0, 0},
	GateResourcePoolStatus:          {36, 0, 0, 0},
	GateWorkloadResourceClaims:      {36, 0, 0, 0},
	GateDerivedAttributes:           {37, 0, 0, 0},
	GateDeviceCompatibilityGroups:   {37, 0, 0, 0},
	GateOptionalNodeOperations:      {37, 0, 0, 0},
	GatePartitionableDevicesType:    {37, 0, 0, 0},
	GatePreemption:                  {39, 0, 0, 0},
	GateGranularStatusAuthorization: {36, 36, 0, 0},

	GateCompositePodGroup:                       {37, 0, 0, 0},
	GateGenericWorkload:                         {35, 0, 0, 0},
	GateInPlacePodVerticalScaling:               {27, 33, 35, 38},
	GateInPlacePodLevelResourcesVerticalScaling: {35, 36, 0, 0},
	GateInterPodAffinityHostnameFastPath:        {37, 0, 0, 0},
	GateMatchLabelKeysInPodTopologySpread:       {25, 27, 0, 0},
	GateNodeDeclaredFeatures:                    {35, 36, 37, 0},
	GatePodGroupPreemptionPolicy:                {37, 38, 38, 38},
	GatePodLevelResources:                       {32, 34, 0, 0},
	GateTaintTolerationComparisonOperators:      {35, 0, 0, 0},
	GateTopologyAwareWorkloadScheduling:         {36, 0, 0, 0},
}

// Gates returns every gate that this package knows, sorted by name.
func Gates() []Gate { return slices.Sorted(maps.Keys(gateHistory)) }

// KnownGate reports whether the gate is one of those in Gates.
func KnownGate(g Gate) bool { _, ok := gateHistory[g]; return ok }

// Features is a set of feature gates together with where the knowledge comes from. It is a value:
// its methods return changed copies. The zero value has every gate off.
type Features struct {
	// Minor is the Kubernetes minor release (1.Minor) whose scheduler is asked about.
	Minor int
	// Source says in a few words where the gates come from, for example
	// "kubernetes_feature_enabled of the server" or "defaults of Kubernetes 1.37".
	Source string

	enabled map[Gate]bool
}

// DefaultFeatures returns the gates that Kubernetes 1.minor enables by default. A minor newer than
// PreviewMinor is treated as PreviewMinor.
func DefaultFeatures(minor int) Features {
	known := min(minor, PreviewMinor)
	f := Features{Minor: minor, Source: fmt.Sprintf("defaults of Kubernetes 1.%d", known), enabled: map[Gate]bool{}}
	for g, h := range gateHistory {
		if h.enabled != 0 && h.enabled <= known {
			f.enabled[g] = true
		}
	}
	return f
}

// Knows reports whether the release has the gate at all.
func (f Features) Knows(g Gate) bool {
	h, ok := gateHistory[g]
	return ok && h.known <= f.Minor && (h.gone == 0 || f.Minor < h.gone)
}

// Locked reports whether the release has the default of the gate whatever is set.
func (f Features) Locked(g Gate) bool {
	h := gateHistory[g]
	return h.locked != 0 && h.locked <= f.Minor
}

// Enabled reports whether the gate is on.
func (f Features) Enabled(g Gate) bool { return f.enabled[g] }

// Default reports whether the gates that are on are those that the release enables by default.
func (f Features) Default() bool { return f.sameGates(DefaultFeatures(f.Minor)) }

func (f Features) sameGates(g Features) bool { return maps.Equal(f.enabled, g.enabled) }

// List returns the enabled gates, sorted by name.
func (f Features) List() []Gate {
	var on []Gate
	for g, v := range f.enabled {
		if v {
			on = append(on, g)
		}
	}
	slices.Sort(on)
	return on
}

// With returns a copy in which the given gates have the given values. The source is kept; it is the
// caller's to change. In releases that have no gate for DeviceTaintRules, that for taints turns them on.
func (f Features) With(gates map[Gate]bool) Features {
	out := f
	out.enabled = maps.Clone(f.enabled)
	if out.enabled == nil {
		out.enabled = map[Gate]bool{}
	}
	maps.Copy(out.enabled, gates)
	if on, given := gates[GateDeviceTaints]; given && f.Minor != 0 && !f.Knows(GateDeviceTaintRules) {
		out.enabled[GateDeviceTaintRules] = on
	}
	return out
}

// ParseFeatures reads "A=true,B=false", the form of the --features flag. It refuses gates that it
// does not know, naming the nearest ones, and values that are not booleans.
func ParseFeatures(text string) (map[Gate]bool, error) {
	out := map[Gate]bool{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("feature %q: want NAME=true or NAME=false", part)
		}
		gate := Gate(strings.TrimSpace(name))
		if !KnownGate(gate) {
			return nil, fmt.Errorf("unknown feature gate %q; known are %s", name, joinGates())
		}
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "true", "1":
			out[gate] = true
		case "false", "0":
			out[gate] = false
		default:
			return nil, fmt.Errorf("feature %s: %q is neither true nor false", gate, value)
		}
	}
	return out, nil
}

func joinGates() string {
	var names []string
	for _, g := range Gates() {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}
