package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// If every request has enough devices by itself, devices or requests stand in each other's way. Smaller
// questions to the allocator narrow that down. The requests are added one after the other until one no longer
// fits. That one is asked for alone, and, if it does not fit alone, with smaller counts.
//
// Example: gpus needs 5 with the same numa, and the node has 4 on each of two. Alone it does not fit, but
// with a count of 4 it does. So "5 needed, at most 4 can be had together", on account of constraint #0.

// maxValues is the number of values that a reason names.
const maxValues = 4

// interaction is a reason with numbers that may differ between the nodes of a group.
type interaction struct {
	explain.Reason
	// needed is the number of devices that are needed, of which at most low to high can be had together. If
	// it is 0, the reason has no such numbers.
	needed, low, high int
	// values are those of the attribute of a constraint, with the number of devices that have each.
	values map[string]int
	// nodes is the number of nodes that the reason is about.
	nodes int
}

// writeKey writes what identifies the reason. The numbers are part of it only on demand.
func (i *interaction) writeKey(b *strings.Builder, numbers bool) {
	fmt.Fprintf(b, "%s %s %s %s %d", i.Code, i.Claim, i.Request, i.Key, i.needed)
	if numbers {
		fmt.Fprintf(b, " %d %v", i.low, i.values)
	}
	b.WriteByte('\n')
}

// merge adds the same interaction on another node of a group.
func (i *interaction) merge(other *interaction) {
	i.low, i.high = min(i.low, other.low), max(i.high, other.high)
	for v, n := range other.values {
		i.values[v] = max(i.values[v], n)
	}
	i.nodes += other.nodes
}

// reason puts the numbers into words.
func (i *interaction) reason() explain.Reason {
	r := i.Reason
	if i.needed > 0 {
		r.Message = fmt.Sprintf("%s needed, at most %s can be had together", words.Count(i.needed, "device"), words.Span(i.low, i.high))
	}
	var parts, found []string
	for _, v := range slices.SortedFunc(maps.Keys(i.values), func(a, b string) int {
		return cmp.Or(cmp.Compare(i.values[b], i.values[a]), cmp.Compare(a, b))
	}) {
		parts, found = append(parts, fmt.Sprintf("%d with %s", i.values[v], v)), append(found, words.Key(i.values[v], v))
	}
	upTo := i.nodes > 1 && i.low != i.high
	r.Found = words.Key(r.Found, i.needed, i.low, i.high, upTo, words.Shorten(found, maxValues))
	if len(parts) > 0 {
		r.Message += "; there are "
		if upTo {
			r.Message += "up to "
		}
		r.Message += words.Shorten(parts, maxValues)
	}
	return r
}

// findInteractions says why requests that all have enough devices do not fit together.
func (d *diagnosis) findInteractions(ctx context.Context, exam *allocator.Examination) {
	claim, request, codes := d.firstMisfit(ctx)
	if claim < 0 {
		return
	}
	alone, aloneCodes := d.fits(ctx, []*resourcev1.ResourceClaim{only(d.q.Claims[claim], request)}, 0, 0)
	r := examined(exam, claim, request)
	base := interaction{nodes: 1, Reason: explain.Reason{
		Request: d.q.Claims[claim].Spec.Devices.Requests[request].Name, Claim: d.refs[claim],
		Path: d.path(r), Code: allocator.NotEnoughDevices,
	}}
	switch alone {
	case allocator.Allocated:
		others := d.partner(claim, request) + d.obstacle(claim, codes)
		base.Key, base.Found, base.Message = "fits by itself", words.Key(others), "fits by itself, but not together with "+others
	case allocator.Undecided:
		base.Key, base.Message = "given up", "does not fit; the search for the reason was given up"
		codes = aloneCodes
	default:
		codes = aloneCodes
		base.Key, base.Message = "does not fit", "does not fit"
		if r.All && !r.Prioritized {
			base.Key, base.Message = "all", "the devices that match cannot be had all together"
		}
		if !r.Prioritized && !r.All {
			most := d.mostTogether(ctx, claim, request, r.Needed)
			base.Path += ".count"
			base.needed, base.low, base.high = r.Needed, most, most
			d.addTogetherStep(claim, request, most)
		}
	}
	d.interactions = append(d.interactions, base)
	d.addRejectionReasons(exam, &base.Reason, claim, request, codes)
}

