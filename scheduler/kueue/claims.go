package kueue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/podrequests"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// mapping is for what the devices of a DeviceClass count.
type mapping struct {
	resource corev1.ResourceName
	// counters and capacities are the sources, if the Configuration has some.
	counters, capacities []source
}

type source struct {
	DeviceSource
	resource corev1.ResourceName
}

// countsBy is what is counted instead of devices, or "".
func (s *State) countsBy(m *mapping) string {
	switch {
	case len(m.counters) > 0 && s.config.gate("KueueDRAIntegrationPartitionableDevices"):
		return "counters configured"
	case len(m.capacities) > 0 && s.config.gate("KueueDRAIntegrationConsumableCapacity"):
		return "capacity sources configured"
	}
	return ""
}

func mappingsOf(all []DeviceClassMapping) map[string]*mapping {
	out := map[string]*mapping{}
	for i := range all {
		for _, class := range all[i].DeviceClasses {
			if out[class] == nil {
				out[class] = &mapping{resource: all[i].Resource}
			}
			for _, from := range all[i].Sources {
				if from.Counter != "" {
					out[class].counters = append(out[class].counters, source{from, all[i].Resource})
				}
				if from.Capacity != "" {
					out[class].capacities = append(out[class].capacities, source{from, all[i].Resource})
				}
			}
		}
	}
	return out
}

// claim is what a claim from a template counts for, or why it does not count.
type claim struct {
	requests corev1.ResourceList
	reasons  []Reason
}

// countTemplate is what a claim from a template counts for.
func (s *State) countTemplate(ref Ref) *claim {
	if known := s.known.claims[ref]; known != nil {
		return known
	}
	out := &claim{requests: corev1.ResourceList{}}
	s.known.claims[ref] = out
	template := s.templates[ref]
	if template == nil {
		out.reasons = []Reason{{Code: TemplateNotFound, Name: ref.Name, Message: fmt.Sprintf("failed to get claim spec for ResourceClaimTemplate %s", ref.Name)}}
		return out
	}
	requests := template.Spec.Spec.Devices.Requests
	if out.reasons = s.countDevices(requests, out.requests); len(out.reasons) > 0 {
		return out
	}
	for i := range requests {
		exactly := requests[i].Exactly
		m := s.mappings[exactly.DeviceClassName]
		if m == nil {
			continue
		}
		if s.config.gate("KueueDRAIntegrationPartitionableDevices") {
			for _, from := range m.counters {
				s.addSource(out, exactly, from, counterOf)
			}
		}
		if s.config.gate("KueueDRAIntegrationConsumableCapacity") {
			for _, from := range m.capacities {
				from.resource = m.resource
				s.addSource(out, exactly, from, capacityOf)
			}
		}
	}
	return out
}

// countDevices counts the devices of the requests that are counted as such.
func (s *State) countDevices(requests []resourcev1.DeviceRequest, to corev1.ResourceList) []Reason {
	devices := map[string]Amount{}
	for i := range requests {
		r := &requests[i]
		refuse := func(code Code, format string, values ...any) []Reason {
			return []Reason{{Code: code, Name: r.Name, Message: fmt.Sprintf("request %s: ", r.Name) + fmt.Sprintf(format, values...)}}
		}
		switch {
		case r.FirstAvailable != nil:
			return refuse(FirstAvailable, "FirstAvailable device selection is not supported")
		case r.Exactly == nil:
			return refuse(AllocationModeUnknown, "Exactly must be set if FirstAvailable is nil")
		}
		if why := s.compile(r.Exactly.Selectors); why != nil {
			return []Reason{*why}
		}
		switch {
		case r.Exactly.AdminAccess != nil && *r.Exactly.AdminAccess:
			return refuse(AdminAccess, "AdminAccess is not supported")
		case r.Exactly.AllocationMode == resourcev1.DeviceAllocationModeAll:
			return refuse(AllDevices, "AllocationMode 'All' is not supported")
		case r.Exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount:
			return refuse(AllocationModeUnknown, "unsupported allocation mode: %s", r.Exactly.AllocationMode)
		}
		if class := r.Exactly.DeviceClassName; class != "" {
			devices[class] = devices[class].Add(Amount(r.Exactly.Count))
		}
	}
	if why := s.enough(requests); len(why) > 0 {
		return why
	}
	for _, class := range slices.Sorted(maps.Keys(devices)) {
		m := s.mappings[class]
		if m == nil {
			return []Reason{{Code: UnmappedClass, Name: class, Message: fmt.Sprintf("DeviceClass %s is not mapped in DRA configuration", class)}}
		}
		if s.countsBy(m) == "" {
			podrequests.Add(to, m.resource, *resource.NewQuantity(int64(devices[class]), resource.DecimalSI))
		}
	}
	return nil
}

