package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What the devices of a node have instead of what a requirement wants: the nearest miss. It is said behind
// the requirement, as in "gpu wants memory >= 96Gi; devices here have 80Gi".

// maxValues is how many values are named.
const maxValues = 4

// devicesFor lists the devices that the request could be about: those that its selectors accept, or else
// those of its class.
func devicesFor(r *allocator.ExaminedRequest) []*allocator.ExaminedDevice {
	selected := devicesWithout(r, allocator.ClassSelectorRejected, allocator.SelectorRejected, allocator.SelectorError)
	if len(selected) > 0 {
		return selected
	}
	return devicesWithout(r, allocator.ClassSelectorRejected)
}

// devicesWithout lists the devices for the node that have none of the failures.
func devicesWithout(r *allocator.ExaminedRequest, codes ...allocator.Code) []*allocator.ExaminedDevice {
	var out []*allocator.ExaminedDevice
	for i := range r.Devices {
		if d := &r.Devices[i]; d.Fails(codes...) == nil && !d.Elsewhere {
			out = append(out, d)
		}
	}
	return out
}

// fitHere says how many devices pass every check that looks at one device.
func fitHere(r *allocator.ExaminedRequest) string {
	fit := 0
	for i := range r.Devices {
		fit += btoi(len(r.Devices[i].Failures) == 0)
	}
	switch fit {
	case 0:
		if n := len(devicesWithout(r, allocator.ClassSelectorRejected)); n > 1 {
			return fmt.Sprintf("none of %d here fits", n)
		}
		return "none here fits"
	case 1:
		return "1 here fits"
	}
	return fmt.Sprintf("%d here fit", fit)
}

// classHere says so when no device of the classes of a request reaches the node.
func classHere(exam *allocator.Examination, claim, request int) string {
	var classes []string
	for i := range exam.Requests {
		r := &exam.Requests[i]
		if r.Claim != claim || r.Request != request {
			continue
		}
		if len(devicesWithout(r, allocator.ClassSelectorRejected)) > 0 {
			return ""
		}
		if !slices.Contains(classes, r.Class.Name) {
			classes = append(classes, r.Class.Name)
		}
	}
	return "no device of class " + strings.Join(classes, " or ") + " reaches the node"
}

// inWords says a term in short, with what the devices have instead: those of the class, or for a term of the
// class all that have the field.
func (l *local) inWords(ctx context.Context, r *allocator.ExaminedRequest, kind RequirementKind, term string) (words, here string) {
	c := l.q.comparison(ctx, term)
	devices := devicesWithout(r)
	if kind == TermRequired {
		devices = devicesWithout(r, allocator.ClassSelectorRejected)
	}
	if words = c.words(); words == "" {
		return briefTerm(term), l.readHere(ctx, devices, kind, term)
	}
	counts := map[string]int{}
	matching, having := 0, 0
	for _, d := range devices {
		text, ok := c.valueOf(d.ID.Driver, d.Device)
		if !ok {
			continue
		}
		having++
		if c.accepts(text) {
			matching++
			continue
		}
		counts[text]++
	}
	total := len(devices)
	if kind == ClassTermRequired {
		total = having // others belong to other drivers
	}
	switch {
	case matching > 0:
		return words, fmt.Sprintf("%d of %s here %s it", matching, count(total, "device"), plural(matching, "has", "have"))
	case having == 0 && len(devices) > 0 && kind == TermRequired && !slices.ContainsFunc(devices, c.has):
		return words, "devices here have no " + c.field
	case having == 0:
		return words, ""
	}
	return words, "devices here have " + shorten(slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return c.compare(b, a) }), maxValues)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// leftHere says what the devices have left of a capacity, or that their policy is in the way.
func (l *local) leftHere(r *allocator.ExaminedRequest, name resourcev1.QualifiedName) string {
	var left []resource.Quantity
	policy := ""
	for _, d := range devicesFor(r) {
		capacity, ok := d.Device.Capacity[name]
		if !ok {
			continue
		}
		if f := d.Fails(allocator.CapacityPolicyViolated); f != nil && f.Capacity == name {
			policy = allowed(capacity.RequestPolicy)
		}
		amount := l.left(d.ID, name, capacity.Value)
		if !slices.ContainsFunc(left, func(have resource.Quantity) bool { return have.Cmp(amount) == 0 }) {
			left = append(left, amount)
		}
	}
	slices.SortFunc(left, func(a, b resource.Quantity) int { return b.Cmp(a) })
	switch {
	case len(left) == 0:
		return "no device here has it"
	case policy != "":
		return "devices here give " + policy
	case len(left) == 1:
		return fmt.Sprintf("at most %s left here", &left[0])
	}
	var texts []string
	for i := range left {
		texts = append(texts, left[i].String())
	}
	return "devices here have " + shorten(texts, maxValues) + " left"
}