// partner names what comes before a request.
func (d *diagnosis) partner(claim, request int) string {
	first := d.q.Claims[0].Spec.Devices.Requests
	switch {
	case claim == 0 && request == 1:
		return first[0].Name
	case claim == 0:
		return "the requests before it"
	case claim == 1 && request == 0 && len(first) == 1:
		return first[0].Name + " of " + d.q.Claims[0].Name
	}
	return "what comes before it"
}

// obstacle says, after the name of its partner, what devices were refused to a request for if that is one
// thing, apart from those that the partner has.
func (d *diagnosis) obstacle(claim int, codes map[rejectionKind]int) string {
	text := ""
	for c := range codes {
		if c.code == allocator.DeviceInUse {
			continue
		}
		if text != "" {
			return ""
		}
		switch c.code {
		case allocator.MatchAttributeConflict:
			text = " on the same " + string(d.constraintAttribute(claim, c.constraint))
		case allocator.DistinctAttributeConflict:
			text = " on a different " + string(d.constraintAttribute(claim, c.constraint))
		case allocator.CountersExhausted:
			text = fmt.Sprintf(": the counters of set %s run out", c.counterSet)
		case allocator.CapacityInsufficient:
			text = fmt.Sprintf(": there is not enough of %s left", c.capacity)
		default:
			return ""
		}
	}
	return text
}

// firstMisfit adds the requests one by one. It returns the first that does not fit together with those before
// it, and what was refused for it. The indices are -1 if all fit.
func (d *diagnosis) firstMisfit(ctx context.Context) (claim, request int, codes map[rejectionKind]int) {
	for c := range d.q.Claims {
		for r := range d.q.Claims[c].Spec.Devices.Requests {
			claims := append(slices.Clone(d.q.Claims[:c]), upTo(d.q.Claims[c], r))
			if outcome, codes := d.fits(ctx, claims, c, r); outcome != allocator.Allocated {
				return c, r, codes
			}
		}
	}
	return -1, -1, nil
}

// rejectionKind is a kind of refusal that depends on what else is picked. Of constraint, counterSet and
// capacity, it has the one that its code is about; constraint is -1 otherwise.
type rejectionKind struct {
	code       allocator.Code
	constraint int
	counterSet string
	capacity   resourcev1.QualifiedName
}

// rejectionCounter is a tracer of the allocator that counts, for one request, the refusals that depend on
// what else is picked.
type rejectionCounter struct {
	claim, request int
	counts         map[rejectionKind]int
}

// Reject counts a refusal.
func (t *rejectionCounter) Reject(r allocator.Rejection) {
	if r.Claim != t.claim || r.Request != t.request {
		return
	}
	switch r.Code {
	case allocator.MatchAttributeConflict, allocator.DistinctAttributeConflict:
		t.counts[rejectionKind{code: r.Code, constraint: r.Constraint}]++
	case allocator.CountersExhausted, allocator.CompatibilityGroupConflict:
		t.counts[rejectionKind{code: r.Code, constraint: -1, counterSet: r.CounterSet}]++
	case allocator.CapacityInsufficient:
		t.counts[rejectionKind{code: r.Code, constraint: -1, capacity: r.Capacity}]++
	case allocator.DeviceInUse:
		if r.InQuestion {
			t.counts[rejectionKind{code: r.Code, constraint: -1}]++
		}
	}
}

// fits puts a smaller question to the node, and counts what is refused for one of its requests. An abort
// decides nothing here.
func (d *diagnosis) fits(ctx context.Context, claims []*resourcev1.ResourceClaim, claim, request int) (allocator.Outcome, map[rejectionKind]int) {
	t := &rejectionCounter{claim: claim, request: request, counts: map[rejectionKind]int{}}
	result, err := d.cluster.WithStepLimit(whatif.ProbeSteps).Allocate(ctx, d.node, claims, t)
	var abort *allocator.AbortError
	if errors.As(err, &abort) {
		return allocator.Undecided, t.counts
	}
	if d.err = cmp.Or(d.err, err); d.err != nil {
		return allocator.Undecided, nil
	}
	return result.Outcome, t.counts
}

// mostTogether returns the largest count, below what is needed, with which the request fits alone. It is 0 if
// it fits with none.
func (d *diagnosis) mostTogether(ctx context.Context, claim, request, needed int) int {
	for n := needed - 1; n > 0; n-- {
		c := only(d.q.Claims[claim], request)
		c.Spec.Devices.Requests[0].Exactly.Count = int64(n)
		if outcome, _ := d.fits(ctx, []*resourcev1.ResourceClaim{c}, 0, 0); outcome == allocator.Allocated {
			return n
		}
	}
	return 0
}

