package allocator

import (
	"fmt"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// The generated classes and claims.

// Expressions by what they do. attrs stands for the attributes of the device's own driver.
var (
	matchingAll = []string{
		`true`, `device.driver.endsWith("example.com")`, `!("no.example.com" in device.attributes)`,
		`device.attributes["no.example.com"].?y.orValue("z") == "z"`,
	}
	matchingSome = []string{
		`device.driver == "a.example.com"`,
		`device.attributes[device.driver].?kind.orValue("none") == "x"`,
		`device.attributes[device.driver].?kind.orValue("x") != "x"`,
		`device.attributes[device.driver].?numa.orValue(0) < 2`,
		`cel.bind(attrs, device.attributes[device.driver], has(attrs.ready) && attrs.ready)`,
		`cel.bind(attrs, device.attributes[device.driver], has(attrs.version) && attrs.version.isGreaterThan(semver("1.0.0")))`,
		`cel.bind(attrs, device.attributes[device.driver], "links" in attrs)`,
		`cel.bind(caps, device.capacity[device.driver], has(caps.mem) && caps.mem.compareTo(quantity("4")) >= 0)`,
		`device.allowMultipleAllocations`,
		`!device.allowMultipleAllocations`,
	}
	matchingNone = []string{`false`, `device.driver == "no.example.com"`}
	failing      = []string{
		`device.attributes[device.driver].kind == "x"`,                   // on devices without it
		`device.attributes["a.example.com"].numa == 0`,                   // on those of the other driver
		`device.attributes[device.driver].ready`,                         // likewise
		`device.attributes[device.driver].?kind.orValue("x")`,            // gives no boolean
		`device.attributes[device.driver].?links.orValue(3).includes(1)`, // on some types
		`device.attributes[device.driver].?numa.orValue(1) / 0 == 1`,
		`device.capacity[device.driver].mem.isGreaterThan(quantity("1"))`,
		`?!`, `1`, `device.serial == "x"`,
	}
	derivations = []string{
		`device.driver`,
		`device.attributes[device.driver].?kind.orValue("none")`,
		`device.attributes[device.driver].?numa.orValue(7)`,
		`device.attributes[device.driver].?numa.orValue(0) > 0`,
		`[1, 2]`,
		`semver("1.0.0")`,
		`device.attributes[device.driver].numa`, // fails on some
		`device.serial`,                         // does not compile
		`quantity("1")`,                         // of a type that is no attribute
	}
)

func (g *generator) selector() resourcev1.DeviceSelector {
	expression := ""
	switch roll := g.n(100); {
	case g.shadowed:
		expression = pickOne(g.dice, matchingAll[:1]...)
	case roll < 50:
		expression = pickOne(g.dice, matchingAll...)
	case g.badSelectors && roll < 75:
		expression = pickOne(g.dice, failing...)
	case roll < 97:
		expression = pickOne(g.dice, matchingSome...)
	default:
		expression = pickOne(g.dice, matchingNone...)
	}
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

func (g *generator) config() resourcev1.DeviceConfiguration {
	return resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{
		Driver:     pickOne(g.dice, drivers...),
		Parameters: runtime.RawExtension{Raw: []byte(fmt.Sprintf(`{"n":%d}`, g.n(3)))},
	}}
}

func (g *generator) makeClasses() {
	for i := range 3 {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%d", i)}}
		if i > 0 && (g.selectors || g.badSelectors) {
			for range i {
				class.Spec.Selectors = append(class.Spec.Selectors, g.selector())
			}
		}
		if g.configs {
			for range g.n(3) {
				class.Spec.Config = append(class.Spec.Config, resourcev1.DeviceClassConfiguration{DeviceConfiguration: g.config()})
			}
		}
		g.q.objects.Classes = append(g.q.objects.Classes, class)
	}
}

// makeHolder makes a claim that is allocated already.
func (g *generator) makeHolder() {
	name := fmt.Sprintf("holder-%d", len(g.q.objects.Claims))
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name}}
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	for i := range 1 + g.n(2) {
		id := g.anyDevice()
		result := resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: id.Driver, Pool: id.Pool, Device: id.Device}
		if g.capacity && g.chance(70) || g.chance(5) {
			share := types.UID(fmt.Sprintf("%s-%d", name, i))
			result.ShareID = &share
			for _, c := range []resourcev1.QualifiedName{"mem", "cores"} {
				if g.chance(60) {
					if result.ConsumedCapacity == nil {
						result.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{}
					}
					result.ConsumedCapacity[c] = *quantity(pickOne(g.dice, "1", "2", "0", "500m", "4Gi"))
				}
			}
		}
		if g.chance(8) || g.admin && g.chance(25) {
			yes := g.chance(85)
			result.AdminAccess = &yes
		}
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, result)
	}
	g.q.objects.Claims = append(g.q.objects.Claims, claim)
}