// allowed says which amounts a policy allows.
func allowed(p *resourcev1.CapacityRequestPolicy) string {
	switch {
	case p == nil:
		return ""
	case len(p.ValidValues) > 0:
		var texts []string
		for i := range p.ValidValues {
			texts = append(texts, p.ValidValues[i].String())
		}
		return "only " + shorten(texts, maxValues)
	case p.ValidRange == nil:
		return ""
	}
	text := ""
	if p.ValidRange.Max != nil {
		text = "at most " + p.ValidRange.Max.String()
	}
	if p.ValidRange.Step != nil {
		text = strings.TrimPrefix(text+", in steps of "+p.ValidRange.Step.String(), ", ")
	}
	return text
}

// left is what claims leave of a capacity of a device.
func (l *local) left(id inspect.DeviceID, name resourcev1.QualifiedName, total resource.Quantity) resource.Quantity {
	left := total.DeepCopy()
	for _, h := range l.snapshot.Holders(id) {
		switch used, ok := h.Result.ConsumedCapacity[name]; {
		case h.Admin():
		case !h.Shared():
			return resource.Quantity{Format: total.Format} // the claim has the whole device
		case ok:
			left.Sub(used)
		}
	}
	return left
}

// valuesHere says which values of the attribute of a constraint the devices have that could be taken: for one
// request with their numbers, for several by request.
func (l *local) valuesHere(exam *allocator.Examination, claim, index int) string {
	c := &l.q.claims[claim].Spec.Devices.Constraints[index]
	name := c.MatchAttribute
	if name == nil {
		name = c.DistinctAttribute
	}
	if name == nil || derives(l.q.claims[claim], *name) {
		return ""
	}
	var requests []*allocator.ExaminedRequest
	for i := range exam.Requests {
		if r := &exam.Requests[i]; r.Claim == claim && covers(c, r.Name) {
			requests = append(requests, r)
		}
	}
	if len(requests) > 0 && !slices.ContainsFunc(requests, func(r *allocator.ExaminedRequest) bool { return !sameFit(requests[0], r) }) {
		return attributeValues(requests[0], *name, index, true)
	}
	var parts []string
	for _, r := range requests {
		if values := attributeValues(r, *name, index, false); values != "" && !r.Prioritized {
			parts = append(parts, r.Name+" has "+values)
		}
	}
	if len(parts) == 0 || len(parts) > 2 {
		return ""
	}
	return "here " + strings.Join(parts, " and ")
}

// covers reports whether a constraint is about a request or subrequest.
func covers(c *resourcev1.DeviceConstraint, name string) bool {
	main, _, _ := strings.Cut(name, "/")
	return len(c.Requests) == 0 || slices.Contains(c.Requests, name) || slices.Contains(c.Requests, main)
}

// sameFit reports whether two requests are about the same devices: what one refuses, the other does.
func sameFit(a, b *allocator.ExaminedRequest) bool {
	return a.Prioritized == b.Prioritized && slices.EqualFunc(a.Devices, b.Devices, func(x, y allocator.ExaminedDevice) bool {
		return x.ID == y.ID && (len(x.Failures) == 0) == (len(y.Failures) == 0)
	})
}

// attributeValues lists the values of an attribute, the most frequent first, of the devices that would fit if
// it were not for the constraint. "none" stands for devices without it.
func attributeValues(r *allocator.ExaminedRequest, name resourcev1.FullyQualifiedName, constraint int, numbers bool) string {
	counts := map[string]int{}
	for i := range r.Devices {
		d := &r.Devices[i]
		if slices.ContainsFunc(d.Failures, func(f allocator.Rejection) bool {
			return f.Code != allocator.AttributeMissing || f.Constraint != constraint
		}) {
			continue
		}
		text := "none"
		if d.Fails(allocator.AttributeMissing) == nil {
			value, ok := scalarText(allocator.LookupAttribute(d.Device, d.ID.Driver, name))
			if !ok {
				return "" // a list, or a derived attribute
			}
			text = value
		}
		counts[text]++
	}
	var texts []string
	for i, text := range frequent(counts) {
		switch have := plural(counts[text], "has", "have"); {
		case numbers && len(counts) == 1 && counts[text] == 1:
			text = "the only one that fits has " + text
		case numbers && i == 0:
			text = fmt.Sprintf("%d of those that fit %s %s", counts[text], have, text)
		case numbers:
			text = fmt.Sprintf("%d %s %s", counts[text], have, text)
		}
		texts = append(texts, text)
	}
	return shorten(texts, maxValues)
}

// scalarText prints a value; false for lists and nothing.
func scalarText(a *resourcev1.DeviceAttribute) (string, bool) {
	switch {
	case a == nil:
	case a.StringValue != nil:
		return *a.StringValue, true
	case a.VersionValue != nil:
		return *a.VersionValue, true
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10), true
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue), true
	}
	return "", false
}

// derives reports whether a request of a claim computes the attribute itself.
func derives(claim *resourcev1.ResourceClaim, name resourcev1.FullyQualifiedName) bool {
	derived := func(list []resourcev1.DeviceDerivedAttribute) bool {
		return slices.ContainsFunc(list, func(d resourcev1.DeviceDerivedAttribute) bool { return d.Name == name })
	}
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && derived(r.Exactly.DerivedAttributes) ||
			slices.ContainsFunc(r.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool { return derived(s.DerivedAttributes) })
	})
}
