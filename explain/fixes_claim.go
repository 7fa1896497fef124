package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Smaller changes than dropping a requirement.

// forRequest names the request of a message where there are several, and always the alternative.
func (s *search) forRequest(a *atom) string {
	requests := 0
	for i, claim := range s.q.claims {
		if s.q.twins(i)[0] == i {
			requests += len(claim.Spec.Devices.Requests)
		}
	}
	if requests < 2 && !strings.Contains(a.Request, "/") {
		return ""
	}
	return " for " + a.Request
}

// lowerCount finds the highest count that fits on any node. Asking for fewer devices never fits worse:
// the devices of a solution without one of them are a solution for one less.
func (s *search) lowerCount(ctx context.Context, a *atom, node inspect.NodeName) error {
	f := fieldsOf(s.q.claims, a.edit.at)
	wanted, cost := "all", costAll
	if *f.mode == resourcev1.DeviceAllocationModeExactCount {
		wanted, cost = fmt.Sprint(*f.count), costCount
	}
	most, err := s.mostDevices(ctx, a.edit.at)
	if err != nil {
		return err
	}
	best := a.edit // a count of 1 fits
	for best.count < most {
		next := best
		next.count++
		at, err := s.firstFit(ctx, []edit{next})
		if err != nil {
			return err
		}
		if at == "" {
			break
		}
		best, node = next, at
	}
	s.changes = append(s.changes, change{
		kind: ReduceCount, edits: []edit{best}, node: node, cost: cost,
		message: fmt.Sprintf("ask for %s instead of %s%s", count(int(best.count), "device"), wanted, s.forRequest(a)),
	})
	return nil
}

// mostDevices is the highest count to try instead of the count, or of all: one less, or as many as all are on any
// of the near nodes. Where another alternative is what fits, no count would be too high.
func (s *search) mostDevices(ctx context.Context, at alternative) (int64, error) {
	if f := fieldsOf(s.q.claims, at); *f.mode == resourcev1.DeviceAllocationModeExactCount {
		return *f.count - 1, nil
	}
	examined, err := s.examined(ctx)
	if err != nil {
		return 0, err
	}
	most := 1
	for _, r := range examined {
		if alternativeOf(r) == at {
			most = max(most, r.Needed)
		}
	}
	return int64(min(most, resourcev1.AllocationResultsMaxSize)), nil
}

// relaxTerm finds the nearest value with which the term helps; otherwise the term is dropped.
func (s *search) relaxTerm(ctx context.Context, a *atom, node inspect.NodeName) error {
	f := fieldsOf(s.q.claims, a.edit.at)
	term := s.q.terms(ctx, (*f.selectors)[a.edit.selector].CEL.Expression)[a.edit.term]
	c := s.q.comparison(ctx, term)
	if c != nil {
		for _, v := range s.q.nearestValues(c) {
			e := a.edit
			e.expression = c.with(v)
			at, err := s.firstFit(ctx, []edit{e})
			if err != nil {
				return err
			}
			if at != "" {
				s.changes = append(s.changes, change{
					kind: RelaxSelector, edits: []edit{e}, node: at, cost: costValue,
					message: s.acceptInstead(a, c, v) + c.remark(v),
				})
				break
			}
		}
	}
	s.changes = append(s.changes, change{
		kind: RelaxSelector, edits: []edit{a.edit}, node: node, cost: costDrop + 2,
		message: fmt.Sprintf("drop from the selector%s: %s", s.forRequest(a), s.q.brief(ctx, term)),
	})
	return nil
}

// acceptInstead proposes another value for a term. A relation that excludes the value itself is widened with it.
func (s *search) acceptInstead(a *atom, c *comparison, v fieldValue) string {
	value, text := v.text, c.text
	if c.relation == ">" || c.relation == "<" {
		value, text = c.relation+"= "+value, c.relation+" "+text
	}
	return fmt.Sprintf("accept %s %s instead of %s%s", c.field, value, text, s.forRequest(a))
}

// relaxConstraint tries to take single requests out of the constraint; otherwise it is dropped.
func (s *search) relaxConstraint(ctx context.Context, a *atom, node inspect.NodeName) error {
	claim := s.q.claims[a.edit.at.claim]
	names := claim.Spec.Devices.Constraints[a.edit.constraint].Requests
	if len(names) == 0 {
		for i := range claim.Spec.Devices.Requests {
			names = append(slices.Clip(names), claim.Spec.Devices.Requests[i].Name)
		}
	}
	for i := range names {
		if len(names) < 3 {
			break // of two, one left alone is no constraint
		}
		e := a.edit
		e.requests = slices.Delete(slices.Clone(names), i, i+1)
		at, err := s.firstFit(ctx, []edit{e})
		if err != nil {
			return err
		}
		if at != "" {
			s.changes = append(s.changes, change{
				kind: DropConstraint, edits: []edit{e}, node: at, cost: costNarrow,
				message: fmt.Sprintf("leave %s out of the constraint: %s", names[i], a.Message),
			})
		}
	}
	if err := s.widen(ctx, a); err != nil {
		return err
	}
	s.changes = append(s.changes, change{
		kind: DropConstraint, edits: []edit{a.edit}, node: node, cost: costDrop,
		message: "drop the constraint: " + a.Message,
	})
	return nil
}

