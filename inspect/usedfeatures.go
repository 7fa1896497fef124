package inspect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// FeaturesUsedBy returns the gates without which the objects could not be as they are, sorted by name:
// an API server with such a gate off drops the field or refuses the object. It finds those of
// ResourceClaims (and their templates), DeviceClasses, ResourceSlices, DeviceTaintRules, Pods and PodGroups.
func FeaturesUsedBy(o Objects) []Gate {
	u := gateUse{}
	for _, claim := range o.Claims {
		u.claimSpec(&claim.Spec)
		u.claimStatus(&claim.Status)
		u.owner(claim)
	}
	for _, template := range o.Templates {
		u.claimSpec(&template.Spec.Spec)
	}
	for _, class := range o.Classes {
		u.selectors(class.Spec.Selectors)
		u.mark(GateExtendedResource, class.Spec.ExtendedResourceName != nil)
	}
	for _, slice := range o.Slices {
		u.slice(&slice.Spec)
	}
	for _, pod := range o.Pods {
		u.pod(pod)
	}
	u.mark(GateDeviceTaintRules, len(o.TaintRules) > 0)
	u.mark(GateDeviceTaints, len(o.TaintRules) > 0)
	for _, group := range o.PodGroups {
		u.mark(GateGenericWorkload, true)
		u.mark(GateCompositePodGroup, group.Spec.ParentCompositePodGroupName != nil)
		u.mark(GateTopologyAwareWorkloadScheduling, group.Spec.ParentCompositePodGroupName != nil || group.Spec.SchedulingConstraints != nil)
		u.mark(GatePodGroupPreemptionPolicy, group.Spec.PreemptionPolicy != nil)
	}
	var gates []Gate
	for gate := range u {
		gates = append(gates, gate)
	}
	slices.Sort(gates)
	return gates
}

// WithUsed turns on the gates that objects use, and says so in Source: they are on in the cluster in which
// the objects could be made.
func (f Features) WithUsed(o Objects) Features {
	on := map[Gate]bool{}
	var names []string
	for _, gate := range FeaturesUsedBy(o) {
		if !f.Enabled(gate) {
			on[gate] = true
			names = append(names, string(gate))
		}
	}
	if len(on) > 0 {
		f = f.With(on)
		f.Source += ", and " + strings.Join(names, ", ") + ", which the objects use"
	}
	return f
}

// gateUse is the set of gates in use.
type gateUse map[Gate]bool

func (u gateUse) mark(gate Gate, used bool) {
	if used {
		u[gate] = true
	}
}

func (u gateUse) claimSpec(spec *resourcev1.ResourceClaimSpec) {
	for i := range spec.Devices.Requests {
		request := &spec.Devices.Requests[i]
		if exact := request.Exactly; exact != nil {
			u.mark(GateAdminAccess, isTrue(exact.AdminAccess))
			u.request(exact.Selectors, exact.Tolerations, exact.Capacity, exact.DerivedAttributes)
		}
		u.mark(GatePrioritizedList, len(request.FirstAvailable) > 0)
		for j := range request.FirstAvailable {
			sub := &request.FirstAvailable[j]
			u.request(sub.Selectors, sub.Tolerations, sub.Capacity, sub.DerivedAttributes)
		}
	}
	for i := range spec.Devices.Constraints {
		u.mark(GateConsumableCapacity, spec.Devices.Constraints[i].DistinctAttribute != nil)
	}
}

func (u gateUse) request(selectors []resourcev1.DeviceSelector, tolerations []resourcev1.DeviceToleration, capacity *resourcev1.CapacityRequirements, derived []resourcev1.DeviceDerivedAttribute) {
	u.selectors(selectors)
	u.mark(GateDeviceTaints, len(tolerations) > 0)
	u.mark(GateConsumableCapacity, capacity != nil)
	u.mark(GateDerivedAttributes, len(derived) > 0)
}