// compile says why one of the selectors does not compile, or nil.
func (s *State) compile(selectors []resourcev1.DeviceSelector) *Reason {
	for i := range selectors {
		if selectors[i].CEL == nil {
			continue
		}
		if err := s.cel.Selector(selectors[i].CEL.Expression).CompileError(); err != nil {
			return &Reason{Code: SelectorFails, Message: "CEL compilation failed: " + err.Error()}
		}
	}
	return nil
}

// device is a device with its driver.
type device struct {
	driver string
	*resourcev1.Device
}

// matches reports whether all selectors accept a device.
func (s *State) matches(selectors []resourcev1.DeviceSelector, d device) (bool, error) {
	for i := range selectors {
		if selectors[i].CEL == nil {
			continue
		}
		if ok, err := s.cel.Selector(selectors[i].CEL.Expression).Match(context.Background(), d.driver, d.Device); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func failed(err error) Reason {
	var unclear *selector.Unclear
	var exhausted *selector.Exhausted
	if errors.As(err, &unclear) || errors.As(err, &exhausted) {
		return Reason{Code: SelectorUndecided, Message: err.Error()}
	}
	return Reason{Code: SelectorFails, Message: "CEL evaluation failed: " + err.Error()}
}

// enough says which requests with selectors ask for more devices than the cluster has, allocated or not.
// Kueue takes the devices in no order for one request after the other, so requests that may take each other's
// devices are decided only where no order makes a difference.
func (s *State) enough(requests []resourcev1.DeviceRequest) []Reason {
	var reasons []Reason
	all, drivers := s.listed(requests)
	var earlier []taker
	for i := range requests {
		exactly := requests[i].Exactly
		if !slices.ContainsFunc(exactly.Selectors, func(d resourcev1.DeviceSelector) bool { return d.CEL != nil }) {
			continue
		}
		class := s.classes[exactly.DeviceClassName]
		if class == nil && exactly.DeviceClassName != "" {
			reasons = append(reasons, Reason{Code: ClassNotFound, Name: exactly.DeviceClassName, Message: fmt.Sprintf("failed to get DeviceClass %s", exactly.DeviceClassName)})
			continue
		}
		both := exactly.Selectors
		if class != nil {
			both = slices.Concat(class.Spec.Selectors, both)
		}
		if why := s.compile(both); why != nil {
			reasons = append(reasons, *why)
			continue
		}
		may, failure := s.accepted(both, all, drivers)
		count := Amount(exactly.Count)
		left, found := leftBy(earlier, may)
		earlier = append(earlier, taker{may, count})
		switch {
		case failure != nil && found < count:
			reasons = append(reasons, failed(failure))
		case failure != nil && count > 0, found >= count && left < count:
			reasons = append(reasons, Reason{Code: TieUndecided, Name: requests[i].Name, Message: "it depends on the order in which Kueue looks at devices"})
		case found < count:
			reasons = append(reasons, Reason{Code: TooFewDevices, Name: exactly.DeviceClassName, Needed: count - found, Message: fmt.Sprintf(
				"insufficient matching devices for CEL selector in DeviceClass %s: %d device(s) match in the cluster but %d requested",
				exactly.DeviceClassName, found, count)})
		}
	}
	return reasons
}

// taker is a request that takes some of the devices that it may have.
type taker struct {
	may   map[int]bool
	count Amount
}

// leftBy is how many of some devices are left at least and at most, whatever earlier requests take.
func leftBy(earlier []taker, may map[int]bool) (least, most Amount) {
	least, most = Amount(len(may)), Amount(len(may))
	for _, t := range earlier {
		var shared Amount
		for j := range t.may {
			if may[j] {
				shared++
			}
		}
		others := Amount(len(t.may)) - shared
		least -= min(shared, t.count)
		most -= max(0, min(t.count, Amount(len(t.may)))-others)
	}
	return least, most
}

// accepted are the devices that selectors accept, and the error of one on which they fail.
func (s *State) accepted(selectors []resourcev1.DeviceSelector, all bool, drivers map[string]bool) (map[int]bool, error) {
	may, failure := map[int]bool{}, error(nil)
	for j, d := range s.devices {
		if !all && !drivers[d.driver] {
			continue
		}
		ok, err := s.matches(selectors, d)
		if err != nil {
			failure = err
		} else if ok {
			may[j] = true
		}
	}
	return may, failure
}

// listed says of which drivers Kueue looks at the devices: of all, unless each request with a selector is for
// a class with sources.
func (s *State) listed(requests []resourcev1.DeviceRequest) (all bool, drivers map[string]bool) {
	drivers = map[string]bool{}
	for i := range requests {
		if len(requests[i].Exactly.Selectors) == 0 {
			continue
		}
		m := s.mappings[requests[i].Exactly.DeviceClassName]
		if m == nil || len(m.counters)+len(m.capacities) == 0 {
			return true, nil
		}
		for _, from := range slices.Concat(m.counters, m.capacities) {
			drivers[from.Driver] = true
		}
	}
	return false, drivers
}

// charge is how much one device counts for: ok is false if it does not have what is counted, and err says why
// it can give nothing to this request.
type charge func(from source, r *resourcev1.ExactDeviceRequest, d *resourcev1.Device) (q resource.Quantity, ok bool, err error)

// addSource counts a counter or a capacity: the largest amount of any device that the request may get, for
// each device that it asks for.
func (s *State) addSource(out *claim, r *resourcev1.ExactDeviceRequest, from source, of charge) {
	if len(out.reasons) > 0 {
		return
	}
	class := s.classes[r.DeviceClassName]
	if class == nil && r.DeviceClassName != "" {
		out.reasons = []Reason{{Code: ClassNotFound, Name: r.DeviceClassName, Message: fmt.Sprintf("failed to get DeviceClass %s", r.DeviceClassName)}}
		return
	}
	var selectors []resourcev1.DeviceSelector
	if from.Selector != "" {
		selectors = append(selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: from.Selector}})
	}
	if class != nil {
		selectors = append(selectors, class.Spec.Selectors...)
	}
	selectors = append(selectors, r.Selectors...)
	if why := s.compile(selectors); why != nil {
		out.reasons = []Reason{*why}
		return
	}
	var most *resource.Quantity
	var matched int64
	missing := true
	for _, d := range s.complete[from.Driver] {
		ok, err := s.matches(selectors, d)
		if err != nil {
			out.reasons = []Reason{failed(err)}
			return
		}
		if !ok {
			continue
		}
		matched++
		q, has, err := of(from, r, d.Device)
		missing = missing && !has
		if has && err == nil && (most == nil || q.Cmp(*most) > 0) {
			most = &q
		}
	}
	code, name := CounterMissing, from.Counter
	if from.Capacity != "" {
		code, name = CapacityMissing, from.Capacity
	}
	switch {
	case matched < r.Count:
		out.reasons = []Reason{{Code: TooFewDevices, Name: r.DeviceClassName, Needed: Amount(r.Count - matched), Message: fmt.Sprintf(
			"insufficient matching devices: %d device(s) match but %d requested", matched, r.Count)}}
	case missing:
		out.reasons = []Reason{{Code: code, Name: name, Message: fmt.Sprintf("matched devices have no %q", name)}}
	case most == nil:
		out.reasons = []Reason{{Code: CapacityUnsatisfiable, Name: name, Message: fmt.Sprintf(
			"capacity request cannot be satisfied by any matched device's RequestPolicy for dimension %q", name)}}
	default:
		amount := max(0, quota.RequestAmount("", *most))
		if r.Count > 1 {
			amount = amount.Times(r.Count)
		}
		podrequests.Add(out.requests, from.resource, *resource.NewQuantity(int64(amount), most.Format))
	}
}

