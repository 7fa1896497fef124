package validate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// slice checks the spec of a ResourceSlice. What only the whole pool can tell (duplicate devices in two
// slices, unknown counter sets) is left to whoever builds pools: the API server does not see it either.
func (v *validator) slice(spec *resourcev1.ResourceSliceSpec, path place) {
	v.driver(spec.Driver, path.Child("driver"))
	v.poolName(spec.Pool.Name, path.Child("pool", "name"))
	if spec.Pool.Generation < 0 {
		v.refuse(field.Invalid(path.Child("pool", "generation").path, spec.Pool.Generation, "must not be negative"))
	}
	if spec.Pool.ResourceSliceCount < 1 {
		v.refuse(field.Invalid(path.Child("pool", "resourceSliceCount").path, spec.Pool.ResourceSliceCount, "must be greater than zero"))
	}
	v.sliceNodes(spec, path)
	if spec.SharedCounters != nil && spec.Devices != nil {
		v.refuse(field.Forbidden(path.path, "devices and sharedCounters must be in separate slices of the pool"))
	}
	if v.size(len(spec.SharedCounters), resourcev1.ResourceSliceMaxCounterSets, path.Child("sharedCounters")) {
		seen := map[string]bool{}
		for i := range spec.SharedCounters {
			set, at := &spec.SharedCounters[i], path.Child("sharedCounters").Index(i)
			v.label(set.Name, at.Child("name"))
			unique(v, seen, set.Name, at.Child("name"))
			v.counters(set.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, at.Child("counters"))
		}
	}
	limit := resourcev1.ResourceSliceMaxDevices
	if usesAdvancedFeatures(spec.Devices) {
		limit = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	if v.size(len(spec.Devices), limit, path.Child("devices")) {
		seen := map[string]bool{}
		for i := range spec.Devices {
			at := path.Child("devices").Index(i)
			unique(v, seen, spec.Devices[i].Name, at.Child("name"))
			v.device(&spec.Devices[i], isTrue(spec.PerDeviceNodeSelection), at)
		}
	}
	v.skippedOperations(spec.SkipNodeOperations, path.Child("skipNodeOperations"))
	v.partitionType(spec, path)
}

func isTrue(b *bool) bool { return b != nil && *b }

// usesAdvancedFeatures reports whether a device has what lowers the number of devices per slice.
func usesAdvancedFeatures(devices []resourcev1.Device) bool {
	for i := range devices {
		if len(devices[i].Taints) > 0 || len(devices[i].ConsumesCounters) > 0 {
			return true
		}
		for _, a := range devices[i].Attributes {
			if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
				return true
			}
		}
	}
	return false
}

// nodeChoice is the ways in which a slice or a device can say on which nodes it is.
type nodeChoice struct {
	nodeName     *string
	nodeSelector *corev1.NodeSelector
	allNodes     *bool
}

// nodes checks each way that is set and returns their names.
func (v *validator) nodes(choice nodeChoice, path place) []string {
	var set []string
	if choice.nodeName != nil {
		if *choice.nodeName == "" {
			v.refuse(field.Invalid(path.Child("nodeName").path, "", "must be left out or name a node"))
		} else {
			set = append(set, "nodeName")
			v.messages(*choice.nodeName, path.Child("nodeName"), validation.IsDNS1123Subdomain(*choice.nodeName))
		}
	}
	if choice.nodeSelector != nil {
		set = append(set, "nodeSelector")
		v.nodeSelector(choice.nodeSelector, path.Child("nodeSelector"))
		if n := len(choice.nodeSelector.NodeSelectorTerms); n != 1 {
			v.refuse(field.Invalid(path.Child("nodeSelector", "nodeSelectorTerms").path, n, "must have exactly one term"))
		}
	}
	if choice.allNodes != nil {
		if *choice.allNodes {
			set = append(set, "allNodes")
		} else {
			v.refuse(field.Invalid(path.Child("allNodes").path, false, "must be left out or true"))
		}
	}
	return set
}

func (v *validator) sliceNodes(spec *resourcev1.ResourceSliceSpec, path place) {
	set := v.nodes(nodeChoice{spec.NodeName, spec.NodeSelector, spec.AllNodes}, path)
	if spec.PerDeviceNodeSelection != nil {
		if *spec.PerDeviceNodeSelection {
			set = append(set, "perDeviceNodeSelection")
		} else {
			v.refuse(field.Invalid(path.Child("perDeviceNodeSelection").path, false, "must be left out or true"))
		}
	}
	v.oneOf(set, path, "nodeName, nodeSelector, allNodes and perDeviceNodeSelection")
}

