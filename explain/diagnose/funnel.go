package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// funnelSteps are the steps of a funnel after the first, with the codes of the checks that belong to each. A
// device is lost at the first step of which it fails a check. The order is that in which a person thinks:
// what is it, may I have it, is it free, is there enough of it? The scheduler's own order is another, but the
// devices that remain in the end are the same.
var funnelSteps = []struct {
	name  string
	codes []allocator.Code
}{
	{"class", []allocator.Code{allocator.ClassSelectorRejected}},
	{"selectors", []allocator.Code{allocator.SelectorRejected, allocator.SelectorError}},
	{"features", []allocator.Code{allocator.FeatureDisabled, allocator.NodeUnsuitable}},
	{"taints", []allocator.Code{allocator.DeviceTainted}},
	{"free", []allocator.Code{allocator.DeviceInUse}},
	{"capacity", []allocator.Code{allocator.CapacityInsufficient, allocator.CapacityPolicyViolated}},
	{"counters", []allocator.Code{allocator.CountersExhausted, allocator.CompatibilityGroupConflict}},
	{"constraints", []allocator.Code{allocator.AttributeMissing}},
}

// funnel sorts the devices of an examined request into steps.
func (d *diagnosis) funnel(ctx context.Context, r *allocator.ExaminedRequest) explain.Funnel {
	f := explain.Funnel{Claim: d.refs[r.Claim], Request: r.Name, Needed: r.Needed, All: r.All}
	seen := 0
	lost := make([][]explain.Loss, len(funnelSteps))
	for i := range r.Devices {
		device := &r.Devices[i]
		if device.Elsewhere {
			continue
		}
		seen++
		for step := range funnelSteps {
			if rejection := device.Fails(funnelSteps[step].codes...); rejection != nil {
				lost[step] = d.addLoss(ctx, lost[step], r, device, rejection)
				break
			}
		}
	}
	f.Steps = append(f.Steps, explain.Step{Name: "seen", Left: seen, Most: seen, Total: seen})
	left := seen
	for i := range funnelSteps {
		for j := range lost[i] {
			left -= lost[i][j].Count
		}
		f.Steps = append(f.Steps, explain.Step{Name: funnelSteps[i].name, Left: left, Most: left, Total: left, Lost: lost[i]})
	}
	return f
}

// addLoss adds a device to the losses of a step.
func (d *diagnosis) addLoss(ctx context.Context, lost []explain.Loss, r *allocator.ExaminedRequest, device *allocator.ExaminedDevice, rejection *allocator.Rejection) []explain.Loss {
	loss := d.describeLoss(ctx, r, device, rejection)
	loss.Code = rejection.Code
	loss.Count, loss.Most, loss.Total = 1, 1, 1
	loss.Devices = []inspect.DeviceID{device.ID}
	at := indexOfReason(lost, &loss)
	if at < 0 {
		return append(lost, loss)
	}
	lost[at].Count++
	lost[at].Most++
	absorb(&lost[at], &loss)
	return lost
}

// indexOfReason returns the index of the loss that has the same reason as another, or -1.
func indexOfReason(lost []explain.Loss, like *explain.Loss) int {
	return slices.IndexFunc(lost, func(l explain.Loss) bool {
		return l.Code == like.Code && l.Key == like.Key && l.OtherDriver == like.OtherDriver
	})
}

// absorb adds the devices and values of a loss to those of a loss with the same reason.
func absorb(into, from *explain.Loss) {
	into.Devices = append(into.Devices, from.Devices...)
	into.Total += from.Total
	for _, v := range from.Values {
		at := slices.IndexFunc(into.Values, func(have explain.Value) bool { return have.Key == v.Key })
		if at < 0 {
			into.Values = append(into.Values, v)
			continue
		}
		into.Values[at].Count += v.Count
	}
}

// sortLosses sorts the losses of a funnel, and their values, by frequency, and names each device once.
func sortLosses(f *explain.Funnel) {
	for i := range f.Steps {
		lost := f.Steps[i].Lost
		for j := range lost {
			lost[j].Devices = unique(lost[j].Devices) // devices of common pools are seen from several nodes
			slices.SortStableFunc(lost[j].Values, func(a, b explain.Value) int {
				return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
			})
		}
		slices.SortStableFunc(lost, func(a, b explain.Loss) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Key, b.Key))
		})
	}
}

