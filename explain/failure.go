package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Failure is the term of a selector that fails for a device, and what the device has that the term may have meant.
type Failure struct {
	// Requirement is the term: a ClassTermRequired or a TermRequired. Here says what the device has instead of
	// the fields that it lacks.
	Requirement
	Device inspect.DeviceID
	// Hangs: the evaluation does not end within any reasonable time, so the scheduler does not give up either.
	Hangs bool
	// Lacks are the fields that the term reads and the device does not have, as the term may spell them:
	// device.attributes["gpu.example.com"].model. Empty when it fails for another reason.
	Lacks []string
	// Has are the names that the device has where the first of them was looked for, sorted.
	Has []string
	// Near is the field of the device that was probably meant by the first, spelled alike; empty when none is
	// close.
	Near string
}

const (
	// maxHas is how many names of fields are listed.
	maxHas = 8
	// maxBriefValue is the length up to which a value is shown with its name: a model, not an identifier.
	maxBriefValue = 24
)

// failureOf describes what makes the scheduler give up. nil: it is no term of a selector that fails for a device.
func (q *question) failureOf(ctx context.Context, abort *allocator.AbortError) *Failure {
	at, ok := q.requestNamed(abort.Claim, abort.Request)
	device := q.deviceOf(abort.Device)
	if !ok || device == nil || abort.Selector < 0 {
		return nil
	}
	selectors := q.selectorsOf(at, abort.Class)
	if abort.Selector >= len(selectors) || selectors[abort.Selector].CEL == nil {
		return nil
	}
	for _, term := range q.cluster.Selectors().Terms(ctx, selectors[abort.Selector].CEL.Expression, abort.Device.Driver, device) {
		if term.Err == nil {
			continue
		}
		f := &Failure{Device: abort.Device, Hangs: abort.Hangs(), Requirement: q.failedTerm(ctx, abort, at, term.Expression)}
		for _, r := range term.Reads {
			if r.Value == "" {
				f.Lacks = append(f.Lacks, r.Expression)
			}
		}
		if len(f.Lacks) > 0 {
			f.describe(device)
		}
		return f
	}
	return nil
}

// failedTerm is the term as a requirement.
func (q *question) failedTerm(ctx context.Context, abort *allocator.AbortError, at requestRef, term string) Requirement {
	r := Requirement{
		Kind: TermRequired, Claim: abort.Claim, Request: abort.Request, Term: term,
		Path: fmt.Sprintf("%s.selectors[%d].cel.expression", q.path(at), abort.Selector),
	}
	who := abort.Request
	if abort.Class != "" {
		r.Kind, who = ClassTermRequired, "class "+abort.Class
		r.Path = fmt.Sprintf("deviceclass/%s spec.selectors[%d].cel.expression", abort.Class, abort.Selector)
	}
	r.Message = who + " wants " + q.brief(term)
	return r
}

// describe says what the device has instead of the first field that it lacks.
func (f *Failure) describe(device *resourcev1.Device) {
	wanted, ok := parseField(f.Lacks[0])
	if !ok {
		return
	}
	fields := fieldsOfDevice(device, f.Device.Driver)
	var has []string
	for _, have := range fields {
		if have.kind == wanted.kind && have.domain == wanted.domain {
			f.Has = append(f.Has, have.name)
			has = append(has, strings.TrimSpace(have.name+" "+have.briefValue(device, f.Device.Driver)))
		}
	}
	near, isNear := wanted.nearest(fields)
	if isNear {
		f.Near = near.expression()
	}
	f.Here = fmt.Sprintf("%s has no %s", f.Device.Device, wanted.name)
	if len(f.Has) > 0 {
		f.Here += ", but " + shorten(has, maxHas)
	} else {
		f.Here += ", nor other " + wanted.kinds() + " of " + wanted.domain
	}
	switch {
	case !isNear:
	case near.domain == wanted.domain && near.kind == wanted.kind:
		f.Here += fmt.Sprintf("; did you mean %s?", near.name)
	default:
		f.Here += fmt.Sprintf("; did you mean %s?", near.expression())
	}
}

// deviceField is an attribute or a capacity: device.kind["domain"].name.
type deviceField struct{ kind, domain, name string }

func parseField(expression string) (deviceField, bool) {
	f, ok := selector.ParseField(expression)
	return deviceField{f.Kind, f.Domain, f.Name}, ok
}

func (f deviceField) expression() string {
	return fmt.Sprintf("device.%s[%q].%s", f.kind, f.domain, f.name)
}

func (f deviceField) kinds() string {
	if f.kind == "capacity" {
		return "capacities"
	}
	return f.kind
}

// briefValue is the value of the attribute on a device; "" when it is long, a list, or a capacity.
func (f deviceField) briefValue(device *resourcev1.Device, driver string) string {
	if f.kind != "attributes" {
		return ""
	}
	text, _ := scalarText(allocator.LookupAttribute(device, driver, resourcev1.FullyQualifiedName(f.domain+"/"+f.name)))
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

// respell makes a term read, instead of the fields that a device lacks, those of the device that were probably meant.
// false: another device has such a field, so it is no slip, or none is close.
func (q *question) respell(term string, lacks []string, id inspect.DeviceID, device *resourcev1.Device) (respelling, bool) {
	out := respelling{term: term}
	var parts []string
	for _, text := range lacks {
		wanted, ok := parseField(text)
		if !ok || q.anyDeviceHas(wanted) {
			return out, false
		}
		near, ok := wanted.nearest(fieldsOfDevice(device, id.Driver))
		if !ok {
			return out, false
		}
		parts = append(parts, near.besides(wanted)+" instead of "+wanted.besides(near))
		out.term = strings.ReplaceAll(out.term, text, near.expression())
	}
	out.message = "read " + strings.Join(parts, " and ")
	return out, out.term != term
}

// besides names the field, in short where another differs in the name only.
func (f deviceField) besides(other deviceField) string {
	if f.kind == other.kind && f.domain == other.domain {
		return f.name
	}
	return f.expression()
}

// anyDeviceHas reports whether some device has the field.
func (q *question) anyDeviceHas(f deviceField) bool {
	for _, slice := range q.cluster.Snapshot().Slices() {
		for i := range slice.Spec.Devices {
			if slices.Contains(fieldsOfDevice(&slice.Spec.Devices[i], slice.Spec.Driver), f) {
				return true
			}
		}
	}
	return false
}

// alikeField is how different the names of fields may be for one to be meant for the other.
const alikeField = 0.4

// nearest finds the field that was probably meant: one of the same name elsewhere, else one with a similar name.
func (f deviceField) nearest(fields []deviceField) (deviceField, bool) {
	best, distance := deviceField{}, 1.0
	for _, have := range fields {
		d := likeName(have.name, f.name)
		if elsewhere := have.kind != f.kind || have.domain != f.domain; elsewhere && d > 0 {
			continue
		}
		if d < distance && d <= alikeField {
			best, distance = have, d
		}
	}
	return best, distance <= alikeField
}