func (v *validator) nodeSelector(selector *corev1.NodeSelector, path place) {
	if _, err := nodeaffinity.NewNodeSelector(selector); err != nil {
		v.refuse(field.Invalid(path.path, field.OmitValueType{}, inspect.SanitizeShort(err.Error(), maxDetailLength)))
	}
}

func (v *validator) counters(counters map[string]resourcev1.Counter, limit int, path place) {
	if len(counters) == 0 {
		v.refuse(field.Required(path.path, ""))
	}
	if !v.size(len(counters), limit, path) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		v.label(name, path.Key(name))
		if value := counters[name].Value; value.Sign() < 0 {
			v.note(path.Key(name), "a negative counter (%s) makes the result depend on the order of the search", value.String())
		}
	}
}

func (v *validator) device(device *resourcev1.Device, perDevice bool, path place) {
	v.label(device.Name, path.Child("name"))
	v.attributes(device, path)
	for name := range keys(v, device.Capacity) {
		at := path.Child("capacity").Key(string(name))
		v.qualifiedName(string(name), at)
		capacity := device.Capacity[name]
		v.capacity(&capacity, isTrue(device.AllowMultipleAllocations), at)
	}
	if v.size(len(device.Taints), resourcev1.DeviceTaintsMaxLength, path.Child("taints")) {
		for i := range device.Taints {
			v.taint(&device.Taints[i], path.Child("taints").Index(i))
		}
	}
	v.consumption(device.ConsumesCounters, path.Child("consumesCounters"))
	set := v.nodes(nodeChoice{device.NodeName, device.NodeSelector, device.AllNodes}, path)
	switch {
	case perDevice:
		v.oneOf(set, path, "nodeName, nodeSelector and allNodes (the slice has perDeviceNodeSelection)")
	case len(set) > 0:
		v.refuse(field.Forbidden(path.path, fmt.Sprintf("%v may only be set when the slice has perDeviceNodeSelection", set)))
	}
	v.bindingConditions(device.BindingConditions, device.BindingFailureConditions, path)
	v.allocatableResources(device, path.Child("nodeAllocatableResources"))
}

func (v *validator) consumption(list []resourcev1.DeviceCounterConsumption, path place) {
	if !v.size(len(list), resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice, path) {
		return
	}
	seen := map[string]bool{}
	for i := range list {
		c, at := &list[i], path.Index(i)
		v.label(c.CounterSet, at.Child("counterSet"))
		unique(v, seen, c.CounterSet, at.Child("counterSet"))
		v.counters(c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, at.Child("counters"))
		groups := map[string]bool{}
		if v.size(len(c.CompatibilityGroups), resourcev1.DeviceCompatibilityGroupsMaxSize, at.Child("compatibilityGroups")) {
			for j, group := range c.CompatibilityGroups {
				v.label(group, at.Child("compatibilityGroups").Index(j))
				unique(v, groups, group, at.Child("compatibilityGroups").Index(j))
			}
		}
	}
}

// bindingConditions checks the conditions of a device or of an allocation result.
func (v *validator) bindingConditions(binding, failure []string, path place) {
	seen := map[string]bool{}
	for _, list := range []struct {
		name       string
		conditions []string
		limit      int
	}{
		{"bindingConditions", binding, resourcev1.BindingConditionsMaxSize},
		{"bindingFailureConditions", failure, resourcev1.BindingFailureConditionsMaxSize},
	} {
		at := path.Child(list.name)
		if !v.size(len(list.conditions), list.limit, at) {
			continue
		}
		for i, condition := range list.conditions {
			v.labelKey(condition, at.Index(i))
			unique(v, seen, condition, at.Index(i))
		}
	}
	if (len(binding) == 0) != (len(failure) == 0) {
		v.refuse(field.Required(path.path, "bindingConditions and bindingFailureConditions need each other"))
	}
}

// skippedOperations allows to skip preparing only together with unpreparing.
func (v *validator) skippedOperations(operations []resourcev1.SkipNodeOperation, path place) {
	has := map[resourcev1.SkipNodeOperation]bool{}
	for i, operation := range operations {
		unique(v, has, operation, path.Index(i))
	}
	if has[resourcev1.SkipNodeOperationNodePrepareResources] && !has[resourcev1.SkipNodeOperationNodeUnprepareResources] &&
		!has[resourcev1.SkipNodeOperationAll] {
		v.refuse(field.Invalid(path.path, "NodePrepareResources", "can only be skipped together with NodeUnprepareResources"))
	}
}

