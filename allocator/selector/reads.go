package selector

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/common/ast"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Field is something of a device that an expression can read.
type Field struct {
	// Kind is "attributes" or "capacity".
	Kind   string
	Domain string
	// Name is the attribute or capacity; "" stands for all of the domain.
	Name string
}

// Expression returns how CEL reads the field, as device.attributes["gpu.example.com"].model.
func (f Field) Expression() string {
	base := "device." + f.Kind + "[" + Quote(f.Domain) + "]"
	switch {
	case f.Name == "":
		return base
	case IsIdentifier(f.Name):
		return base + "." + f.Name
	}
	return base + "[" + Quote(f.Name) + "]"
}

// FieldOf returns the field of an attribute or capacity that a driver publishes under a name.
func FieldOf(kind, driver string, name resourcev1.QualifiedName) Field {
	if domain, id, qualified := strings.Cut(string(name), "/"); qualified {
		return Field{Kind: kind, Domain: domain, Name: id}
	}
	return Field{Kind: kind, Domain: driver, Name: string(name)}
}

// Reads says what of a device an expression reads: two devices of one driver that agree in all of it get
// the same result.
type Reads struct {
	Fields []Field
	// Everything says that what is read cannot be told from the expression, so it may be anything.
	Everything bool
}

// Reads returns what the expression reads. An expression that does not compile reads nothing.
func (p *Program) Reads() Reads {
	p.readsOnce.Do(func() {
		if p.CompileError() != nil {
			return
		}
		if term := p.term.Load(); term != nil {
			p.reads.collect(term.Expr)
			return
		}
		_, parsed := p.parse()
		if parsed == nil {
			p.reads.Everything = true
			return
		}
		p.reads.collect(parsed.Expr())
	})
	return p.reads
}

// collect walks down to the longest constant paths into the device. A path that ends early, such as
// device.attributes in a comprehension, reads all that is below it.
func (r *Reads) collect(e ast.Expr) {
	if r.Everything {
		return
	}
	if f, ok := KeyTest(e); ok {
		r.add([]string{f.Kind, f.Domain, f.Name})
		return
	}
	if path := Path(e); path != nil {
		r.add(path)
		return
	}
	for _, child := range Children(e) {
		r.collect(child)
	}
}

func (r *Reads) add(path []string) {
	if len(path) >= 1 && (path[0] == "driver" || path[0] == "allowMultipleAllocations") {
		return // always compared
	}
	if len(path) < 2 || path[0] != "attributes" && path[0] != "capacity" {
		r.Everything, r.Fields = true, nil
		return
	}
	f := Field{Kind: path[0], Domain: path[1]}
	if len(path) > 2 {
		f.Name = path[2]
	}
	if !slices.Contains(r.Fields, f) {
		r.Fields = append(r.Fields, f)
	}
}

// Append writes what the fields of a device are, so that equal bytes mean equal results. Devices of
// different drivers must not be compared by it.
func (r *Reads) Append(buf []byte, driver string, device *resourcev1.Device) []byte {
	if r.Everything {
		return appendAll(buf, device)
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		switch {
		case f.Name == "":
			buf = appendDomain(buf, f, driver, device)
		case f.Kind == "attributes":
			if a, ok := find(device.Attributes, f, driver); ok {
				buf = AppendAttribute(buf, &a)
			}
		default:
			if c, ok := find(device.Capacity, f, driver); ok {
				buf = AppendQuantity(buf, &c.Value)
			}
		}
		buf = append(buf, 0)
	}
	return buf
}

// Value returns the value of the field on a device in CEL's notation, and whether the device has the field.
func (f Field) Value(driver string, device *resourcev1.Device) (value string, ok bool) {
	if f.Kind == "capacity" {
		c, ok := find(device.Capacity, &f, driver)
		if !ok {
			return "", false
		}
		return c.Value.String(), true
	}
	a, ok := find(device.Attributes, &f, driver)
	return FormatAttribute(&a), ok
}

