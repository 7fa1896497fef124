package selector

import (
	"cmp"
	"slices"
	"strings"
)

// Histogram says which values a field has on some devices.
type Histogram struct {
	Field Field
	// Devices is how many have the field, Missing how many do not.
	Devices, Missing int
	// Values are the most frequent values; Distinct is how many there are in all.
	Values   []ValueCount
	Distinct int
}

// ValueCount is a value in CEL's notation and how many devices have it.
type ValueCount struct {
	Value   string
	Devices int
}

// Warm reads all fields of all devices, so that later trials need not.
func (b *Bench) Warm() {
	var fields []Field
	for _, info := range b.Inventory().Fields() {
		fields = append(fields, info.Field)
	}
	b.columns.get(fields)
}

// Histograms returns what the devices that a trial matches have, field by field, sorted by kind, domain
// and name: of each field at most n values. Fields that none of them has are left out. The trial must be
// one of this bench, or of its first devices.
func (b *Bench) Histograms(t *Trial, n int) []Histogram {
	var matched []int
	for i := range t.Of {
		if t.OutcomeOf(i).Result == Match {
			matched = append(matched, i)
		}
	}
	infos := b.Inventory().Fields()
	fields := make([]Field, len(infos))
	for i := range infos {
		fields[i] = infos[i].Field
	}
	_, columns := b.columns.get(fields)
	var out []Histogram
	for i, f := range fields {
		if h := b.histogram(f, columns[i], matched, n); h.Devices > 0 {
			out = append(out, h)
		}
	}
	return out
}

// FieldValue is a field with its value in CEL's notation.
type FieldValue struct {
	Field Field
	Value string
}

// Values returns the fields that a device has, sorted by kind, domain and name.
func (b *Bench) Values(subject int) []FieldValue {
	s := &b.columns.subjects[subject]
	var out []FieldValue
	for name := range s.Device.Attributes {
		out = append(out, FieldValue{Field: fieldOf("attributes", s.Driver, name)})
	}
	for name := range s.Device.Capacity {
		out = append(out, FieldValue{Field: fieldOf("capacity", s.Driver, name)})
	}
	slices.SortFunc(out, func(a, b FieldValue) int {
		return cmp.Or(strings.Compare(a.Field.Kind, b.Field.Kind), strings.Compare(a.Field.Domain, b.Field.Domain), strings.Compare(a.Field.Name, b.Field.Name))
	})
	out = slices.CompactFunc(out, func(a, b FieldValue) bool { return a.Field == b.Field }) // bare and qualified
	for i := range out {
		out[i].Value = valueOf(out[i].Field, s)
	}
	return out
}

// histogram counts the values of a field. Numbers of a column stand for values, so only one device of each
// is looked at.
func (b *Bench) histogram(f Field, column []uint32, matched []int, n int) Histogram {
	type count struct{ first, devices int }
	var counts []count
	places := map[uint32]int{}
	for _, i := range matched {
		at, known := places[column[i]]
		if !known {
			at = len(counts)
			places[column[i]] = at
			counts = append(counts, count{first: i})
		}
		counts[at].devices++
	}
	h := Histogram{Field: f}
	for _, c := range counts {
		s := &b.columns.subjects[c.first]
		value := valueOf(f, s)
		if value == "" {
			h.Missing += c.devices
			continue
		}
		h.Devices += c.devices
		h.Values = append(h.Values, ValueCount{value, c.devices})
	}
	h.Distinct = len(h.Values)
	slices.SortFunc(h.Values, func(a, b ValueCount) int {
		if a.Devices != b.Devices {
			return b.Devices - a.Devices
		}
		return strings.Compare(a.Value, b.Value)
	})
	h.Values = h.Values[:min(n, len(h.Values))]
	return h
}

// valueOf is the value of a field on a device in CEL's notation, or "" when it has none.
func valueOf(f Field, s *Subject) string {
	if f.Kind == "attributes" {
		a, _ := find(s.Device.Attributes, &f, s.Driver)
		return FormatAttribute(&a)
	}
	if c, ok := find(s.Device.Capacity, &f, s.Driver); ok {
		return c.Value.String()
	}
	return ""
}
