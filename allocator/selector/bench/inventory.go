package bench

import (
	"cmp"
	"fmt"
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
	// Devices counts those that have the field.
	Devices int
	// Type is string, int, bool, version, quantity, or a list of one of the first four, as "list of strings".
	// It is "" if the devices do not agree.
	Type string
	// Values counts devices by value in CEL's notation, for at most maxValues values.
	Values map[string]int
}

// Common returns the values, the most frequent first, at most n.
func (f *FieldInfo) Common(n int) []string {
	values := slices.Sorted(maps.Keys(f.Values))
	slices.SortStableFunc(values, func(a, b string) int { return f.Values[b] - f.Values[a] })
	return values[:min(n, len(values))]
}

// Describe says the type of the field, on how many devices it is, and its most frequent values.
func (f *FieldInfo) Describe() string {
	const some = 3
	text := fmt.Sprintf("%s on %s: %s", cmp.Or(f.Type, "of several types"), DeviceCount(f.Devices),
		strings.Join(f.Common(some), ", "))
	if len(f.Values) > some {
		text += ", …"
	}
	return text
}

// NewInventory returns what devices have.
func NewInventory(subjects []Subject) *Inventory {
	inv := &Inventory{Drivers: map[string]int{}, fields: map[selector.Field]*FieldInfo{}}
	for _, s := range subjects {
		inv.Drivers[s.Driver]++
		for name := range s.Device.Attributes {
			a := s.Device.Attributes[name]
			inv.add(selector.FieldOf("attributes", s.Driver, name), typeOf(&a), selector.FormatAttribute(&a))
		}
		for name := range s.Device.Capacity {
			c := s.Device.Capacity[name]
			inv.add(selector.FieldOf("capacity", s.Driver, name), "quantity", c.Value.String())
		}
	}
	return inv
}

func (inv *Inventory) add(f selector.Field, kind, value string) {
	info := inv.fields[f]
	if info == nil {
		info = &FieldInfo{Field: f, Type: kind, Values: map[string]int{}}
		inv.fields[f] = info
	}
	info.Devices++
	if info.Type != kind {
		info.Type = ""
	}
	if _, known := info.Values[value]; known || len(info.Values) < maxValues {
		info.Values[value]++
	}
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

// Domains returns the domains in which devices have fields of a kind, sorted.
func (inv *Inventory) Domains(kind string) []string {
	set := map[string]bool{}
	for f := range inv.fields {
		if f.Kind == kind {
			set[f.Domain] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

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
