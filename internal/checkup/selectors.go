package checkup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var selectorRules = []Rule{
	{
		Code: "SelectorInvalid", Severity: Error, files: true,
		About:  "A selector does not compile, so the scheduler gives up on every pod that needs it.",
		Remedy: "Try it: kubectl dra cel.",
		find:   findInvalidSelectors,
	},
	{
		Code: "SelectorAborts", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices, inspect.Classes},
		About:  "A selector fails on a device that is published, so the scheduler gives up on the pod when it reaches that device. Most often the device lacks an attribute.",
		Remedy: "Test for the attribute first, as in \"NAME\" in device.attributes[\"DOMAIN\"] && …, or begin with device.driver == \"DRIVER\".",
		find:   findAborting,
	},
	{
		Code: "RequestMatchesNothing", Severity: Warning, needs: []inspect.Resource{inspect.Slices, inspect.Classes},
		About:  "The selectors of a request match no device of its class, whoever holds it.",
		Remedy: "Try the selector on the devices that there are: kubectl dra cel --class CLASS.",
		find:   findRequestsWithoutDevices,
	},
	{
		Code: "SelectorRedundant", Severity: Note, needs: []inspect.Resource{inspect.Slices, inspect.Classes},
		About:  "A selector of a request is true for every device of its class, so it chooses nothing.",
		Remedy: "Remove it, or check whether it means what was intended: kubectl dra cel --class CLASS.",
		find:   findRedundant,
	},
	{
		Code: "ConstraintWithoutAttribute", Severity: Warning, needs: []inspect.Resource{inspect.Slices, inspect.Classes},
		About:  "A constraint is about an attribute that no device of the requested classes has, so the claim cannot be allocated.",
		Remedy: "Compare the name with the attributes that there are: kubectl dra get devices -o wide.",
		find:   findConstraints,
	},
}

// filter is a class, or a request with its class, as the scheduler asks about devices: one selector after the
// other.
type filter struct {
	object inspect.ObjectRef
	// subject is the request or class in words, path its place in the object.
	subject, path string
	class         string
	// selectors are those of the class, and then those of the request itself.
	selectors []resourcev1.DeviceSelector
	own       int // how many of them are of the request
	missing   bool
	// alternative says that it is one of several, of which the others may do.
	alternative bool
}

// request is a request or subrequest of an object.
type request struct {
	inspect.Asked
	object inspect.ObjectRef
	path   string
}

// about is a finding about the request, or about a field of it.
func (r *request) about(field, detail string, others ...inspect.ObjectRef) Finding {
	f := about(r.object, r.path+field, detail, others...)
	f.Subject += ", request " + r.Name
	return f
}

// finding is a finding about the filter, with some of its selectors as evidence.
func (f *filter) finding(path, detail string, evidence []resourcev1.DeviceSelector) Finding {
	return Finding{
		Subject: f.subject, Group: f.object.Namespace, Objects: []inspect.ObjectRef{f.object}, Path: path,
		Detail: detail, Evidence: expressions(evidence),
	}
}

// requestsOf calls yield for each request and subrequest of a spec.
func requestsOf(o inspect.ObjectRef, spec *resourcev1.ResourceClaimSpec, path string, yield func(request)) {
	for _, asked := range inspect.AskedBy(spec) {
		yield(request{asked, o, path + "." + asked.Path})
	}
}

// specs calls yield for the specs of templates, and of claims that are not allocated yet. A claim that asks
// for what a template of its namespace asks for was most likely made from it, and is told with it.
func (v *visit) specs(yield func(o inspect.ObjectRef, spec *resourcev1.ResourceClaimSpec, path string)) {
	told := map[string][]*resourcev1.ResourceClaimSpec{}
	for _, template := range v.s.Objects().Templates {
		spec := &template.Spec.Spec
		told[template.Namespace] = append(told[template.Namespace], spec)
		yield(object("ResourceClaimTemplate", template.Namespace, template.Name), spec, "spec.spec")
	}
	for _, claim := range v.s.Objects().Claims {
		if claim.Status.Allocation != nil || claim.DeletionTimestamp != nil {
			continue
		}
		same := func(spec *resourcev1.ResourceClaimSpec) bool { return equality.Semantic.DeepEqual(spec, &claim.Spec) }
		if metav1.GetControllerOf(claim) != nil && slices.ContainsFunc(told[claim.Namespace], same) {
			continue
		}
		yield(claimRef(claim), &claim.Spec, "spec")
	}
}