// find looks up a field; a qualified name hides a bare one.
func find[V any](m map[resourcev1.QualifiedName]V, f *Field, driver string) (V, bool) {
	if f.Domain == driver {
		if len(m) == 0 {
			var zero V
			return zero, false
		}
		// Most drivers publish bare names, so that is looked up first; the qualified one would win.
		bare, ok := m[resourcev1.QualifiedName(f.Name)]
		if q, both := m[resourcev1.QualifiedName(driver+"/"+f.Name)]; both {
			return q, true
		}
		return bare, ok
	}
	v, ok := m[resourcev1.QualifiedName(f.Domain+"/"+f.Name)]
	return v, ok
}

// AppendAttribute writes an attribute so that equal bytes mean equal type and value. What it writes is
// never the beginning of something else that it writes.
func AppendAttribute(buf []byte, a *resourcev1.DeviceAttribute) []byte {
	switch {
	case a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil || a.VersionValues != nil:
		buf = AppendString(append(buf, 'l'), FormatAttribute(a))
	case a.IntValue != nil:
		buf = strconv.AppendInt(append(buf, 'i'), *a.IntValue, 10)
	case a.BoolValue != nil:
		buf = strconv.AppendBool(append(buf, 'b'), *a.BoolValue)
	case a.StringValue != nil:
		buf = AppendString(append(buf, 's'), *a.StringValue)
	case a.VersionValue != nil:
		buf = AppendString(append(buf, 'v'), *a.VersionValue)
	default:
		buf = append(buf, '?')
	}
	return append(buf, 0)
}

// AppendString writes a text so that what it writes is never the beginning of something else that it writes.
func AppendString(buf []byte, s string) []byte {
	buf = strconv.AppendInt(buf, int64(len(s)), 10)
	buf = append(buf, ':')
	return append(buf, s...)
}

// AppendQuantity writes a quantity so that equal bytes mean equal numbers. What it writes is never the
// beginning of something else that it writes.
func AppendQuantity(buf []byte, q *resource.Quantity) []byte {
	if v, ok := q.AsInt64(); ok {
		return append(strconv.AppendInt(append(buf, 'q'), v, 10), 0)
	}
	precise := q.DeepCopy()
	return append(append(append(buf, 'Q'), precise.AsDec().String()...), 0)
}

// appendDomain writes all fields of a domain, in the order of their names.
func appendDomain(buf []byte, f *Field, driver string, device *resourcev1.Device) []byte {
	in := func(name resourcev1.QualifiedName) bool {
		domain, _, qualified := strings.Cut(string(name), "/")
		return qualified && domain == f.Domain || !qualified && f.Domain == driver
	}
	if f.Kind == "attributes" {
		return appendAttributes(buf, device, in)
	}
	return appendCapacities(buf, device, in)
}

// appendAll writes everything of a device that an expression can read.
func appendAll(buf []byte, device *resourcev1.Device) []byte {
	all := func(resourcev1.QualifiedName) bool { return true }
	return appendCapacities(appendAttributes(buf, device, all), device, all)
}

func appendAttributes(buf []byte, device *resourcev1.Device, in func(resourcev1.QualifiedName) bool) []byte {
	for _, name := range slices.Sorted(maps.Keys(device.Attributes)) {
		if in(name) {
			a := device.Attributes[name]
			buf = AppendAttribute(AppendString(buf, string(name)), &a)
		}
	}
	return buf
}

func appendCapacities(buf []byte, device *resourcev1.Device, in func(resourcev1.QualifiedName) bool) []byte {
	for _, name := range slices.Sorted(maps.Keys(device.Capacity)) {
		if in(name) {
			c := device.Capacity[name]
			buf = AppendQuantity(AppendString(buf, string(name)), &c.Value)
		}
	}
	return buf
}

// Convertible reports whether all attributes of a device can be converted for CEL. If not, every
// selector fails on it, whatever it reads.
func Convertible(device *resourcev1.Device) bool {
	for _, a := range device.Attributes {
		if !convertible(&a) {
			return false
		}
	}
	return true
}

func convertible(a *resourcev1.DeviceAttribute) bool {
	invalid := func(v string) bool { _, err := semver.Parse(v); return err != nil }
	switch {
	case a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil:
		return true
	case a.VersionValues != nil:
		return !slices.ContainsFunc(a.VersionValues, invalid)
	case a.IntValue != nil || a.BoolValue != nil || a.StringValue != nil:
		return true
	}
	return a.VersionValue != nil && !invalid(*a.VersionValue)
}
