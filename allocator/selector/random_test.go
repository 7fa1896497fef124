package selector

import (
	"fmt"
	"math/rand/v2"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// generator makes random selectors and random devices that know the same few names, so that selectors
// match, reject and fail often.
type generator struct {
	*rand.Rand
	// clean devices have no values that cannot be converted.
	clean bool
}

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g generator) domain() string {
	return g.pick("gpu.example.com", "gpu.example.com", "nic.example.com", "x.org")
}

func (g generator) attribute() string {
	domain, name := g.domain(), g.pick("model", "model", "index", "version", "big", "tags", "gone")
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("device.attributes[%q].?%s.orValue(%s)", domain, name, g.literal())
	case 1:
		return fmt.Sprintf("device.attributes[%q][%q]", domain, name)
	}
	return fmt.Sprintf("device.attributes[%q].%s", domain, name)
}

func (g generator) literal() string {
	return g.pick(`"A100"`, `"H100"`, "1", "2", "true", "false", `semver("1.2.3")`, `["a"]`, `"a"`, "1.5")
}

// boolean returns an expression that gives a boolean, or at least an attribute that may be one.
func (g generator) boolean(depth int) string {
	if depth > 0 {
		switch g.IntN(7) {
		case 0, 1:
			return g.boolean(depth-1) + " && " + g.boolean(depth-1)
		case 2:
			return "(" + g.boolean(depth-1) + " || " + g.boolean(depth-1) + ")"
		case 3:
			return "!(" + g.boolean(depth-1) + ")"
		case 4:
			return "(" + g.boolean(depth-1) + " ? " + g.boolean(depth-1) + " : " + g.boolean(depth-1) + ")"
		}
	}
	return g.leaf()
}

func (g generator) leaf() string {
	switch g.IntN(12) {
	case 0:
		return `device.driver == "gpu.example.com"`
	case 1:
		return fmt.Sprintf("has(device.attributes[%q].%s)", g.domain(), g.pick("model", "index", "tags", "gone"))
	case 2:
		return fmt.Sprintf("%q in device.attributes[%q]", g.pick("model", "gone", "version"), g.domain())
	case 3:
		return fmt.Sprintf(`device.capacity[%q].memory.compareTo(quantity("%s")) %s 0`, g.domain(), g.pick("40Gi", "80Gi"), g.pick(">=", "==", "<"))
	case 4:
		return g.attribute() + `.isGreaterThan(semver("1.0.0"))`
	case 5:
		return g.attribute() + `.exists(v, v == ` + g.literal() + `)`
	case 6:
		return g.literal() + " in " + g.attribute()
	case 7:
		return "device.allowMultipleAllocations"
	case 8:
		return fmt.Sprintf("cel.bind(d, device.attributes[%q], d.model == %s && d.index > 0)", g.domain(), g.literal())
	case 9:
		return g.attribute()
	case 10:
		return fmt.Sprintf("device.attributes[%q].exists(k, k.startsWith(%q))", g.domain(), g.pick("m", "z"))
	}
	return g.attribute() + " " + g.pick("==", "!=", "<", ">=") + " " + g.literal()
}

func (g generator) subject(n int) Subject {
	s := Subject{Driver: g.pick("gpu.example.com", "gpu.example.com", "nic.example.com"), Device: &resourcev1.Device{Name: fmt.Sprintf("dev-%d", n)}}
	names := []string{"model", "index", "version", "big", "tags"}
	s.Device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	for _, name := range names {
		if g.IntN(4) == 0 {
			continue
		}
		qualified := resourcev1.QualifiedName(g.pick("", "", "x.org/", "gpu.example.com/") + name)
		s.Device.Attributes[qualified] = g.value(name)
	}
	if g.IntN(3) > 0 {
		s.Device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(g.pick("40Gi", "40960Mi", "80Gi", "0.5"))}}
	}
	if g.IntN(3) == 0 {
		s.Device.AllowMultipleAllocations = ptr.To(g.IntN(2) == 0)
	}
	return s
}

func (g generator) value(name string) resourcev1.DeviceAttribute {
	switch {
	case g.clean:
	case g.IntN(40) == 0:
		return resourcev1.DeviceAttribute{VersionValue: ptr.To("no version")}
	case g.IntN(40) == 0:
		return resourcev1.DeviceAttribute{}
	}
	switch name {
	case "index":
		return resourcev1.DeviceAttribute{IntValue: ptr.To(g.Int64N(3))}
	case "version":
		return resourcev1.DeviceAttribute{VersionValue: ptr.To(g.pick("1.2.3", "0.9.0"))}
	case "big":
		return resourcev1.DeviceAttribute{BoolValue: ptr.To(g.IntN(2) == 0)}
	case "tags":
		return resourcev1.DeviceAttribute{StringValues: strings.Split(g.pick("a", "a b", "b"), " ")}
	}
	return resourcev1.DeviceAttribute{StringValue: ptr.To(g.pick("A100", "H100"))}
}
