package fix

import (
	"fmt"
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

// deviceField is an attribute or a capacity: device.kind["domain"].name.
type deviceField struct{ kind, domain, name string }

// parseField parses the expression of a field. The result is false if it is none.
func parseField(expression string) (deviceField, bool) {
	f, ok := selector.ParseField(expression)
	return deviceField{f.Kind, f.Domain, f.Name}, ok
}

// expression is the field as a term spells it.
func (f deviceField) expression() string {
	return fmt.Sprintf("device.%s[%q].%s", f.kind, f.domain, f.name)
}

// kinds is the plural of what the field is.
func (f deviceField) kinds() string {
	if f.kind == "capacity" {
		return "capacities"
	}
	return f.kind
}

// briefValue is the value of the attribute on a device. It is "" for a list, a long value, and a capacity.
func (f deviceField) briefValue(device *resourcev1.Device, driver string) string {
	if f.kind != "attributes" {
		return ""
	}
	text, _ := requirement.ScalarText(allocator.LookupAttribute(device, driver, resourcev1.FullyQualifiedName(f.domain+"/"+f.name)))
	if utf8.RuneCountInString(text) > maxBriefValue {
		return ""
	}
	return text
}

// fieldsOfDevice lists all fields of a device, attributes first, sorted.
func fieldsOfDevice(device *resourcev1.Device, driver string) []deviceField {
	var out []deviceField
	add := func(kind string, name resourcev1.QualifiedName) {
		domain, bare, qualified := strings.Cut(string(name), "/")
		if !qualified {
			domain, bare = driver, domain
		}
		out = append(out, deviceField{kind, domain, bare})
	}
	for name := range device.Attributes {
		add("attributes", name)
	}
	for name := range device.Capacity {
		add("capacity", name)
	}
	slices.SortFunc(out, func(a, b deviceField) int { return strings.Compare(a.expression(), b.expression()) })
	return out
}

// respelling is a term that reads other fields.
type respelling struct{ term, message string }

// respellingOf makes a term read, instead of the fields that a device lacks, those of the device that were
// probably meant. The result is false if some device has a field of that name, which is no misspelling then,
// or if no field is similar enough.
func respellingOf(q *whatif.Question, term string, lacks []string, id inspect.DeviceID, device *resourcev1.Device) (respelling, bool) {
	out := respelling{term: term}
	var parts []string
	for _, text := range lacks {
		wanted, ok := parseField(text)
		if !ok || anyDeviceHas(q, wanted) {
			return out, false
		}
		similar, ok := wanted.mostSimilar(fieldsOfDevice(device, id.Driver))
		if !ok {
			return out, false
		}
		parts = append(parts, similar.nameNextTo(wanted)+" instead of "+wanted.nameNextTo(similar))
		out.term = strings.ReplaceAll(out.term, text, similar.expression())
	}
	out.message = "read " + strings.Join(parts, " and ")
	return out, out.term != term
}

// nameNextTo names the field next to another one: by its name alone if they differ in nothing else.
func (f deviceField) nameNextTo(other deviceField) string {
	if f.kind == other.kind && f.domain == other.domain {
		return f.name
	}
	return f.expression()
}

// anyDeviceHas reports whether some device has the field.
func anyDeviceHas(q *whatif.Question, f deviceField) bool {
	for _, slice := range q.Cluster.Snapshot().Slices() {
		for i := range slice.Spec.Devices {
			if slices.Contains(fieldsOfDevice(&slice.Spec.Devices[i], slice.Spec.Driver), f) {
				return true
			}
		}
	}
	return false
}

// mostSimilar returns the field that was probably meant: one of the same name in another domain or of another
// kind, or else one with a similar name. The result is false if there is none.
func (f deviceField) mostSimilar(fields []deviceField) (deviceField, bool) {
	best, distance := deviceField{}, 1.0
	for _, have := range fields {
		d := nameDifference(have.name, f.name)
		if elsewhere := have.kind != f.kind || have.domain != f.domain; elsewhere && d > 0 {
			continue
		}
		if d < distance && d <= maxFieldDifference && !otherWord(have.name, f.name) {
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