// filters returns the classes, then the requests.
func (v *visit) filters() []filter {
	if v.asked != nil {
		return v.asked
	}
	out := []filter{}
	for _, class := range v.s.Objects().Classes {
		out = append(out, filter{
			object: object("DeviceClass", "", class.Name), subject: "DeviceClass " + class.Name, path: "spec", class: class.Name,
			selectors: class.Spec.Selectors, own: len(class.Spec.Selectors),
		})
	}
	v.specs(func(o inspect.ObjectRef, spec *resourcev1.ResourceClaimSpec, path string) {
		requestsOf(o, spec, path, func(r request) { out = append(out, v.filterOf(&r)) })
	})
	v.asked = out
	return out
}

func (v *visit) filterOf(r *request) filter {
	f := filter{object: r.object, subject: subjectOf(r.object) + ", request " + r.Name, path: r.path, class: r.Class, own: len(*r.Selectors), alternative: r.Alternative}
	class, exists := v.s.Class(r.Class)
	if f.missing = !exists; exists {
		f.selectors = append(f.selectors, class.Spec.Selectors...)
	}
	f.selectors = append(f.selectors, *r.Selectors...)
	return f
}

// try tries an expression on all devices, once. It returns nil if it does not compile.
func (v *visit) try(expression string) *bench.Trial {
	if t, known := v.trials[expression]; known {
		return t
	}
	t, err := v.bench().Try(v.ctx, expression)
	if err != nil || t.Check.Scheduler != nil {
		t = nil
	}
	v.trials[expression] = t
	return t
}

// outcome is what becomes of the devices.
type outcome struct {
	// ofClass and matched count the devices that the class selects, and those that all of it selects.
	ofClass, matched int
	drivers          []string // of those that match, each once
	// failed counts the devices on which a selector fails, the first of which is device, by the index of the
	// selector.
	failed map[int]int
	first  map[int]*inspect.DeviceStatus
	why    map[int]error
	// idle are own selectors that were asked about a device and false for none.
	idle []int
	sure bool // all selectors compile
}

// ask asks about every device, one selector after the other, until one is not true. What has the same
// selectors is asked once.
func (v *visit) ask(f *filter) outcome {
	key := strconv.Itoa(f.own)
	for i := range f.selectors {
		if cel := f.selectors[i].CEL; cel != nil {
			key += "\x00" + cel.Expression
		} else {
			key += "\x01"
		}
	}
	if known, asked := v.outcomes[key]; asked {
		return known
	}
	out := v.askAll(f)
	v.outcomes[key] = out
	return out
}

func (v *visit) askAll(f *filter) outcome {
	out := outcome{failed: map[int]int{}, first: map[int]*inspect.DeviceStatus{}, why: map[int]error{}, sure: true}
	trials := make([]*bench.Trial, len(f.selectors))
	for i := range f.selectors {
		if cel := f.selectors[i].CEL; cel != nil {
			trials[i] = v.try(cel.Expression)
		}
		if trials[i] == nil {
			out.sure = false
			return out
		}
	}
	refused := make([]bool, len(trials))
	of := len(trials) - f.own
	for d := range v.devices() {
		at := v.askDevice(d, trials, &out)
		if at >= of {
			out.ofClass++
		}
		switch {
		case at < len(trials):
			refused[at] = true
		default:
			out.matched++
			if driver := v.devices()[d].ID.Driver; !slices.Contains(out.drivers, driver) {
				out.drivers = append(out.drivers, driver)
			}
		}
	}
	for i := of; i < len(trials); i++ {
		if !refused[i] {
			out.idle = append(out.idle, i-of)
		}
	}
	return out
}

// askDevice returns the first selector that is not true for a device, or their number if all are.
func (v *visit) askDevice(d int, trials []*bench.Trial, out *outcome) int {
	for i, t := range trials {
		o := t.OutcomeOf(d)
		switch o.Result {
		case bench.Match:
			continue
		case bench.Failed:
			if out.failed[i]++; out.first[i] == nil {
				out.first[i], out.why[i] = v.devices()[d], o.Err
			}
		}
		return i
	}
	return len(trials)
}

func findInvalidSelectors(v *visit) {
	checked := map[string]*selector.Check{} // many claims have the same
	for _, f := range v.filters() {
		for i := len(f.selectors) - f.own; i < len(f.selectors); i++ {
			cel := f.selectors[i].CEL
			if cel == nil {
				v.report(f.finding(f.pathOf(i), "the selector has no CEL expression", nil))
				continue
			}
			check := checked[cel.Expression]
			if check == nil {
				check = v.cache.Check(cel.Expression)
				checked[cel.Expression] = check
			}
			if err := check.Scheduler; err != nil {
				v.report(f.finding(f.pathOf(i), words.OneLine(words.FirstLine(err.Error())),
					f.selectors[i:i+1]))
			}
		}
	}
}