// counterOf is how much of a counter a device consumes.
func counterOf(from source, _ *resourcev1.ExactDeviceRequest, d *resourcev1.Device) (most resource.Quantity, ok bool, err error) {
	for i := range d.ConsumesCounters {
		if c, has := d.ConsumesCounters[i].Counters[from.Counter]; has && (!ok || c.Value.Cmp(most) > 0) {
			most, ok = c.Value.DeepCopy(), true
		}
	}
	return most, ok, nil
}

var errPolicy = errors.New("no value of the device's policy is large enough")

// capacityOf is how much of a capacity of a device a request takes, rounded as the device says.
func capacityOf(from source, r *resourcev1.ExactDeviceRequest, d *resourcev1.Device) (resource.Quantity, bool, error) {
	name := resourcev1.QualifiedName(from.Capacity)
	capacity, ok := d.Capacity[name]
	if !ok {
		return resource.Quantity{}, false, nil
	}
	base, policy := capacity.Value.DeepCopy(), capacity.RequestPolicy
	if policy != nil && policy.Default != nil {
		base = policy.Default.DeepCopy()
	}
	if r.Capacity != nil {
		if q, asked := r.Capacity.Requests[name]; asked {
			base = q.DeepCopy()
		}
	}
	switch {
	case policy == nil:
	case len(policy.ValidValues) > 0:
		i := slices.IndexFunc(policy.ValidValues, func(v resource.Quantity) bool { return v.Cmp(base) >= 0 })
		if i < 0 {
			return base, true, errPolicy
		}
		base = policy.ValidValues[i].DeepCopy()
	case policy.ValidRange != nil:
		value, in := quota.RequestAmount("", base), policy.ValidRange
		if in.Min != nil {
			low := quota.RequestAmount("", *in.Min)
			value = max(value, low)
			if in.Step != nil {
				if step := quota.RequestAmount("", *in.Step); step > 0 && value.Sub(low)%step != 0 {
					value = low.Add((value.Sub(low)/step + 1).Times(int64(step)))
				}
			}
		}
		if in.Max != nil && value > quota.RequestAmount("", *in.Max) {
			return base, true, errPolicy
		}
		base = *resource.NewQuantity(int64(min(value, math.MaxInt64)), base.Format)
	}
	return base, true, nil
}