// partitionType checks that every partition says of which type it is.
func (v *validator) partitionType(spec *resourcev1.ResourceSliceSpec, path place) {
	if spec.PartitionTypeAttribute == nil {
		return
	}
	name := string(*spec.PartitionTypeAttribute)
	v.fullyQualifiedName(name, path.Child("partitionTypeAttribute"))
	partitions := 0
	for i := range spec.Devices {
		device := &spec.Devices[i]
		if len(device.ConsumesCounters) == 0 {
			continue
		}
		partitions++
		attribute, ok := device.Attributes[resourcev1.QualifiedName(name)]
		if own := len(spec.Driver) + 1; !ok && len(name) > own && name[:own] == spec.Driver+"/" {
			attribute = device.Attributes[resourcev1.QualifiedName(name[own:])]
		}
		if attribute.StringValue == nil {
			v.refuse(field.Required(path.Child("devices").Index(i).Child("attributes").Key(name).path, "partitionTypeAttribute names it: a string is needed"))
		}
	}
	if partitions == 0 {
		v.refuse(field.Invalid(path.Child("partitionTypeAttribute").path, name, "needs devices that consume counters"))
	}
}

// semverPattern is the grammar of semver.org 2.0.0: three numbers without leading zeros, then optional
// pre-release and build parts.
var semverPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

func (v *validator) attributes(device *resourcev1.Device, path place) {
	if n := len(device.Attributes) + len(device.Capacity); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
		v.refuse(field.Invalid(path.path, n, fmt.Sprintf("attributes and capacities together may be at most %d", resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice)))
	}
	values := 0
	for name := range keys(v, device.Attributes) {
		attribute, at := device.Attributes[name], path.Child("attributes").Key(string(name))
		v.qualifiedName(string(name), at)
		values += max(1, len(attribute.BoolValues)+len(attribute.IntValues)+len(attribute.StringValues)+len(attribute.VersionValues))
		v.attribute(&attribute, at)
	}
	if values > resourcev1.ResourceSliceMaxAttributeValuesPerDevice {
		v.refuse(field.Invalid(path.path, values, fmt.Sprintf("attribute values together may be at most %d", resourcev1.ResourceSliceMaxAttributeValuesPerDevice)))
	}
}

func (v *validator) attribute(a *resourcev1.DeviceAttribute, path place) {
	var set []string
	for _, f := range []struct {
		name    string
		present bool
		empty   bool
	}{
		{"int", a.IntValue != nil, false}, {"bool", a.BoolValue != nil, false},
		{"string", a.StringValue != nil, false}, {"version", a.VersionValue != nil, false},
		{"ints", a.IntValues != nil, len(a.IntValues) == 0}, {"bools", a.BoolValues != nil, len(a.BoolValues) == 0},
		{"strings", a.StringValues != nil, len(a.StringValues) == 0}, {"versions", a.VersionValues != nil, len(a.VersionValues) == 0},
	} {
		if f.present {
			set = append(set, f.name)
			if f.empty {
				v.refuse(field.Invalid(path.Child(f.name).path, "[]", "must not be empty"))
			}
		}
	}
	v.oneOf(set, path, "int, bool, string, version, ints, bools, strings and versions")
	if a.StringValue != nil {
		v.attributeLength(*a.StringValue, path.Child("string"))
	}
	for i, s := range a.StringValues {
		v.attributeLength(s, path.Child("strings").Index(i))
	}
	if a.VersionValue != nil {
		v.version(*a.VersionValue, path.Child("version"))
	}
	for i, s := range a.VersionValues {
		v.version(s, path.Child("versions").Index(i))
	}
}

func (v *validator) attributeLength(value string, path place) {
	if len(value) > resourcev1.DeviceAttributeMaxValueLength {
		v.refuse(field.TooLong(path.path, "", resourcev1.DeviceAttributeMaxValueLength))
	}
}

func (v *validator) version(value string, path place) {
	v.attributeLength(value, path)
	if !semverPattern.MatchString(value) {
		v.refuse(field.Invalid(path.path, inspect.SanitizeShort(value, maxSnippetLength), "must be a version as semver.org 2.0.0 defines it, such as 1.2.3"))
	}
}