// selectors looks for what only the CEL environments of some gates have: the function includes and the
// variable allowMultipleAllocations. Elsewhere such an expression does not compile.
func (u gateUse) selectors(selectors []resourcev1.DeviceSelector) {
	for i := range selectors {
		if cel := selectors[i].CEL; cel != nil {
			u.mark(GateListTypeAttributes, strings.Contains(cel.Expression, ".includes("))
			u.mark(GateConsumableCapacity, strings.Contains(cel.Expression, "device.allowMultipleAllocations"))
		}
	}
}

// owner looks at who made a claim.
func (u gateUse) owner(claim *resourcev1.ResourceClaim) {
	u.mark(GateWorkloadResourceClaims, OwnedByPodGroup(claim, ""))
}

func (u gateUse) claimStatus(status *resourcev1.ResourceClaimStatus) {
	u.mark(GateDeviceStatus, len(status.Devices) > 0)
	for i := range status.ReservedFor {
		u.mark(GateWorkloadResourceClaims, status.ReservedFor[i].Resource == "podgroups")
	}
	if status.Allocation == nil {
		return
	}
	for i := range status.Allocation.Devices.Results {
		result := &status.Allocation.Devices.Results[i]
		u.mark(GateAdminAccess, isTrue(result.AdminAccess))
		u.mark(GateConsumableCapacity, result.ShareID != nil)
		u.mark(GateOptionalNodeOperations, len(result.SkipNodeOperations) > 0)
		u.bindingConditions(len(result.BindingConditions) > 0)
	}
}

func (u gateUse) bindingConditions(used bool) {
	u.mark(GateDeviceBindingConditions, used)
	u.mark(GateDeviceStatus, used)
}

func (u gateUse) pod(pod *corev1.Pod) {
	for i := range pod.Spec.Tolerations {
		operator := pod.Spec.Tolerations[i].Operator
		u.mark(GateTaintTolerationComparisonOperators, operator == corev1.TolerationOpLt || operator == corev1.TolerationOpGt)
	}
	u.mark(GateGenericWorkload, pod.Spec.SchedulingGroup != nil || NamesWorkload(pod))
	u.mark(GateNodeAllocatableResources, len(pod.Status.NodeAllocatableResourceClaimStatuses) > 0)
}

func (u gateUse) slice(spec *resourcev1.ResourceSliceSpec) {
	u.mark(GatePartitionableDevices, len(spec.SharedCounters) > 0 || spec.PerDeviceNodeSelection != nil)
	u.mark(GatePartitionableDevicesType, spec.PartitionTypeAttribute != nil)
	u.mark(GateOptionalNodeOperations, len(spec.SkipNodeOperations) > 0)
	for i := range spec.Devices {
		u.device(&spec.Devices[i])
	}
}

func (u gateUse) device(device *resourcev1.Device) {
	u.mark(GateDeviceTaints, len(device.Taints) > 0)
	u.mark(GateConsumableCapacity, device.AllowMultipleAllocations != nil)
	u.mark(GateNodeAllocatableResources, len(device.NodeAllocatableResources) > 0)
	u.mark(GatePartitionableDevices, len(device.ConsumesCounters) > 0)
	u.bindingConditions(len(device.BindingConditions) > 0 || isTrue(device.BindsToNode))
	for i := range device.ConsumesCounters {
		u.mark(GateDeviceCompatibilityGroups, len(device.ConsumesCounters[i].CompatibilityGroups) > 0)
	}
	for _, a := range device.Attributes {
		u.mark(GateListTypeAttributes, len(a.IntValues)+len(a.BoolValues)+len(a.StringValues)+len(a.VersionValues) > 0)
	}
	for _, c := range device.Capacity {
		u.mark(GateConsumableCapacity, c.RequestPolicy != nil)
		if policy := c.RequestPolicy; policy != nil && policy.ValidRange != nil {
			r := policy.ValidRange
			u.mark(GateFractionalCapacityRange, fractional(r.Min) || fractional(r.Max) || fractional(r.Step))
		}
	}
}

// fractional reports whether a quantity is not a whole number.
func fractional(q *resource.Quantity) bool {
	if q == nil {
		return false
	}
	whole := resource.NewQuantity(q.Value(), q.Format)
	return q.Cmp(*whole) != 0
}
