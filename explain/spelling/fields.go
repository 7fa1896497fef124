package spelling

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

const (
	// maxBriefValue is the number of characters up to which a value is shown with its name. It lets models be
	// shown and identifiers not.
	maxBriefValue = 24
	// maxFieldDifference is how different the name of a field may be for it to be meant by another.
	maxFieldDifference = 1.0 / 3
)

// briefValue is the value of an attribute on a device. It is "" for a list, a long value, and a capacity.
func briefValue(f selector.Field, device *resourcev1.Device, driver string) string {
	if f.Kind != "attributes" {
		return ""
	}
	text, _ := requirement.ScalarText(allocator.LookupAttribute(device, driver, resourcev1.FullyQualifiedName(f.Domain+"/"+f.Name)))
	if utf8.RuneCountInString(text) > maxBriefValue {
		return ""
	}
	return text
}

// fieldsOfDevice lists all fields of a device, attributes first, sorted.
func fieldsOfDevice(device *resourcev1.Device, driver string) []selector.Field {
	var out []selector.Field
	for name := range device.Attributes {
		out = append(out, selector.FieldOf("attributes", driver, name))
	}
	for name := range device.Capacity {
		out = append(out, selector.FieldOf("capacity", driver, name))
	}
	slices.SortFunc(out, func(a, b selector.Field) int { return strings.Compare(a.Expression(), b.Expression()) })
	return out
}

// Respelling is a term that reads other fields.
type Respelling struct{ Term, Message string }

// RespellingOf makes a term read, instead of the fields that a device lacks, those of the device that were
// probably meant. The result is false if some device has a field of that name, which is no misspelling then,
// or if no field is similar enough.
func RespellingOf(q *whatif.Question, term string, lacks []string, id inspect.DeviceID, device *resourcev1.Device) (Respelling, bool) {
	out := Respelling{Term: term}
	var parts []string
	for _, text := range lacks {
		wanted, ok := selector.ParseField(text)
		if !ok || anyDeviceHas(q, wanted) {
			return out, false
		}
		similar, ok := mostSimilar(wanted, fieldsOfDevice(device, id.Driver))
		if !ok {
			return out, false
		}
		parts = append(parts, nameNextTo(similar, wanted)+" instead of "+nameNextTo(wanted, similar))
		out.Term = strings.ReplaceAll(out.Term, text, similar.Expression())
	}
	out.Message = "read " + strings.Join(parts, " and ")
	return out, out.Term != term
}

// nameNextTo names a field next to another one: by its name alone if they differ in nothing else.
func nameNextTo(f, other selector.Field) string {
	if f.Kind == other.Kind && f.Domain == other.Domain {
		return f.Name
	}
	return f.Expression()
}

// anyDeviceHas reports whether some device has the field.
func anyDeviceHas(q *whatif.Question, f selector.Field) bool {
	for _, slice := range q.Cluster.Snapshot().Slices() {
		for i := range slice.Spec.Devices {
			if _, has := f.Value(slice.Spec.Driver, &slice.Spec.Devices[i]); has {
				return true
			}
		}
	}
	return false
}

// mostSimilar returns the field that was probably meant by another: one of the same name in another domain or
// of another kind, or else one with a similar name. The result is false if there is none.
func mostSimilar(f selector.Field, fields []selector.Field) (selector.Field, bool) {
	best, distance := selector.Field{}, 1.0
	for _, have := range fields {
		d := Difference(have.Name, f.Name)
		if elsewhere := have.Kind != f.Kind || have.Domain != f.Domain; elsewhere && d > 0 {
			continue
		}
		if d < distance && d <= maxFieldDifference && !otherWord(have.Name, f.Name) {
			best, distance = have, d
		}
	}
	return best, distance <= maxFieldDifference
}

// otherWord reports whether two names differ in a whole word: rdmaDevice is no misspelling of pciDevice,
// although most letters are the same.
func otherWord(a, b string) bool {
	x, y := wordsOf(a), wordsOf(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	restX, restY := strings.Join(x, ""), strings.Join(y, "")
	if restX == "" || restY == "" {
		return false
	}
	return 2*spell.Distance(restX, restY) > max(len(restX), len(restY))
}

// wordsOf takes a name apart, as in cudaDriverVersion, cuda_driver and cuda-driver, in lower case.
func wordsOf(name string) []string {
	var out []string
	start := true
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			start = true
			continue
		case start || unicode.IsUpper(r):
			out = append(out, "")
		}
		start = false
		out[len(out)-1] += string(unicode.ToLower(r))
	}
	return out
}