// pathOf is the place of a selector, counted among those of class and request.
func (f *filter) pathOf(i int) string {
	return fmt.Sprintf("%s.selectors[%d].cel.expression", f.path, i-(len(f.selectors)-f.own))
}

func findAborting(v *visit) {
	for _, f := range v.filters() {
		if f.missing {
			continue
		}
		out := v.ask(&f)
		for i := len(f.selectors) - f.own; i < len(f.selectors); i++ { // a failure of the class is told of the class
			if out.failed[i] == 0 {
				continue
			}
			found := f.finding(f.pathOf(i), fmt.Sprintf("its selector fails on %s, such as %s: %s",
				words.Count(out.failed[i], "device"), out.first[i].ID, words.OneLine(words.FirstLine(out.why[i].Error()))),
				f.selectors[i:i+1])
			found.Objects = append(found.Objects, sliceRef(out.first[i].Slice))
			v.report(found)
		}
	}
}

func findRequestsWithoutDevices(v *visit) {
	for _, f := range v.filters() {
		if f.missing || f.object.Kind == "DeviceClass" || f.own == 0 {
			continue
		}
		out := v.ask(&f)
		if out.sure && len(out.failed) == 0 && out.ofClass > 0 && out.matched == 0 {
			found := f.finding(f.path+".selectors", fmt.Sprintf("it matches none of the %s of class %s",
				words.Count(out.ofClass, "device"), f.class),
				f.selectors[len(f.selectors)-f.own:])
			if f.alternative {
				found.Severity = Note
			}
			v.report(found)
		}
	}
}

func expressions(of []resourcev1.DeviceSelector) []string {
	var out []string
	for i := range of {
		if of[i].CEL != nil {
			out = append(out, words.OneLine(of[i].CEL.Expression))
		}
	}
	return out
}

func findRedundant(v *visit) {
	for _, f := range v.filters() {
		if f.missing || f.object.Kind == "DeviceClass" || f.own == 0 {
			continue
		}
		out := v.ask(&f)
		if !out.sure || len(out.failed) > 0 || out.matched == 0 {
			continue
		}
		for _, i := range out.idle {
			at := len(f.selectors) - f.own + i
			v.report(f.finding(f.pathOf(at),
				fmt.Sprintf("the selector is true for all of the %s of class %s that it is asked about",
					words.Count(out.ofClass, "device"), f.class), f.selectors[at:at+1]))
		}
	}
}

func findConstraints(v *visit) {
	v.specs(func(o inspect.ObjectRef, spec *resourcev1.ResourceClaimSpec, path string) {
		for i := range spec.Devices.Constraints {
			c := &spec.Devices.Constraints[i]
			name := c.MatchAttribute
			if name == nil {
				name = c.DistinctAttribute
			}
			if name == nil || len(v.devices()) == 0 || v.anybodyHas(string(*name)) || derives(spec) || ofAlternatives(c) {
				continue
			}
			v.report(about(o, fmt.Sprintf("%s.devices.constraints[%d]", path, i),
				fmt.Sprintf("no device has the attribute %s of its constraint", *name)))
		}
	})
}

// ofAlternatives reports whether a constraint is only about alternatives, of which others may be chosen.
func ofAlternatives(c *resourcev1.DeviceConstraint) bool {
	return len(c.Requests) > 0 && !slices.ContainsFunc(c.Requests, func(r string) bool { return !strings.Contains(r, "/") })
}

// derives reports whether a request computes attributes of its own, which constraints may read.
func derives(spec *resourcev1.ResourceClaimSpec) bool {
	return slices.ContainsFunc(spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && len(r.Exactly.DerivedAttributes) > 0 ||
			slices.ContainsFunc(r.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool { return len(s.DerivedAttributes) > 0 })
	})
}

// anybodyHas reports whether a device has an attribute, by its full name.
func (v *visit) anybodyHas(name string) bool {
	if v.attributes == nil {
		v.attributes = map[string]bool{}
		for _, d := range v.devices() {
			for key := range d.Device.Attributes {
				full := string(key)
				if !strings.Contains(full, "/") {
					full = d.ID.Driver + "/" + full
				}
				v.attributes[full] = true
			}
		}
	}
	return v.attributes[name]
}
