package validate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxValidValues is how many values a request policy may list.
const maxValidValues = 10

// checkCapacity checks one capacity of a device and the policy for requests of it.
func checkCapacity(v *validator, c *resourcev1.DeviceCapacity, shareable bool, path place) {
	if c.Value.Sign() < 0 {
		v.note(path.Child("value"), "a negative capacity (%s) can never be requested", c.Value.String())
	}
	policy := c.RequestPolicy
	if policy == nil {
		return
	}
	path = path.Child("requestPolicy")
	if !shareable {
		v.refuse(field.Forbidden(path.path, "the device must have allowMultipleAllocations"))
		return
	}
	choices := 0
	if len(policy.ValidValues) > 0 {
		choices++
		checkValidValues(v, c, policy, path)
	}
	if policy.ValidRange != nil {
		choices++
		checkValidRange(v, c, policy, path)
	}
	if choices > 1 {
		v.refuse(field.Forbidden(path.path, "validValues and validRange exclude each other"))
	}
	if choices > 0 && policy.Default == nil {
		v.refuse(field.Required(path.Child("default").path, "needed with validValues and validRange"))
	}
}

// checkAmounts checks of which capacities there are how much.
func checkAmounts(v *validator, amounts map[resourcev1.QualifiedName]resource.Quantity, path place) {
	if !v.size(len(amounts), resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice, path) {
		return
	}
	for name := range keys(v, amounts) {
		at := path.Key(string(name))
		v.qualifiedName(string(name), at)
		if amount := amounts[name]; amount.Sign() < 0 {
			v.refuse(field.Invalid(at.path, amount.String(), "must not be negative"))
		}
	}
}

func checkValidValues(v *validator, c *resourcev1.DeviceCapacity, policy *resourcev1.CapacityRequestPolicy, path place) {
	path = path.Child("validValues")
	if !v.size(len(policy.ValidValues), maxValidValues, path) {
		return
	}
	found := policy.Default == nil
	for i := range policy.ValidValues {
		value := &policy.ValidValues[i]
		found = found || value.Cmp(*policy.Default) == 0
		v.atMost(value, &c.Value, "the capacity", path.Index(i))
		if i == 0 {
			continue
		}
		switch value.Cmp(policy.ValidValues[i-1]) {
		case -1:
			v.refuse(field.Invalid(path.Index(i).path, value.String(), "values must ascend"))
		case 0:
			v.refuse(field.Duplicate(path.Index(i).path, value.String()))
		}
	}
	if !found {
		v.refuse(field.Invalid(path.path, policy.Default.String(), "the default must be one of the valid values"))
	}
}

func checkValidRange(v *validator, c *resourcev1.DeviceCapacity, policy *resourcev1.CapacityRequestPolicy, path place) {
	r, byDefault := policy.ValidRange, policy.Default
	path = path.Child("validRange")
	if r.Min == nil {
		v.refuse(field.Required(path.Child("min").path, ""))
		return
	}
	v.atMost(r.Min, &c.Value, "the capacity", path.Child("min"))
	if r.Max != nil {
		v.atMost(r.Min, r.Max, "the maximum", path.Child("min"))
		v.atMost(r.Max, &c.Value, "the capacity", path.Child("max"))
	}
	if byDefault != nil {
		if byDefault.Cmp(*r.Min) < 0 {
			v.refuse(field.Invalid(path.Child("default").path, byDefault.String(), "must not be less than the minimum "+r.Min.String()))
		}
		if r.Max != nil {
			v.atMost(byDefault, r.Max, "the maximum", path.Child("default"))
		}
	}
	if r.Step == nil {
		return
	}
	if r.Step.Sign() <= 0 {
		v.refuse(field.Invalid(path.Child("step").path, r.Step.String(), "must be greater than zero"))
		return
	}
	first := r.Min.DeepCopy()
	first.Add(*r.Step)
	v.atMost(&first, &c.Value, "the capacity", path.Child("step"))
	for _, value := range []*resource.Quantity{byDefault, r.Max} {
		if value != nil {
			checkOnStep(v, value, r, path.Child("step"))
		}
	}
}

func (v *validator) atMost(value, limit *resource.Quantity, what string, path place) {
	if value.Cmp(*limit) > 0 {
		v.refuse(field.Invalid(path.path, value.String(), fmt.Sprintf("must not be more than %s %s", what, limit.String())))
	}
}

// checkOnStep checks that a value lies a whole number of steps above the minimum. Like the API server it
// counts in thousandths when one of the numbers is a fraction, and in whole numbers otherwise.
func checkOnStep(v *validator, value *resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, path place) {
	numbers := []*resource.Quantity{value, r.Min, r.Step}
	unit := resource.Scale(0)
	for _, q := range append(numbers, r.Max) {
		if q != nil && isFraction(q) {
			unit = resource.Milli
		}
	}
	var scaled [3]int64
	for i, q := range numbers {
		scaled[i] = q.ScaledValue(unit)
		if q.Sign() < 0 || q.Cmp(*resource.NewScaledQuantity(math.MaxInt64, unit)) > 0 ||
			q.Cmp(*resource.NewScaledQuantity(scaled[i], unit)) != 0 {
			v.refuse(field.Invalid(path.path, q.String(), "too large, negative or too fine to count steps"))
			return
		}
	}
	if (scaled[0]-scaled[1])%scaled[2] != 0 {
		v.refuse(field.Invalid(path.path, value.String(), fmt.Sprintf("must be a whole number of steps of %s above the minimum %s", r.Step.String(), r.Min.String())))
	}
}

// isFraction reports whether a quantity is not a whole number.
func isFraction(q *resource.Quantity) bool {
	return q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) != 0 && q.CmpInt64(math.MaxInt64) <= 0
}

// checkAllocatableResources checks how a device stands for resources of the node, such as cpu.
func checkAllocatableResources(v *validator, device *resourcev1.Device, path place) {
	for _, name := range slices.Sorted(maps.Keys(device.NodeAllocatableResources)) {
		r, at := device.NodeAllocatableResources[name], path.Key(string(name))
		if r.Mapping == nil && r.Overhead == nil {
			v.refuse(field.Required(at.path, "one of mapping and overhead must be set"))
		}
		if m := r.Mapping; m != nil {
			if (m.CapacityKey == nil) != (m.CapacityMultiplier == nil) {
				v.refuse(field.Required(at.Child("mapping").path, "capacityKey and capacityMultiplier need each other"))
			}
			if m.CapacityKey != nil {
				if _, ok := device.Capacity[*m.CapacityKey]; !ok {
					v.refuse(field.NotFound(at.Child("mapping", "capacityKey").path, string(*m.CapacityKey)))
				}
			}
		}
		if o := r.Overhead; o != nil && o.PerPod == nil && o.PerContainer == nil {
			v.refuse(field.Required(at.Child("overhead").path, "one of perPod and perContainer must be set"))
		}
	}
}
