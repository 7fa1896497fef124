package allocator

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Consumable capacity: how much of each capacity of a device a request takes.
//
// For every capacity of the device, requested or not: the requested amount, rounded up to what the
// device's request policy allows; without a request the policy's default; without that the whole
// capacity. Example: range min 2, step 3, max 8; a request for 3 takes 5, one for 9 is refused.
//
// The rules, including the arithmetic (whole units, or thousandths while DRAFractionalCapacityRange is
// on and the range allows it) and which faults abort the pod, are those of the scheduler's allocator.

var (
	errNotRepresentable = errors.New("the requested capacity cannot be represented in the range of the device")
	errNegativeAmount   = errors.New("the capacity is negative")
	errZeroStep         = errors.New("the step of the request policy is zero")
)

// consumption is the outcome for one request and one device, before anything else is taken from it.
type consumption struct {
	amounts map[resourcev1.QualifiedName]resource.Quantity
	// refused and name: the device does not do, on account of that capacity.
	refused Code
	name    resourcev1.QualifiedName
	// err aborts the pod.
	err error
}

// arithmetic is how amounts are computed.
type arithmetic struct {
	// thousandths says that ranges may be computed in thousandths.
	thousandths bool
	// lenient is rules.lenientCapacity, negative rules.negativeRequests, defaults rules.defaultsAllowed.
	lenient, negative, defaults bool
}

// wholeDevice is what a request takes that gets all of a device of which nobody else has a part. Nothing can
// run out then, so the amounts are left out: most devices are handed out like this.
var wholeDevice = &consumption{}

// takesWhole reports whether a request takes every capacity whole, without any that consume would refuse.
func takesWhole(request *resourcev1.CapacityRequirements, capacities map[resourcev1.QualifiedName]resourcev1.DeviceCapacity) bool {
	if request != nil && len(request.Requests) > 0 {
		return false
	}
	for _, capacity := range capacities {
		if capacity.RequestPolicy != nil || capacity.Value.Sign() < 0 {
			return false
		}
	}
	return true
}

// consume computes what a request takes from a device with the given capacities.
func consume(request *resourcev1.CapacityRequirements, capacities map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, how arithmetic) *consumption {
	c := &consumption{}
	var wanted map[resourcev1.QualifiedName]resource.Quantity
	if request != nil {
		wanted = request.Requests
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if _, ok := capacities[name]; !ok {
			c.refused, c.name = CapacityInsufficient, name
			return c
		}
	}
	if len(capacities) == 0 {
		return c
	}
	names := slices.Sorted(maps.Keys(capacities))
	c.amounts = make(map[resourcev1.QualifiedName]resource.Quantity, len(capacities))
	for _, name := range names {
		capacity := capacities[name]
		amount, err := amountOf(wanted, name, &capacity, how)
		if err == nil && amount.Sign() < 0 && !how.lenient {
			err = errNegativeAmount
		}
		if err != nil {
			c.err = fmt.Errorf("capacity %q: %w", name, err)
			return c
		}
		c.amounts[name] = amount
	}
	for _, name := range names {
		violated, err := violates(c.amounts[name], capacities[name].RequestPolicy, how.thousandths)
		if err != nil {
			c.err = fmt.Errorf("capacity %q: %w", name, err)
			return c
		}
		if violated && c.refused == "" {
			c.refused, c.name = CapacityPolicyViolated, name
		}
	}
	return c
}

// key is the same for equal amounts.
func (c *consumption) key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.amounts)) {
		q := c.amounts[name].DeepCopy()
		fmt.Fprintf(&b, "%q %s,", name, q.AsDec().String())
	}
	return b.String()
}

// exceeds returns the name of a capacity that does not suffice, or "".
func (c *consumption) exceeds(capacities map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, taken ...map[resourcev1.QualifiedName]resource.Quantity) resourcev1.QualifiedName {
	exceeded := resourcev1.QualifiedName("")
	for name, amount := range c.amounts {
		sum := amount.DeepCopy()
		for _, t := range taken {
			if q, ok := t[name]; ok {
				sum.Add(q)
			}
		}
		if sum.Cmp(capacities[name].Value) > 0 && (exceeded == "" || name < exceeded) {
			exceeded = name
		}
	}
	return exceeded
}