// unique removes all but the first of equal devices.
func unique(devices []inspect.DeviceID) []inspect.DeviceID {
	seen := make(map[inspect.DeviceID]bool, len(devices))
	return slices.DeleteFunc(devices, func(id inspect.DeviceID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// mergeFunnel adds the funnel of the same request on another node to that of a group. A loss that one of the
// two does not have has the lowest count 0.
func mergeFunnel(into, from *explain.Funnel) {
	for i := range into.Steps {
		step, from := &into.Steps[i], &from.Steps[i]
		step.Left, step.Most, step.Total = min(step.Left, from.Left), max(step.Most, from.Most), step.Total+from.Total
		for j := range step.Lost {
			if indexOfReason(from.Lost, &step.Lost[j]) < 0 {
				step.Lost[j].Count = 0
			}
		}
		for j := range from.Lost {
			l := &from.Lost[j]
			at := indexOfReason(step.Lost, l)
			if at < 0 {
				step.Lost = append(step.Lost, *l)
				step.Lost[len(step.Lost)-1].Count = 0
				continue
			}
			step.Lost[at].Count, step.Lost[at].Most = min(step.Lost[at].Count, l.Count), max(step.Lost[at].Most, l.Most)
			absorb(&step.Lost[at], l)
		}
	}
}

// writeFunnelKey writes what identifies the losses of a funnel without naming devices and values. Their
// numbers are part of it only on demand.
func writeFunnelKey(b *strings.Builder, f *explain.Funnel, numbers bool) {
	for _, step := range f.Steps {
		var parts []string
		for j := range step.Lost {
			l := &step.Lost[j]
			if l.OtherDriver {
				continue
			}
			part := string(l.Code) + " " + l.Key
			if numbers {
				part += fmt.Sprint(l.Count)
			}
			parts = append(parts, part)
		}
		slices.Sort(parts)
		fmt.Fprintf(b, "%s %q", step.Name, parts)
		if numbers && step.Name != "seen" {
			fmt.Fprintf(b, " %d", step.Left)
		}
	}
	if last := &f.Steps[len(f.Steps)-1]; !numbers {
		fmt.Fprintf(b, " %t %t", last.Left == 0, last.Left >= f.Needed)
	}
	fmt.Fprintf(b, " %t\n", f.Steps[0].Left == 0)
}

// describeLoss says in words why a device was refused, and which value it was refused for. It fills in Key,
// Text, Values and OtherDriver.
func (d *diagnosis) describeLoss(ctx context.Context, r *allocator.ExaminedRequest, device *allocator.ExaminedDevice, rejection *allocator.Rejection) explain.Loss {
	if rejection.Err != nil {
		return describeError(r, rejection)
	}
	switch rejection.Code {
	case allocator.ClassSelectorRejected:
		return d.describeSelector(ctx, r.Class.Name, r.Class.Spec.Selectors, device, rejection)
	case allocator.SelectorRejected:
		return d.describeSelector(ctx, "", *whatif.FieldsOf(d.q.Claims, whatif.RefOf(r)).Selectors, device, rejection)
	case allocator.DeviceTainted:
		taint := words.FormatTaint(rejection.Taint)
		return explain.Loss{Key: taint, Wanted: taint, Text: "taint " + taint + " is not tolerated", Taint: rejection.Taint}
	case allocator.DeviceInUse:
		return explain.Loss{Text: "held by other claims"}
	case allocator.CapacityInsufficient:
		if rejection.Available == nil {
			return explain.Loss{Key: "no " + string(rejection.Capacity), Capacity: rejection.Capacity, Lacking: true, Text: fmt.Sprintf("has no capacity %s", rejection.Capacity)}
		}
		whole := device.Device.Capacity[rejection.Capacity].Value
		used := whole.Cmp(*rejection.Needed) >= 0
		return explain.Loss{
			Key: words.Key(rejection.Needed, rejection.Capacity, used), UsedUp: used, Wanted: rejection.Needed.String(), Capacity: rejection.Capacity,
			Text: fmt.Sprintf("%s of %s needed", rejection.Needed, rejection.Capacity) + d.implied(r, device, rejection.Capacity), Values: value(words.Key(rejection.Available), "%s left", rejection.Available),
		}
	case allocator.CapacityPolicyViolated:
		return explain.Loss{Key: words.Key(rejection.Needed, rejection.Capacity), Text: fmt.Sprintf("%s of %s is not an amount that the device offers", rejection.Needed, rejection.Capacity)}
	case allocator.CountersExhausted:
		return explain.Loss{
			Key:    words.Key(rejection.Needed, rejection.Counter),
			UsedUp: d.hasCounter(device.ID, rejection),
			Text:   fmt.Sprintf("%s of counter %s needed", rejection.Needed, rejection.Counter),
			Values: value(words.Key(rejection.Available, rejection.CounterSet), "%s left in %s", rejection.Available, rejection.CounterSet),
		}
	case allocator.CompatibilityGroupConflict:
		return explain.Loss{Text: "its compatibility groups differ from those of the devices in use", Values: value(rejection.CounterSet, "%s", rejection.CounterSet)}
	case allocator.AttributeMissing:
		name := d.constraintAttribute(r.Claim, rejection.Constraint)
		return explain.Loss{Key: words.Key(name, rejection.Constraint), Wanted: string(name), Text: fmt.Sprintf("lacks the attribute %s of constraint #%d", name, rejection.Constraint)}
	case allocator.FeatureDisabled:
		return explain.Loss{Key: string(rejection.Feature), Text: fmt.Sprintf("needs the feature gate %s, which is off", rejection.Feature)}
	case allocator.NodeUnsuitable:
		return explain.Loss{Key: string(rejection.Feature), Text: fmt.Sprintf("needs a node that declares the feature %s", rejection.Feature)}
	}
	return explain.Loss{Text: string(rejection.Code)}
}

// hasCounter reports whether there is as much of a counter as a device needs, whoever uses it.
func (d *diagnosis) hasCounter(id inspect.DeviceID, rejection *allocator.Rejection) bool {
	for _, slice := range d.cluster.Snapshot().SlicesIn(inspect.PoolID{Driver: id.Driver, Pool: id.Pool}) {
		for i := range slice.Spec.SharedCounters {
			if set := &slice.Spec.SharedCounters[i]; set.Name == rejection.CounterSet {
				total, ok := set.Counters[rejection.Counter]
				return ok && total.Value.Cmp(*rejection.Needed) >= 0
			}
		}
	}
	return false
}

// implied says why a request that asks for no amount of a capacity needs one. It is "" for a request that
// asks.
func (d *diagnosis) implied(r *allocator.ExaminedRequest, device *allocator.ExaminedDevice, name resourcev1.QualifiedName) string {
	asked := *whatif.FieldsOf(d.q.Claims, whatif.RefOf(r)).Capacity
	if asked != nil {
		if _, ok := asked.Requests[name]; ok {
			return ""
		}
	}
	if p := device.Device.Capacity[name].RequestPolicy; p != nil && p.Default != nil {
		return ", the default, since the request asks for no amount"
	}
	return ", all there is, since the request asks for no amount"
}

// value is the one value that a device was refused for.
func value(key, format string, args ...any) []explain.Value {
	return []explain.Value{{Key: key, Text: fmt.Sprintf(format, args...), Count: 1}}
}

// describeError describes a check that failed with an error.
func describeError(r *allocator.ExaminedRequest, rejection *allocator.Rejection) explain.Loss {
	text := words.FirstLine(rejection.Err.Error())
	switch {
	case rejection.Code != allocator.SelectorError:
		return explain.Loss{Key: text, Text: text}
	case rejection.FromClass:
		return explain.Loss{Key: words.Key("class", r.Class.Name, rejection.Selector, text), Text: fmt.Sprintf("class %s, selector #%d fails: %s", r.Class.Name, rejection.Selector, text)}
	}
	return explain.Loss{Key: words.Key("selector", rejection.Selector, text), Text: fmt.Sprintf("selector #%d fails: %s", rejection.Selector, text)}
}

// describeSelector finds the first false term of a selector, of a class or of the request itself, and what it
// read.
func (d *diagnosis) describeSelector(ctx context.Context, class string, wanted []resourcev1.DeviceSelector, device *allocator.ExaminedDevice, rejection *allocator.Rejection) explain.Loss {
	expression := wanted[rejection.Selector].CEL.Expression
	who := "the selector"
	if class != "" {
		who = "class " + class
	}
	selectors := d.cluster.Selectors()
	for _, term := range selectors.Terms(ctx, expression, device.ID.Driver, device.Device) {
		if term.Err != nil || term.Match {
			continue
		}
		comparison, _ := selectors.Comparison(term.Expression)
		var values, keys []string
		for _, read := range term.Reads {
			keys = append(keys, strings.TrimSpace(words.LastName(read.Expression)+" "+read.Value))
			values = append(values, found(read, comparison.Brief() != ""))
		}
		return explain.Loss{
			Key: words.Key(class, term.Expression), Text: who + " wants " + selectors.Brief(term.Expression), Wanted: comparison.Brief(), Values: value(strings.Join(keys, ", "), "%s", strings.Join(values, ", ")),
			OtherDriver: rejection.Code == allocator.ClassSelectorRejected && len(term.Reads) == 1 && term.Reads[0].Expression == "device.driver",
		}
	}
	return explain.Loss{Key: words.Key(class, expression), Text: who + " wants " + selectors.Brief(words.OneLine(expression))}
}

// found says what a term read from a device. The name of the field is left out where only one can be meant.
func found(read selector.Read, one bool) string {
	name := words.LastName(read.Expression)
	switch {
	case read.Value == "":
		return "no " + name
	case one && (read.Value == "true" || read.Value == "false"):
		return name + " " + read.Value
	case one:
		return read.Value
	}
	return name + " is " + read.Value
}

// constraintAttribute is the attribute that a constraint of a claim is about.
func (d *diagnosis) constraintAttribute(claim, index int) resourcev1.FullyQualifiedName {
	c := &d.q.Claims[claim].Spec.Devices.Constraints[index]
	if c.MatchAttribute != nil {
		return *c.MatchAttribute
	}
	return *c.DistinctAttribute
}
