package allocator

import (
	"errors"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	resourcev1 "k8s.io/api/resource/v1"
)

// attributeOf looks up the attribute of a constraint: an attribute that the request derives hides one
// of the device; a fully qualified name of the device comes next; and if the domain is that of the
// driver, the bare name. It returns nil if the device does not have it.
func (w *walk) attributeOf(a *alternative, candidate int, name resourcev1.FullyQualifiedName) (*resourcev1.DeviceAttribute, error) {
	c := &w.view.candidates[candidate]
	if w.view.cluster.rules.exactValues && !strings.Contains(string(name), "/") { // the API refuses that
		return nil, nil
	}
	if program, ok := a.derived[name]; ok {
		attribute, err := program.Attribute(w.ctx, c.id.Driver, c.device)
		if err != nil {
			abort := a.abort(SelectorError, "derived attribute %s: %w", name, err)
			abort.Device = c.id
			return nil, w.interrupted(abort)
		}
		return w.exact(a, candidate, name, attribute, true)
	}
	return w.exact(a, candidate, name, LookupAttribute(c.device, c.id.Driver, name), false)
}

// exact is an attribute as a constraint sees it; see rules.exactValues. Of several values, which the API
// refuses, it has the one that counts.
func (w *walk) exact(a *alternative, candidate int, name resourcev1.FullyQualifiedName, attribute *resourcev1.DeviceAttribute, derived bool) (*resourcev1.DeviceAttribute, error) {
	if attribute == nil || !w.view.cluster.rules.exactValues {
		return attribute, nil
	}
	out, list := &resourcev1.DeviceAttribute{}, false
	var err error
	switch {
	case attribute.IntValue != nil:
		out.IntValue = attribute.IntValue
	case attribute.BoolValue != nil:
		out.BoolValue = attribute.BoolValue
	case attribute.StringValue != nil:
		out.StringValue = attribute.StringValue
	case attribute.VersionValue != nil:
		var plain string
		plain, err = withoutBuild(*attribute.VersionValue)
		out.VersionValue = &plain
	default:
		list = true
		out.IntValues, out.BoolValues, out.StringValues = attribute.IntValues, attribute.BoolValues, attribute.StringValues
		for _, version := range attribute.VersionValues {
			plain, invalid := withoutBuild(version)
			out.VersionValues, err = append(out.VersionValues, plain), errors.Join(err, invalid)
		}
		if len(valuesOf(out)) == 0 && !derived { // an expression may derive an empty list
			err = errors.New("unsupported value")
		}
	}
	code := Malformed
	if err == nil && list && !w.view.cluster.features.ListTypeAttributes {
		code, err = FeatureDisabled, errors.New("it is a list, but the DRAListTypeAttributes feature is disabled")
	}
	if err != nil {
		abort := a.abort(code, "attribute %s: %w", name, err)
		abort.Device = w.view.candidates[candidate].id
		return nil, abort
	}
	return out, nil
}

// withoutBuild leaves the build metadata out of a version, which say nothing about its precedence.
func withoutBuild(version string) (string, error) {
	v, err := semver.Parse(version)
	v.Build = nil
	return v.String(), err
}

// LookupAttribute finds an attribute of a device by its fully qualified name, which also finds
// attributes that the device publishes without the domain of its driver. It returns nil if there is none.
func LookupAttribute(device *resourcev1.Device, driver string, name resourcev1.FullyQualifiedName) *resourcev1.DeviceAttribute {
	if attribute, ok := device.Attributes[resourcev1.QualifiedName(name)]; ok {
		return &attribute
	}
	domain, id, ok := strings.Cut(string(name), "/")
	if !ok || domain != driver {
		return nil
	}
	if attribute, ok := device.Attributes[resourcev1.QualifiedName(id)]; ok {
		return &attribute
	}
	return nil
}

// scalar is a single attribute value: a comparable key made of type and value. A list, or an attribute
// without a value, has no scalar.
type scalar struct {
	kind byte // 's'tring, 'i'nteger, 'b'oolean, 'v'ersion
	text string
	num  int64
}

// String makes a key of the value.
func (s scalar) String() string { return string(s.kind) + s.text + "/" + itoa(int(s.num)) }

func scalarOf(a *resourcev1.DeviceAttribute) (scalar, bool) {
	switch {
	case a.StringValue != nil:
		return scalar{kind: 's', text: *a.StringValue}, true
	case a.IntValue != nil:
		return scalar{kind: 'i', num: *a.IntValue}, true
	case a.BoolValue != nil:
		return scalar{kind: 'b', num: number(*a.BoolValue)}, true
	case a.VersionValue != nil:
		return scalar{kind: 'v', text: *a.VersionValue}, true
	}
	return scalar{}, false
}

// scalarKinds counts the types of which an attribute has a single value. More than one is refused by
// the API server, but not by the scheduler.
func scalarKinds(a *resourcev1.DeviceAttribute) int {
	n := 0
	for _, set := range []bool{a.StringValue != nil, a.IntValue != nil, a.BoolValue != nil, a.VersionValue != nil} {
		if set {
			n++
		}
	}
	return n
}

// unreadable returns the first attribute, by name, that has no single value, or "".
func unreadable(device *resourcev1.Device) resourcev1.QualifiedName {
	first := resourcev1.QualifiedName("")
	for name, a := range device.Attributes {
		if scalarKinds(&a) == 0 && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// valuesOf returns the set of values of an attribute, a scalar being a set of one. All are of one
// type. It is empty when the attribute has no value.
func valuesOf(a *resourcev1.DeviceAttribute) []scalar {
	var out []scalar
	switch {
	case len(a.IntValues) > 0:
		for _, v := range a.IntValues {
			out = append(out, scalar{kind: 'i', num: v})
		}
	case len(a.BoolValues) > 0:
		for _, v := range a.BoolValues {
			out = append(out, scalar{kind: 'b', num: number(v)})
		}
	case len(a.StringValues) > 0:
		for _, v := range a.StringValues {
			out = append(out, scalar{kind: 's', text: v})
		}
	case len(a.VersionValues) > 0:
		for _, v := range a.VersionValues {
			out = append(out, scalar{kind: 'v', text: v})
		}
	case a.IntValue != nil:
		return []scalar{{kind: 'i', num: *a.IntValue}}
	case a.BoolValue != nil:
		return []scalar{{kind: 'b', num: number(*a.BoolValue)}}
	default:
		if s, ok := scalarOf(a); ok {
			return []scalar{s}
		}
	}
	return out
}

// common returns the values that are in both sets.
func common(a, b []scalar) []scalar {
	var out []scalar
	for _, v := range a {
		if slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}