func (g *generator) makeClaim() {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: fmt.Sprintf("claim-%d", len(g.q.pending)),
	}}
	if len(g.q.pending) > 0 && g.chance(3) {
		g.q.pending = append(g.q.pending, g.q.pending[0]) // a pod may name one claim twice
		return
	}
	spec := &claim.Spec.Devices
	requests := pickOne(g.dice, 1, 1, 1, 2, 2, 3)
	if g.chance(2) {
		requests = 0
	}
	for i := range requests {
		name := fmt.Sprintf("r%d", i)
		if g.malformed && i > 0 && g.chance(25) {
			name = "r0"
		}
		spec.Requests = append(spec.Requests, g.request(name))
	}
	if g.constraints && g.chance(80) {
		for range pickOne(g.dice, 1, 1, 2) {
			spec.Constraints = append(spec.Constraints, g.constraint(spec.Requests))
		}
	}
	if g.configs {
		for range g.n(3) {
			spec.Config = append(spec.Config, resourcev1.DeviceClaimConfiguration{
				Requests: g.requestNames(spec.Requests), DeviceConfiguration: g.config(),
			})
		}
	}
	g.q.pending = append(g.q.pending, claim)
	g.q.objects.Claims = append(g.q.objects.Claims, claim)
}

func (g *generator) request(name string) resourcev1.DeviceRequest {
	request := resourcev1.DeviceRequest{Name: name}
	if !g.prioritized || g.chance(40) {
		e := g.exact()
		request.Exactly = &e
		return request
	}
	for i := range 1 + g.n(3) {
		e := g.exact()
		request.FirstAvailable = append(request.FirstAvailable, resourcev1.DeviceSubRequest{
			Name: fmt.Sprintf("s%d", i), DeviceClassName: e.DeviceClassName, Selectors: e.Selectors,
			AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity,
			DerivedAttributes: e.DerivedAttributes,
		})
	}
	return request
}

