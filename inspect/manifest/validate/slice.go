package validate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// checkSlice checks the spec of a ResourceSlice. What only the whole pool can tell (duplicate devices in two
// slices, unknown counter sets) is left to whoever builds pools: the API server does not see it either.
func checkSlice(v *validator, spec *resourcev1.ResourceSliceSpec, path place) {
	v.driver(spec.Driver, path.Child("driver"))
	v.poolName(spec.Pool.Name, path.Child("pool", "name"))
	if spec.Pool.Generation < 0 {
		v.refuse(field.Invalid(path.Child("pool", "generation").path, spec.Pool.Generation, "must not be negative"))
	}
	if spec.Pool.ResourceSliceCount < 1 {
		v.refuse(field.Invalid(path.Child("pool", "resourceSliceCount").path, spec.Pool.ResourceSliceCount, "must be greater than zero"))
	}
	choices := checkNodes(v, spec.NodeName, spec.NodeSelector, spec.AllNodes, path)
	v.oneTerm(spec.NodeSelector, path)
	v.leftOutOrTrue(spec.PerDeviceNodeSelection, path.Child("perDeviceNodeSelection"))
	choices = append(choices, choice{"perDeviceNodeSelection", isTrue(spec.PerDeviceNodeSelection)})
	v.oneOf(path, "nodeName, nodeSelector, allNodes and perDeviceNodeSelection", choices...)
	if spec.SharedCounters != nil && spec.Devices != nil {
		v.refuse(field.Forbidden(path.path, "devices and sharedCounters must be in separate slices of the pool"))
	}
	sets := map[string]bool{}
	each(v, spec.SharedCounters, resourcev1.ResourceSliceMaxCounterSets, path.Child("sharedCounters"),
		func(set *resourcev1.CounterSet, at place) {
			v.label(set.Name, at.Child("name"))
			unique(v, sets, set.Name, at.Child("name"))
			checkCounters(v, set.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, at.Child("counters"))
		})
	limit := resourcev1.ResourceSliceMaxDevices
	if usesAdvancedFeatures(spec.Devices) {
		limit = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	names := map[string]bool{}
	each(v, spec.Devices, limit, path.Child("devices"), func(device *resourcev1.Device, at place) {
		unique(v, names, device.Name, at.Child("name"))
		checkDevice(v, device, isTrue(spec.PerDeviceNodeSelection), at)
	})
	checkSkippedOperations(v, spec.SkipNodeOperations, path.Child("skipNodeOperations"))
	checkPartitionType(v, spec, path)
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

// checkNodes checks each way that is set in which a slice or a device says on which nodes it is.
func checkNodes(v *validator, nodeName *string, selector *corev1.NodeSelector, allNodes *bool,
	path place) []choice {
	named := nodeName != nil && *nodeName != ""
	if named {
		v.messages(*nodeName, path.Child("nodeName"), validation.IsDNS1123Subdomain(*nodeName))
	} else if nodeName != nil {
		v.refuse(field.Invalid(path.Child("nodeName").path, "", "must be left out or name a node"))
	}
	if selector != nil {
		v.nodeSelector(selector, path.Child("nodeSelector"))
	}
	v.leftOutOrTrue(allNodes, path.Child("allNodes"))
	return []choice{{"nodeName", named}, {"nodeSelector", selector != nil}, {"allNodes", isTrue(allNodes)}}
}

func (v *validator) oneTerm(selector *corev1.NodeSelector, path place) {
	if selector != nil && len(selector.NodeSelectorTerms) != 1 {
		v.refuse(field.Invalid(path.Child("nodeSelector", "nodeSelectorTerms").path, len(selector.NodeSelectorTerms), "must have exactly one term"))
	}
}

func (v *validator) leftOutOrTrue(value *bool, path place) {
	if value != nil && !*value {
		v.refuse(field.Invalid(path.path, false, "must be left out or true"))
	}
}

func (v *validator) nodeSelector(selector *corev1.NodeSelector, path place) {
	if _, err := nodeaffinity.NewNodeSelector(selector); err != nil {
		v.refuse(field.Invalid(path.path, field.OmitValueType{}, inspect.SanitizeShort(err.Error(), maxDetailLength)))
	}
}

func checkCounters(v *validator, counters map[string]resourcev1.Counter, limit int, path place) {
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

func checkDevice(v *validator, device *resourcev1.Device, perDevice bool, path place) {
	v.label(device.Name, path.Child("name"))
	checkAttributes(v, device, path)
	for name := range keys(v, device.Capacity) {
		at := path.Child("capacity").Key(string(name))
		v.qualifiedName(string(name), at)
		capacity := device.Capacity[name]
		checkCapacity(v, &capacity, isTrue(device.AllowMultipleAllocations), at)
	}
	each(v, device.Taints, resourcev1.DeviceTaintsMaxLength, path.Child("taints"),
		func(t *resourcev1.DeviceTaint, at place) {
			checkTaint(v, t, at)
		})
	checkConsumption(v, device.ConsumesCounters, path.Child("consumesCounters"))
	choices := checkNodes(v, device.NodeName, device.NodeSelector, device.AllNodes, path)
	if perDevice {
		v.from38(func() { v.oneTerm(device.NodeSelector, path) })
	}
	if perDevice {
		v.oneOf(path, "nodeName, nodeSelector and allNodes (the slice has perDeviceNodeSelection)", choices...)
	} else if set := namesOf(choices); len(set) > 0 {
		v.refuse(field.Forbidden(path.path, fmt.Sprintf("%v may only be set when the slice has perDeviceNodeSelection", set)))
	}
	checkBindingConditions(v, device.BindingConditions, device.BindingFailureConditions, path)
	checkAllocatableResources(v, device, path.Child("nodeAllocatableResources"))
}

func checkConsumption(v *validator, list []resourcev1.DeviceCounterConsumption, path place) {
	seen := map[string]bool{}
	each(v, list, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice, path,
		func(c *resourcev1.DeviceCounterConsumption, at place) {
			v.label(c.CounterSet, at.Child("counterSet"))
			unique(v, seen, c.CounterSet, at.Child("counterSet"))
			checkCounters(v, c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, at.Child("counters"))
			groups := map[string]bool{}
			each(v, c.CompatibilityGroups, resourcev1.DeviceCompatibilityGroupsMaxSize, at.Child("compatibilityGroups"),
				func(group *string, at place) {
					v.label(*group, at)
					unique(v, groups, *group, at)
				})
		})
}

// checkBindingConditions checks the conditions of a device or of an allocation result.
func checkBindingConditions(v *validator, binding, failure []string, path place) {
	seen := map[string]bool{}
	check := func(condition *string, at place) {
		v.labelKey(*condition, at)
		unique(v, seen, *condition, at)
	}
	each(v, binding, resourcev1.BindingConditionsMaxSize, path.Child("bindingConditions"), check)
	each(v, failure, resourcev1.BindingFailureConditionsMaxSize, path.Child("bindingFailureConditions"), check)
	if (len(binding) == 0) != (len(failure) == 0) {
		v.refuse(field.Required(path.path, "bindingConditions and bindingFailureConditions need each other"))
	}
}

// checkSkippedOperations allows to skip preparing only together with unpreparing.
func checkSkippedOperations(v *validator, operations []resourcev1.SkipNodeOperation, path place) {
	has := map[resourcev1.SkipNodeOperation]bool{}
	for i, operation := range operations {
		unique(v, has, operation, path.Index(i))
	}
	if has[resourcev1.SkipNodeOperationNodePrepareResources] && !has[resourcev1.SkipNodeOperationNodeUnprepareResources] &&
		!has[resourcev1.SkipNodeOperationAll] {
		v.refuse(field.Invalid(path.path, "NodePrepareResources", "can only be skipped together with NodeUnprepareResources"))
	}
}

// checkPartitionType checks that every partition says of which type it is.
func checkPartitionType(v *validator, spec *resourcev1.ResourceSliceSpec, path place) {
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

func checkAttributes(v *validator, device *resourcev1.Device, path place) {
	if n := len(device.Attributes) + len(device.Capacity); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
		v.refuse(field.Invalid(path.path, n, fmt.Sprintf("attributes and capacities together may be at most %d", resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice)))
	}
	values := 0
	for name := range keys(v, device.Attributes) {
		attribute, at := device.Attributes[name], path.Child("attributes").Key(string(name))
		v.qualifiedName(string(name), at)
		values += max(1, len(attribute.BoolValues)+len(attribute.IntValues)+len(attribute.StringValues)+len(attribute.VersionValues))
		checkAttribute(v, &attribute, at)
	}
	if values > resourcev1.ResourceSliceMaxAttributeValuesPerDevice {
		v.refuse(field.Invalid(path.path, values, fmt.Sprintf("attribute values together may be at most %d", resourcev1.ResourceSliceMaxAttributeValuesPerDevice)))
	}
}

func checkAttribute(v *validator, a *resourcev1.DeviceAttribute, path place) {
	for _, list := range []choice{
		{"ints", a.IntValues != nil && len(a.IntValues) == 0},
		{"bools", a.BoolValues != nil && len(a.BoolValues) == 0},
		{"strings", a.StringValues != nil && len(a.StringValues) == 0},
		{"versions", a.VersionValues != nil && len(a.VersionValues) == 0},
	} {
		if list.set {
			v.refuse(field.Invalid(path.Child(list.name).path, "[]", "must not be empty"))
		}
	}
	v.oneOf(path, "int, bool, string, version, ints, bools, strings and versions",
		choice{"int", a.IntValue != nil}, choice{"bool", a.BoolValue != nil},
		choice{"string", a.StringValue != nil}, choice{"version", a.VersionValue != nil},
		choice{"ints", a.IntValues != nil}, choice{"bools", a.BoolValues != nil},
		choice{"strings", a.StringValues != nil}, choice{"versions", a.VersionValues != nil})
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
	v.length(value, resourcev1.DeviceAttributeMaxValueLength, path)
}

func (v *validator) version(value string, path place) {
	v.attributeLength(value, path)
	if !semverPattern.MatchString(value) {
		v.refuse(field.Invalid(path.path, inspect.SanitizeShort(value, maxSnippetLength), "must be a version as semver.org 2.0.0 defines it, such as 1.2.3"))
	} else if longNumbers(value) {
		v.from38(func() {
			v.refuse(field.Invalid(path.path, inspect.SanitizeShort(value, maxSnippetLength), "numbers in a version may have at most 18 digits"))
		})
	}
}

// longNumbers reports whether a number in a version, but for its build part, may be too large for 64 bits.
func longNumbers(version string) bool {
	version, _, _ = strings.Cut(version, "+")
	for part := range strings.SplitSeq(strings.Replace(version, "-", ".", 1), ".") {
		if len(part) > 18 && strings.Trim(part, "0123456789") == "" {
			return true
		}
	}
	return false
}
