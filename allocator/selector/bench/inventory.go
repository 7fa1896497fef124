package bench

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// Inventory says which domains, attributes and capacities some devices have. It is built once and not
// changed.
type Inventory struct {
	// Drivers counts devices by driver.
	Drivers map[string]int
	fields  map[selector.Field]*FieldInfo
}

// maxValues is how many different values of a field are remembered.
const maxValues = 64

// FieldInfo is what the devices have in one field.
type FieldInfo struct {
	Field selector.Field
	// Devices counts those that have the field, by driver.
	Devices map[string]int
	// Types counts them by type: string, int, bool, version, quantity, or a list of one of the first
	// four, as "list of strings".
	Types map[string]int
	// Values counts devices by value in CEL's notation; More is set when there are further values.
	Values map[string]int
	More   bool
}

// Total is the number of devices that have the field.
func (f *FieldInfo) Total() int {
	n := 0
	for _, devices := range f.Devices {
		n += devices
	}
	return n
}

// Type returns the one type that the field has on all devices, or "".
func (f *FieldInfo) Type() string {
	if len(f.Types) != 1 {
		return ""
	}
	for t := range f.Types {
		return t
	}
	return ""
}

// Common returns the values, the most frequent first, at most n.
func (f *FieldInfo) Common(n int) []string {
	values := slices.Sorted(maps.Keys(f.Values))
	slices.SortStableFunc(values, func(a, b string) int { return f.Values[b] - f.Values[a] })
	return values[:min(n, len(values))]
}

// NewInventory returns what devices have.
func NewInventory(subjects []Subject) *Inventory {
	inv := &Inventory{Drivers: map[string]int{}, fields: map[selector.Field]*FieldInfo{}}
	for _, s := range subjects {
		inv.Drivers[s.Driver]++
		for name := range s.Device.Attributes {
			a := s.Device.Attributes[name]
			inv.add(selector.FieldOf("attributes", s.Driver, name), s.Driver, typeOf(&a), func() string { return selector.FormatAttribute(&a) })
		}
		for name := range s.Device.Capacity {
			c := s.Device.Capacity[name]
			inv.add(selector.FieldOf("capacity", s.Driver, name), s.Driver, "quantity", c.Value.String)
		}
	}
	return inv
}

func (inv *Inventory) add(f selector.Field, driver, kind string, value func() string) {
	info := inv.fields[f]
	if info == nil {
		info = &FieldInfo{Field: f, Devices: map[string]int{}, Types: map[string]int{}, Values: map[string]int{}}
		inv.fields[f] = info
	}
	info.Devices[driver]++
	info.Types[kind]++
	if info.More {
		return
	}
	v := value()
	if _, known := info.Values[v]; !known && len(info.Values) == maxValues {
		info.More = true
		return
	}
	info.Values[v]++
}

func typeOf(a *resourcev1.DeviceAttribute) string {
	switch {
	case a.IntValues != nil:
		return "list of ints"
	case a.BoolValues != nil:
		return "list of bools"
	case a.StringValues != nil:
		return "list of strings"
	case a.VersionValues != nil:
		return "list of versions"
	case a.IntValue != nil:
		return "int"
	case a.BoolValue != nil:
		return "bool"
	case a.StringValue != nil:
		return "string"
	}
	return "version"
}

// Field returns what is known of a field, or nil when no device has it.
func (inv *Inventory) Field(f selector.Field) *FieldInfo { return inv.fields[f] }

// Fields returns all fields, sorted by kind, domain and name.
func (inv *Inventory) Fields() []*FieldInfo {
	return slices.SortedFunc(maps.Values(inv.fields), func(a, b *FieldInfo) int {
		return strings.Compare(a.Field.Kind+"\x00"+a.Field.Domain+"\x00"+a.Field.Name, b.Field.Kind+"\x00"+b.Field.Domain+"\x00"+b.Field.Name)
	})
}

// Domains returns the domains in which devices have fields of a kind, sorted; "" is any kind.
func (inv *Inventory) Domains(kind string) []string {
	set := map[string]bool{}
	for f := range inv.fields {
		if kind == "" || f.Kind == kind {
			set[f.Domain] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Names returns the names of fields in a domain, sorted.
func (inv *Inventory) Names(kind, domain string) []string {
	var names []string
	for f := range inv.fields {
		if f.Kind == kind && f.Domain == domain {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Named returns the fields of a name in whatever domain, sorted by kind and domain.
func (inv *Inventory) Named(name string) []selector.Field {
	var fields []selector.Field
	for f := range inv.fields {
		if strings.EqualFold(f.Name, name) {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b selector.Field) int { return strings.Compare(a.Expression(), b.Expression()) })
	return fields
}

// drivers returns the names of the drivers, sorted.
func (inv *Inventory) drivers() []string { return slices.Sorted(maps.Keys(inv.Drivers)) }

// FieldValue is a field with its value in CEL's notation.
type FieldValue struct {
	Field selector.Field
	Value string
}

// FieldValues returns the fields that a device has, sorted by kind, domain and name.
func FieldValues(s Subject) []FieldValue {
	one := NewInventory([]Subject{s})
	var out []FieldValue
	for _, info := range one.Fields() {
		value, _ := info.Field.Value(s.Driver, s.Device)
		out = append(out, FieldValue{info.Field, value})
	}
	return out
}