func (g *generator) exact() resourcev1.ExactDeviceRequest {
	e := resourcev1.ExactDeviceRequest{
		DeviceClassName: pickOne(g.dice, "class-0", "class-0", "class-0", "class-1", "class-1", "class-2"),
		AllocationMode:  resourcev1.DeviceAllocationModeExactCount,
		Count:           int64(pickOne(g.dice, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4)),
	}
	if g.chance(2) {
		e.Count = 0
	}
	if g.all && g.chance(60) {
		e.AllocationMode, e.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	if g.limits && g.chance(60) {
		e.Count = int64(pickOne(g.dice, 16, 20, 32, 33, 500, math.MaxInt))
	}
	if (g.selectors || g.badSelectors) && g.chance(45) {
		for range pickOne(g.dice, 1, 1, 2) {
			e.Selectors = append(e.Selectors, g.selector())
		}
	}
	if g.taints {
		for range pickOne(g.dice, 0, 1, 1, 2) {
			e.Tolerations = append(e.Tolerations, g.toleration())
		}
	}
	if g.admin && g.chance(55) {
		yes := g.chance(80)
		e.AdminAccess = &yes
	}
	if g.capacity && g.chance(65) {
		e.Capacity = g.capacityRequest()
	}
	if g.derived && g.chance(60) {
		e.DerivedAttributes = g.derivedAttributes()
	}
	if g.malformed && g.chance(50) {
		switch g.n(5) {
		case 0, 1:
			e.DeviceClassName = "missing"
		case 2:
			e.DeviceClassName = ""
		case 3:
			e.AllocationMode = pickOne(g.dice, "", resourcev1.DeviceAllocationMode("Some"))
		case 4:
			e.Selectors = append(e.Selectors, resourcev1.DeviceSelector{})
		}
	}
	return e
}

func (g *generator) capacityRequest() *resourcev1.CapacityRequirements {
	c := &resourcev1.CapacityRequirements{}
	for _, name := range []resourcev1.QualifiedName{"mem", "cores"} {
		if g.chance(55) {
			if c.Requests == nil {
				c.Requests = map[resourcev1.QualifiedName]resource.Quantity{}
			}
			amount := pickOne(g.dice, "1", "2", "3", "1", "500m", "1500m", "250m", "9", "4Gi")
			if g.chance(8) {
				amount = pickOne(g.dice, "100u", "9223372036854775807", "9223372036854775808", "18446744073709551616", "9223372036854775", "8Ei", "0")
			}
			if g.absurd && g.chance(20) {
				amount = pickOne(g.dice, "-1", "1e30", "9223372036854775806")
			}
			c.Requests[name] = *quantity(amount)
		}
	}
	if g.chance(3) {
		c.Requests = map[resourcev1.QualifiedName]resource.Quantity{"unheard-of": *quantity("1")}
	}
	return c
}

func (g *generator) derivedAttributes() []resourcev1.DeviceDerivedAttribute {
	var out []resourcev1.DeviceDerivedAttribute
	for _, name := range []resourcev1.FullyQualifiedName{"std.example.com/rack", "a.example.com/kind"} {
		if g.chance(60) {
			out = append(out, resourcev1.DeviceDerivedAttribute{Name: name, Expression: pickOne(g.dice, derivations...)})
		}
	}
	return out
}

func (g *generator) constraint(requests []resourcev1.DeviceRequest) resourcev1.DeviceConstraint {
	c := resourcev1.DeviceConstraint{Requests: g.requestNames(requests)}
	name := resourcev1.FullyQualifiedName(pickOne(g.dice, "std.example.com/rack", "std.example.com/rack", "std.example.com/rack",
		"std.example.com/rack", "std.example.com/rack", "std.example.com/rack", "a.example.com/kind", "a.example.com/numa",
		"b.example.com/kind", "a.example.com/links", "a.example.com/ready", "a.example.com/version", "kind", "a.example.com/void"))
	if g.n(2) == 0 {
		c.MatchAttribute = &name
	} else {
		c.DistinctAttribute = &name
	}
	if g.malformed && g.chance(30) {
		c.MatchAttribute, c.DistinctAttribute = pickOne(g.dice, nil, &name), nil
		if c.MatchAttribute != nil {
			c.DistinctAttribute = &name
		}
	}
	return c
}

// requestNames names some requests: none (which means all), whole ones, subrequests, unknown ones.
func (g *generator) requestNames(requests []resourcev1.DeviceRequest) []string {
	if g.chance(40) {
		return pickOne(g.dice, nil, []string{})
	}
	var names []string
	for i := range requests {
		r := &requests[i]
		if g.chance(25) {
			continue
		}
		if len(r.FirstAvailable) == 0 || g.chance(40) {
			names = append(names, r.Name)
			continue
		}
		for j := range r.FirstAvailable {
			if g.chance(60) {
				names = append(names, r.Name+"/"+r.FirstAvailable[j].Name)
			}
		}
	}
	if g.chance(5) {
		names = append(names, pickOne(g.dice, "unknown", "r0/unknown", "s0"))
	}
	return names
}
