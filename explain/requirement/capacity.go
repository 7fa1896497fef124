package requirement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var capacityKind = Kind{name: explain.CapacityRequired, Importance: 5, list: listCapacities}

// maxCapacitiesTried is the number of amounts that are tried before the largest one is searched for.
const maxCapacitiesTried = 16

// capacityRequirement is a requested capacity. It is given up by asking for the least amount, or for none at
// all on a node where no device has the capacity. (Not to ask for any may be to ask for the whole.)
type capacityRequirement struct {
	relaxable[whatif.CapacityEdit]
	// wanted is the amount that is asked for or, if none is, the one that the request gets.
	wanted resource.Quantity
	// implied says that the request asks for no amount.
	implied bool
}

func listCapacities(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		asked := *whatif.FieldsOf(s.Q.Claims, whatif.RefOf(r)).Capacity
		if asked == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(asked.Requests)) {
			amount := asked.Requests[name]
			path := fmt.Sprintf("%s.capacity.requests[%q]", s.Q.Path(whatif.RefOf(r)), name)
			needs := with(s.about(r, explain.CapacityRequired, path, "%s needs %s of %s on each device", r.Name, amount.String(), name), s.amountsLeft(r, name))
			needs.Capacity, needs.Amount = name, amount.String()
			edit := whatif.CapacityEdit{At: whatif.RefOf(r), Capacity: name, Amount: leastAmount(r, name)}
			out = append(out, capacityRequirement{relaxable[whatif.CapacityEdit]{needs, edit, 2, CostDrop}, amount, false})
		}
	}
	return out
}

// leastAmount is what stands for a capacity that is not required. It is nil where no device has it. The
// policy of a device raises it to the least that it gives.
func leastAmount(r *allocator.ExaminedRequest, name resourcev1.QualifiedName) *resource.Quantity {
	for i := range r.Devices {
		if _, ok := r.Devices[i].Device.Capacity[name]; ok {
			return resource.NewQuantity(1, resource.DecimalSI)
		}
	}
	return nil
}

// amountsLeft says what the devices have left of a capacity, or that their policy is in the way.
func (s *site) amountsLeft(r *allocator.ExaminedRequest, name resourcev1.QualifiedName) string {
	var left []resource.Quantity
	var policies []string
	for _, d := range devicesFor(r) {
		capacity, ok := d.Device.Capacity[name]
		if !ok {
			continue
		}
		if f := d.Fails(allocator.CapacityPolicyViolated); f != nil && f.Capacity == name {
			if policy := allowed(capacity.RequestPolicy); policy != "" && !slices.Contains(policies, policy) {
				policies = append(policies, policy)
			}
		}
		amount := amountLeft(s.Sandbox, d.ID, name, capacity.Value)
		if !slices.ContainsFunc(left, func(have resource.Quantity) bool { return have.Cmp(amount) == 0 }) {
			left = append(left, amount)
		}
	}
	slices.SortFunc(left, func(a, b resource.Quantity) int { return b.Cmp(a) })
	switch {
	case len(left) == 0:
		return "no device here has it" + meant(name, CapacityNames(devicesFor(r)))
	case len(policies) > 0:
		return "devices here give " + words.Or(policies)
	case len(left) == 1:
		return fmt.Sprintf("at most %s left here", &left[0])
	}
	return "devices here have " + words.Shorten(words.Each(left, amountText), maxValues) + " left"
}

func amountText(q resource.Quantity) string { return q.String() }