// tolerate narrows the toleration to the value of the taint, where that is enough.
func (s *search) tolerate(ctx context.Context, a *atom, node inspect.NodeName) error {
	e := a.edit
	text := e.toleration.Key + ":" + string(e.toleration.Effect)
	for _, value := range s.taintValues(node, &e) {
		narrow := e
		narrow.toleration.Operator, narrow.toleration.Value = resourcev1.DeviceTolerationOpEqual, value
		at, err := s.firstFit(ctx, []edit{narrow})
		if err != nil {
			return err
		}
		if at != "" {
			e, node = narrow, at
			text = e.toleration.Key + "=" + value + ":" + string(e.toleration.Effect)
			break
		}
	}
	s.changes = append(s.changes, change{
		kind: TolerateTaint, edits: []edit{e}, node: node, cost: costTolerate,
		message: fmt.Sprintf("tolerate the taint %s%s", text, s.forRequest(a)),
	})
	return nil
}

// taintValues lists the values that the taint has on the devices of a node.
func (s *search) taintValues(node inspect.NodeName, e *edit) []string {
	var out []string
	l := s.q.localOf(node)
	if l == nil {
		return nil
	}
	for _, slice := range l.snapshot.Slices() {
		for i := range slice.Spec.Devices {
			for _, t := range slice.Spec.Devices[i].Taints {
				if t.Key == e.toleration.Key && t.Effect == e.toleration.Effect && t.Value != "" && !slices.Contains(out, t.Value) {
					out = append(out, t.Value)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// lowerCapacity finds the largest amount that is to be had: first among those that devices have left, then
// any. To ask for less never fits worse.
func (s *search) lowerCapacity(ctx context.Context, a *atom, node inspect.NodeName) error {
	wanted := (*fieldsOf(s.q.claims, a.edit.at).capacity).Requests[a.edit.capacity]
	if a.edit.amount == nil {
		s.changes = append(s.changes, change{
			kind: ReduceCapacity, edits: []edit{a.edit}, node: node, cost: costDrop,
			message: fmt.Sprintf("ask for no particular amount of %s%s", a.edit.capacity, s.forRequest(a)),
		})
		return nil
	}
	best := a.edit
	amounts := s.amounts(a.edit.capacity, wanted)
	for i := range amounts[:min(len(amounts), maxCapacitiesTried)] {
		e := a.edit
		e.amount = &amounts[i]
		at, err := s.firstFit(ctx, []edit{e})
		if err != nil {
			return err
		}
		if at != "" {
			best, node = e, at
			break
		}
	}
	if best.amount == a.edit.amount {
		var err error
		if best, node, err = s.largestAmount(ctx, best, wanted, node); err != nil {
			return err
		}
	}
	s.changes = append(s.changes, change{
		kind: ReduceCapacity, edits: []edit{best}, node: node, cost: costValue,
		message: fmt.Sprintf("ask for %s of %s instead of %s%s", best.amount.String(), a.edit.capacity, wanted.String(), s.forRequest(a)),
	})
	return nil
}

// largestAmount searches by halves between an amount that fits and the wanted one, which does not.
func (s *search) largestAmount(ctx context.Context, best edit, wanted resource.Quantity, node inspect.NodeName) (edit, inspect.NodeName, error) {
	low, high := best.amount.Value(), wanted.Value()
	for high-low > 1 {
		e := best
		e.amount = resource.NewQuantity(low+(high-low)/2, wanted.Format)
		at, err := s.firstFit(ctx, []edit{e})
		if err != nil {
			return best, node, err
		}
		if at == "" {
			high = e.amount.Value()
			continue
		}
		low, best, node = e.amount.Value(), e, at
	}
	return best, node, nil
}

// amounts lists those below the wanted one that a device may have to give: what is left of it, shared by
// a few, and what its policy allows; the largest first.
func (s *search) amounts(name resourcev1.QualifiedName, wanted resource.Quantity) []resource.Quantity {
	var out []resource.Quantity
	add := func(q resource.Quantity) {
		if q.Sign() > 0 && q.Cmp(wanted) < 0 && !slices.ContainsFunc(out, func(have resource.Quantity) bool { return have.Cmp(q) == 0 }) {
			out = append(out, q)
		}
	}
	for _, n := range s.near {
		l := s.q.localOf(n.name)
		if l == nil {
			continue
		}
		for _, slice := range l.snapshot.Slices() {
			for i := range slice.Spec.Devices {
				capacity, ok := slice.Spec.Devices[i].Capacity[name]
				if !ok {
					continue
				}
				left := l.left(inspect.DeviceIDOf(slice, i), name, capacity.Value)
				for part := int64(1); part <= 4; part++ {
					add(floor(&capacity, divide(left, part)))
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
