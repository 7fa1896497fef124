package allocator

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What makes random problems meet the rules of 1.38: names of capacities in both forms, shares of devices
// that are no longer shared, values that cannot be read. It is added to a problem that is complete, so that
// the problems for other releases stay what they are.

// readingRelease are expressions about an attribute whose value may not be one that can be read.
var readingRelease = []string{
	`device.attributes["a.example.com"].release.isGreaterThan(semver("1.0.0"))`,
	`device.attributes["a.example.com"].?kind.orValue("x") == "x"`,
	`device.driver == "b.example.com" && device.attributes["b.example.com"].?numa.orValue(1) > 0`,
}

func (q *question) preview(d *dice) {
	names, unreadable, versions := d.chance(60), d.chance(8), d.chance(25)
	for _, slice := range q.objects.Slices {
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			if names {
				device.Capacity = renamed(d, device.Capacity, slice.Spec.Driver)
			}
			if unreadable && d.chance(40) {
				bad := pickOne(d, "99999999999999999999999.0.0", "1.0.0")
				device.Attributes = withAttribute(device.Attributes, "release", resourcev1.DeviceAttribute{VersionValue: &bad})
			}
			if versions && d.chance(80) {
				version := pickOne(d, "1.0.0", "1.0.0+b", "1.0.0+c", "1.0.1")
				device.Attributes = withAttribute(device.Attributes, "std.example.com/rack", resourcev1.DeviceAttribute{VersionValue: &version})
			}
			if q.sharedByClaims(slice, device) && d.chance(50) {
				device.AllowMultipleAllocations = nil
			}
		}
	}
	for _, claim := range q.objects.Claims {
		if claim.Status.Allocation == nil || !names {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			r.ConsumedCapacity = renamed(d, r.ConsumedCapacity, r.Driver)
		}
	}
	for i, claim := range q.pending {
		if slices.Contains(q.pending[:i], claim) {
			continue
		}
		for j := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[j]
			if exact := request.Exactly; exact != nil {
				previewRequest(d, names, unreadable, exact.Capacity, &exact.Selectors)
			}
			for k := range request.FirstAvailable {
				sub := &request.FirstAvailable[k]
				previewRequest(d, names, unreadable, sub.Capacity, &sub.Selectors)
			}
		}
	}
}

func previewRequest(d *dice, names, unreadable bool, capacity *resourcev1.CapacityRequirements, selectors *[]resourcev1.DeviceSelector) {
	if capacity != nil && names {
		capacity.Requests = renamed(d, capacity.Requests, pickOne(d, drivers...))
	}
	if capacity != nil && len(capacity.Requests) > 0 && d.chance(12) {
		capacity.Requests[slices.Sorted(mapKeys(capacity.Requests))[0]] = resource.MustParse("-1")
	}
	if unreadable && d.chance(40) {
		*selectors = append(*selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: pickOne(d, readingRelease...)}})
	}
}

// renamed gives some names in a map the domain of a driver, or adds the name with it.
func renamed[V any](d *dice, m map[resourcev1.QualifiedName]V, driver string) map[resourcev1.QualifiedName]V {
	if len(m) == 0 {
		return m
	}
	out := map[resourcev1.QualifiedName]V{}
	var first *V
	for _, name := range slices.Sorted(mapKeys(m)) {
		value := m[name]
		if first == nil {
			first = &value
		}
		switch roll := d.n(20); {
		case roll < 12:
			out[name] = value
		case roll < 18:
			out[resourcev1.QualifiedName(driver)+"/"+name] = value
		default:
			out[name], out[resourcev1.QualifiedName(driver)+"/"+name] = *first, value
		}
	}
	return out
}

func mapKeys[V any](m map[resourcev1.QualifiedName]V) func(func(resourcev1.QualifiedName) bool) {
	return func(yield func(resourcev1.QualifiedName) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

func withAttribute(m map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, name resourcev1.QualifiedName, a resourcev1.DeviceAttribute) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	if m == nil {
		m = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	}
	m[name] = a
	return m
}

// sharedByClaims reports whether an allocated claim has a share of a device.
func (q *question) sharedByClaims(slice *resourcev1.ResourceSlice, device *resourcev1.Device) bool {
	for _, claim := range q.objects.Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			if r.ShareID != nil && r.Driver == slice.Spec.Driver && r.Pool == slice.Spec.Pool.Name && r.Device == device.Name {
				return true
			}
		}
	}
	return false
}

// twoNames reports whether a request may ask for a capacity by both of its names: the scheduler
// then aborts, unless it comes to a capacity first that the device lacks.
func (q *question) twoNames() bool {
	both := func(c *resourcev1.CapacityRequirements) bool {
		if c == nil {
			return false
		}
		for name := range c.Requests {
			for _, driver := range drivers {
				if _, ok := c.Requests[resourcev1.QualifiedName(driver)+"/"+name]; ok {
					return true
				}
			}
		}
		return false
	}
	for _, claim := range q.pending {
		for i := range claim.Spec.Devices.Requests {
			for _, s := range specsOf(&claim.Spec.Devices.Requests[i]) {
				if both(s.capacity) {
					return true
				}
			}
		}
	}
	return false
}

// previewRules are the rules of 1.38, each with what turns it off.
var previewRules = map[string]func(*rules){
	"allIsLocal":       func(r *rules) { r.allIsLocal = false },
	"exactValues":      func(r *rules) { r.exactValues = false },
	"lazyAttributes":   func(r *rules) { r.lazyAttributes = false },
	"negativeRequests": func(r *rules) { r.negativeRequests = false },
	"oneCapacityName":  func(r *rules) { r.oneCapacityName = false },
	"sharesBlock":      func(r *rules) { r.sharesBlock = false },
}

// changed is a cluster with other rules.
func changed(q *question, change func(*rules)) *Cluster {
	c := newOurs(q, stepBudget)
	change(&c.rules)
	c.cel.Lazy = c.rules.lazyAttributes
	c.selectors = expressions.Cache(c.cel)
	return c
}