// allowed says which amounts a policy allows.
func allowed(p *resourcev1.CapacityRequestPolicy) string {
	switch {
	case p == nil:
		return ""
	case len(p.ValidValues) > 0:
		return "only " + words.Shorten(words.Each(p.ValidValues, amountText), maxValues)
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

// amountLeft is what claims leave of a capacity of a device.
func amountLeft(b *whatif.Sandbox, id inspect.DeviceID, name resourcev1.QualifiedName, total resource.Quantity) resource.Quantity {
	left := total.DeepCopy()
	for _, h := range b.Snapshot.Holders(id) {
		switch {
		case h.Admin():
		case !h.Shared():
			return resource.Quantity{Format: total.Format} // the claim has the whole device
		}
		for used, amount := range h.Result.ConsumedCapacity {
			if !h.Admin() && b.Snapshot.SameCapacity(id.Driver, used, name) {
				left.Sub(amount)
			}
		}
	}
	return left
}

// Propose finds the largest amount that is to be had: first among those that devices have left, then any. To
// ask for less never fits worse.
func (r capacityRequirement) Propose(ctx context.Context, q *whatif.Question, node inspect.NodeName) []Change {
	if r.edit.Amount == nil {
		return []Change{{
			Kind: explain.ReduceCapacity, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostDrop, Key: r.edit.Key(),
			Message: r.drop(q),
		}}
	}
	best, at := r.largestLeft(ctx, q, r.wanted)
	if at == "" {
		best, at = r.largestAmount(ctx, q, r.wanted, node)
	}
	message := fmt.Sprintf("ask for %s of %s instead of %s%s", best.Amount.String(), best.Capacity, r.wanted.String(), ForRequest(q, &r.Requirement))
	if r.implied {
		message = fmt.Sprintf("ask for at most %s of %s%s", best.Amount.String(), best.Capacity, ForRequest(q, &r.Requirement))
	}
	return []Change{{
		Kind: explain.ReduceCapacity, Edits: []whatif.Edit{best}, Node: at, Cost: CostValue, Key: fmt.Sprint(best.Key(), best.Amount),
		Message: message,
	}}
}

func (r capacityRequirement) drop(q *whatif.Question) string {
	return fmt.Sprintf("ask for no particular amount of %s%s", r.edit.Capacity, ForRequest(q, &r.Requirement))
}

// largestLeft tries the amounts that devices have left, the largest first. The node is "" when none helps.
func (r capacityRequirement) largestLeft(ctx context.Context, q *whatif.Question, wanted resource.Quantity) (whatif.CapacityEdit, inspect.NodeName) {
	amounts := amountsBelow(q, r.edit.Capacity, wanted)
	for i := range amounts[:min(len(amounts), maxCapacitiesTried)] {
		e := r.edit
		e.Amount = &amounts[i]
		if at := q.FirstFit(ctx, []whatif.Edit{e}); at != "" {
			return e, at
		}
	}
	return r.edit, ""
}

// largestAmount searches by halves between an amount that fits and the wanted one, which does not.
func (r capacityRequirement) largestAmount(ctx context.Context, q *whatif.Question, wanted resource.Quantity, node inspect.NodeName) (whatif.CapacityEdit, inspect.NodeName) {
	best := r.edit
	low, high := best.Amount.Value(), wanted.Value()
	for high-low > 1 {
		e := best
		e.Amount = resource.NewQuantity(low+(high-low)/2, wanted.Format)
		at := q.FirstFit(ctx, []whatif.Edit{e})
		if at == "" {
			high = e.Amount.Value()
			continue
		}
		low, best, node = e.Amount.Value(), e, at
	}
	return best, node
}

func (r capacityRequirement) Combine(_ context.Context, c *Combination, _ int) Part {
	if r.edit.Amount != nil {
		return Part{
			explain.ReduceCapacity, fmt.Sprint(r.edit.Key(), r.edit.Amount),
			fmt.Sprintf("ask for the least of %s%s", r.edit.Capacity, ForRequest(c.Question, &r.Requirement)),
		}
	}
	return Part{explain.ReduceCapacity, r.edit.Key(), r.drop(c.Question)}
}

// amountsBelow lists amounts below the wanted one that a device may have to give: what is left of it, shared
// by a few, and what its policy allows; the largest first.
func amountsBelow(q *whatif.Question, name resourcev1.QualifiedName, wanted resource.Quantity) []resource.Quantity {
	var out []resource.Quantity
	add := func(q resource.Quantity) {
		if q.Sign() > 0 && q.Cmp(wanted) < 0 && !slices.ContainsFunc(out, func(have resource.Quantity) bool { return have.Cmp(q) == 0 }) {
			out = append(out, q)
		}
	}
	for _, b := range q.NearSandboxes() {
		for _, slice := range b.Snapshot.Slices() {
			for i := range slice.Spec.Devices {
				for published, capacity := range slice.Spec.Devices[i].Capacity {
					if !b.Snapshot.SameCapacity(slice.Spec.Driver, published, name) {
						continue
					}
					left := amountLeft(b, inspect.DeviceIDOf(slice, i), name, capacity.Value)
					for part := int64(1); part <= 4; part++ {
						add(floor(&capacity, divide(left, part)))
					}
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b resource.Quantity) int { return b.Cmp(a) })
	return out
}

// divide returns a whole part of an amount.
func divide(q resource.Quantity, by int64) resource.Quantity {
	if by == 1 {
		return q
	}
	out := resource.NewQuantity(q.Value()/by, q.Format)
	return *out
}

// floor returns the largest amount up to q that the policy of the capacity leaves as it is.
func floor(c *resourcev1.DeviceCapacity, q resource.Quantity) resource.Quantity {
	p := c.RequestPolicy
	switch {
	case p == nil:
	case len(p.ValidValues) > 0:
		best := resource.Quantity{}
		for _, v := range p.ValidValues {
			if v.Cmp(q) <= 0 && v.Cmp(best) > 0 {
				best = v
			}
		}
		return best
	case p.ValidRange != nil:
		r := p.ValidRange
		if r.Max != nil && q.Cmp(*r.Max) > 0 {
			q = *r.Max
		}
		if r.Min != nil && q.Cmp(*r.Min) < 0 {
			return *r.Min
		}
		if r.Min != nil && r.Step != nil && r.Step.Value() > 0 {
			steps := (q.Value() - r.Min.Value()) / r.Step.Value()
			return *resource.NewQuantity(r.Min.Value()+steps*r.Step.Value(), q.Format)
		}
	}
	return q
}
