// Package randomselector makes random selectors and random devices that know the same few names, so that
// selectors match, reject and fail often. It is for tests.
package randomselector

import (
	"fmt"
	"math/rand/v2"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// Generator makes selectors and devices.
type Generator struct {
	*rand.Rand
	// Clean devices have no values that cannot be converted.
	Clean bool
}

// New returns a generator that makes the same for the same seed.
func New(seed, stream uint64, clean bool) Generator {
	return Generator{rand.New(rand.NewPCG(seed, stream)), clean}
}

// Pick returns one of some texts.
func (g Generator) Pick(of ...string) string { return of[g.IntN(len(of))] }

// Domain returns a domain.
func (g Generator) Domain() string {
	return g.Pick("gpu.example.com", "gpu.example.com", "nic.example.com", "x.org")
}

func (g Generator) attribute() string {
	domain, name := g.Domain(), g.Pick("model", "model", "index", "version", "big", "tags", "gone")
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("device.attributes[%q].?%s.orValue(%s)", domain, name, g.literal())
	case 1:
		return fmt.Sprintf("device.attributes[%q][%q]", domain, name)
	}
	return fmt.Sprintf("device.attributes[%q].%s", domain, name)
}

func (g Generator) literal() string {
	return g.Pick(`"A100"`, `"H100"`, "1", "2", "true", "false", `semver("1.2.3")`, `["a"]`, `"a"`, "1.5")
}

// Boolean returns an expression that gives a boolean, or at least an attribute that may be one.
func (g Generator) Boolean(depth int) string {
	if depth > 0 {
		switch g.IntN(7) {
		case 0, 1:
			return g.Boolean(depth-1) + " && " + g.Boolean(depth-1)
		case 2:
			return "(" + g.Boolean(depth-1) + " || " + g.Boolean(depth-1) + ")"
		case 3:
			return "!(" + g.Boolean(depth-1) + ")"
		case 4:
			return "(" + g.Boolean(depth-1) + " ? " + g.Boolean(depth-1) + " : " + g.Boolean(depth-1) + ")"
		}
	}
	return g.Leaf()
}

// Leaf returns an expression without && and the like.
func (g Generator) Leaf() string {
	switch g.IntN(12) {
	case 0:
		return `device.driver == "gpu.example.com"`
	case 1:
		return fmt.Sprintf("has(device.attributes[%q].%s)", g.Domain(), g.Pick("model", "index", "tags", "gone"))
	case 2:
		return fmt.Sprintf("%q in device.attributes[%q]", g.Pick("model", "gone", "version"), g.Domain())
	case 3:
		return fmt.Sprintf(`device.capacity[%q].memory.compareTo(quantity("%s")) %s 0`, g.Domain(), g.Pick("40Gi", "80Gi"), g.Pick(">=", "==", "<"))
	case 4:
		return g.attribute() + `.isGreaterThan(semver("1.0.0"))`
	case 5:
		return g.attribute() + `.exists(v, v == ` + g.literal() + `)`
	case 6:
		return g.literal() + " in " + g.attribute()
	case 7:
		return "device.allowMultipleAllocations"
	case 8:
		return fmt.Sprintf("cel.bind(d, device.attributes[%q], d.model == %s && d.index > 0)", g.Domain(), g.literal())
	case 9:
		return g.attribute()
	case 10:
		return fmt.Sprintf("device.attributes[%q].exists(k, k.startsWith(%q))", g.Domain(), g.Pick("m", "z"))
	}
	return g.attribute() + " " + g.Pick("==", "!=", "<", ">=") + " " + g.literal()
}

// Device returns a device with a number in its name, and its driver.
func (g Generator) Device(n int) (driver string, device *resourcev1.Device) {
	driver = g.Pick("gpu.example.com", "gpu.example.com", "nic.example.com")
	device = &resourcev1.Device{Name: fmt.Sprintf("dev-%d", n)}
	names := []string{"model", "index", "version", "big", "tags"}
	device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	for _, name := range names {
		if g.IntN(4) == 0 {
			continue
		}
		qualified := resourcev1.QualifiedName(g.Pick("", "", "x.org/", "gpu.example.com/") + name)
		device.Attributes[qualified] = g.value(name)
	}
	if g.IntN(3) > 0 {
		device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(g.Pick("40Gi", "40960Mi", "80Gi", "0.5"))}}
	}
	if g.IntN(3) == 0 {
		device.AllowMultipleAllocations = ptr.To(g.IntN(2) == 0)
	}
	return driver, device
}

func (g Generator) value(name string) resourcev1.DeviceAttribute {
	switch {
	case g.Clean:
	case g.IntN(40) == 0:
		return resourcev1.DeviceAttribute{VersionValue: ptr.To("no version")}
	case g.IntN(40) == 0:
		return resourcev1.DeviceAttribute{}
	}
	switch name {
	case "index":
		return resourcev1.DeviceAttribute{IntValue: ptr.To(g.Int64N(3))}
	case "version":
		return resourcev1.DeviceAttribute{VersionValue: ptr.To(g.Pick("1.2.3", "0.9.0"))}
	case "big":
		return resourcev1.DeviceAttribute{BoolValue: ptr.To(g.IntN(2) == 0)}
	case "tags":
		return resourcev1.DeviceAttribute{StringValues: strings.Split(g.Pick("a", "a b", "b"), " ")}
	}
	return resourcev1.DeviceAttribute{StringValue: ptr.To(g.Pick("A100", "H100"))}
}