// addTogetherStep adds to the funnel of a request how many devices can be had together.
func (d *diagnosis) addTogetherStep(claim, request, most int) {
	name := d.q.Claims[claim].Spec.Devices.Requests[request].Name
	for i := range d.funnels {
		f := &d.funnels[i]
		if f.Claim == d.refs[claim] && f.Request == name {
			f.Steps = append(slices.Clip(f.Steps), explain.Step{Name: "together", Left: most, Most: most, Total: most})
		}
	}
}

// addRejectionReasons adds what devices were refused for, the most frequent first.
func (d *diagnosis) addRejectionReasons(exam *allocator.Examination, base *explain.Reason, claim, request int, codes map[rejectionKind]int) {
	order := slices.SortedFunc(maps.Keys(codes), func(a, b rejectionKind) int {
		return cmp.Or(cmp.Compare(codes[b], codes[a]), cmp.Compare(a.code, b.code), cmp.Compare(a.constraint, b.constraint),
			cmp.Compare(a.counterSet, b.counterSet), cmp.Compare(a.capacity, b.capacity))
	})
	for _, c := range order {
		r := interaction{nodes: 1, Reason: explain.Reason{
			Code: c.code, Key: words.Key(c.constraint, c.counterSet, c.capacity), Request: base.Request, Claim: base.Claim,
		}}
		switch c.code {
		case allocator.MatchAttributeConflict, allocator.DistinctAttributeConflict:
			kind, relation := "matchAttribute", "the same"
			if c.code == allocator.DistinctAttributeConflict {
				kind, relation = "distinctAttribute", "a different"
			}
			r.Path = fmt.Sprintf("spec.devices.constraints[%d].%s", c.constraint, kind)
			r.Message = fmt.Sprintf("constraint #%d wants %s %s on each device", c.constraint, relation, d.constraintAttribute(claim, c.constraint))
			r.values = d.values(exam, claim, request, d.constraintAttribute(claim, c.constraint))
		case allocator.CountersExhausted:
			r.Message = fmt.Sprintf("the counters of set %s do not suffice for more devices", c.counterSet)
		case allocator.CompatibilityGroupConflict:
			r.Message = fmt.Sprintf("devices of different compatibility groups draw on counter set %s", c.counterSet)
		case allocator.CapacityInsufficient:
			r.Message = fmt.Sprintf("the capacity %s does not suffice for another share", c.capacity)
		case allocator.DeviceInUse:
			r.Message = "devices are taken by other requests of the same question"
		}
		d.interactions = append(d.interactions, r)
	}
}

// values counts the usable devices of a request by the value of an attribute.
func (d *diagnosis) values(exam *allocator.Examination, claim, request int, name resourcev1.FullyQualifiedName) map[string]int {
	counts := map[string]int{}
	r := examined(exam, claim, request)
	if len(*whatif.FieldsOf(d.q.Claims, whatif.RefOf(r)).Derived) > 0 {
		return counts // the constraint may be about a derived attribute, which no device publishes
	}
	for i := range r.Devices {
		if device := &r.Devices[i]; len(device.Failures) == 0 {
			if a := allocator.LookupAttribute(device.Device, device.ID.Driver, name); a != nil {
				counts[selector.FormatAttribute(a)]++
			}
		}
	}
	return counts
}

// examined returns the first alternative of a request.
func examined(exam *allocator.Examination, claim, request int) *allocator.ExaminedRequest {
	for i := range exam.Requests {
		if exam.Requests[i].Claim == claim && exam.Requests[i].Request == request {
			return &exam.Requests[i]
		}
	}
	return nil // unreachable: every request is examined
}

// only returns a copy of the claim with a single request. Constraints on other requests have no effect then.
func only(claim *resourcev1.ResourceClaim, request int) *resourcev1.ResourceClaim {
	out := claim.DeepCopy()
	out.Spec.Devices.Requests = out.Spec.Devices.Requests[request : request+1]
	return out
}

// upTo returns the claim with the requests up to and including one. It shares everything else with the claim.
func upTo(claim *resourcev1.ResourceClaim, request int) *resourcev1.ResourceClaim {
	out := *claim
	out.Spec.Devices.Requests = claim.Spec.Devices.Requests[:request+1]
	return &out
}