func amountOf(wanted map[resourcev1.QualifiedName]resource.Quantity, name resourcev1.QualifiedName, capacity *resourcev1.DeviceCapacity, how arithmetic) (resource.Quantity, error) {
	policy := capacity.RequestPolicy
	request, ok := wanted[name]
	switch {
	case !ok && policy != nil && policy.Default != nil && how.defaults:
		return *policy.Default, nil // not copied, so that it is the same representation: see violates
	case !ok && policy != nil && policy.Default != nil:
		return policy.Default.DeepCopy(), nil
	case !ok:
		return capacity.Value.DeepCopy(), nil
	case how.negative && request.Sign() < 0:
		return request, errNegativeAmount
	case policy == nil:
		return request.DeepCopy(), nil
	case policy.ValidRange != nil && policy.ValidRange.Min != nil:
		return roundToRange(request, policy.ValidRange, how)
	}
	for _, valid := range policy.ValidValues {
		if request.Cmp(valid) <= 0 {
			return valid.DeepCopy(), nil
		}
	}
	return request, nil
}

// roundToRange rounds up to the next step from the minimum.
func roundToRange(request resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, how arithmetic) (resource.Quantity, error) {
	if request.Cmp(*r.Min) < 0 {
		return r.Min.DeepCopy(), nil
	}
	if r.Step == nil {
		return request, nil
	}
	if inThousandths(r, how.thousandths) {
		milli, ok := thousandths(request)
		if !ok {
			return resource.Quantity{}, fmt.Errorf("%w: %s is not a whole number of thousandths", errNotRepresentable, request.String())
		}
		rounded, err := nextStep(milli, r.Min.MilliValue(), r.Step.MilliValue(), true)
		if err != nil {
			return resource.Quantity{}, fmt.Errorf("%w: %s", err, request.String())
		}
		if rounded%1000 == 0 {
			return *resource.NewQuantity(rounded/1000, r.Step.Format), nil
		}
		return *resource.NewMilliQuantity(rounded, r.Step.Format), nil
	}
	if how.lenient {
		rounded, err := nextStep(request.Value(), r.Min.Value(), r.Step.Value(), false)
		return *resource.NewQuantity(rounded, resource.BinarySI), err
	}
	if request.CmpInt64(math.MaxInt64) > 0 {
		return resource.Quantity{}, fmt.Errorf("%w: %s exceeds 2^63-1", errNotRepresentable, request.String())
	}
	// In whole units the scheduler does not guard a negative minimum, which the API refuses.
	rounded, err := nextStep(request.Value(), r.Min.Value(), r.Step.Value(), r.Min.Value() >= 0)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("%w: %s", err, request.String())
	}
	return *resource.NewQuantity(rounded, r.Step.Format), nil
}

func nextStep(request, least, step int64, guarded bool) (int64, error) {
	if step == 0 {
		return 0, errZeroStep
	}
	n := (request - least) / step
	if (request-least)%step != 0 {
		n++
	}
	if guarded && n > (math.MaxInt64-least)/step {
		return 0, errNotRepresentable
	}
	return least + step*n, nil
}

// violates reports whether an amount is not one that the policy allows.
func violates(amount resource.Quantity, policy *resourcev1.CapacityRequestPolicy, fractional bool) (bool, error) {
	// The scheduler compares the representations here, not the numbers: 1 and 1000m differ.
	if policy == nil || policy.Default != nil && amount == *policy.Default {
		return false, nil
	}
	if policy.ValidRange != nil {
		return outsideRange(amount, policy.ValidRange, fractional)
	}
	if len(policy.ValidValues) == 0 {
		return false, nil
	}
	return !slices.ContainsFunc(policy.ValidValues, func(valid resource.Quantity) bool { return amount.Cmp(valid) == 0 }), nil
}

func outsideRange(amount resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, fractional bool) (bool, error) {
	if r.Max != nil && amount.Cmp(*r.Max) > 0 {
		return true, nil
	}
	if r.Step == nil {
		return false, nil
	}
	var value, least, step int64
	if inThousandths(r, fractional) {
		milli, ok := thousandths(amount)
		if !ok {
			return true, nil
		}
		value, step = milli, r.Step.MilliValue()
		if r.Min != nil {
			least = r.Min.MilliValue()
		}
	} else {
		value, step = amount.Value(), r.Step.Value()
		if r.Min != nil {
			least = r.Min.Value()
		}
	}
	if step == 0 {
		return false, errZeroStep
	}
	return (value-least)%step != 0, nil
}

// inThousandths reports whether the range is computed in thousandths instead of whole units.
func inThousandths(r *resourcev1.CapacityRequestPolicyRange, fractional bool) bool {
	if !fractional {
		return false
	}
	for _, q := range []*resource.Quantity{r.Min, r.Max, r.Step} {
		if q == nil {
			continue
		}
		if _, ok := thousandths(*q); !ok {
			return false
		}
	}
	return r.Step == nil || r.Step.MilliValue() >= 1
}

// thousandths returns the quantity in thousandths, if it is a whole number of them.
func thousandths(q resource.Quantity) (int64, bool) {
	milli := q.MilliValue()
	return milli, q.Cmp(*resource.NewMilliQuantity(milli, q.Format)) == 0
}
