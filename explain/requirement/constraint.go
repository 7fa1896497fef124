package requirement

import (
	"context"
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
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var constraintKind = Kind{name: explain.ConstraintRequired, Importance: 4, list: listConstraints}

// constraintRequirement is a constraint between the devices of a claim. It is given up by dropping it.
type constraintRequirement struct {
	relaxable[whatif.ConstraintEdit]
}

func listConstraints(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for c, claim := range s.Q.Claims {
		for i := range claim.Spec.Devices.Constraints {
			constraint := &claim.Spec.Devices.Constraints[i]
			text := "a constraint of an unknown type"
			switch {
			case constraint.MatchAttribute != nil:
				text = "all on the same " + string(*constraint.MatchAttribute)
			case constraint.DistinctAttribute != nil:
				text = "each on a different " + string(*constraint.DistinctAttribute)
			}
			if len(constraint.Requests) > 0 && len(claim.Spec.Devices.Requests) > 1 {
				text = strings.Join(constraint.Requests, ", ") + " " + text
			}
			r := s.ofClaim(c, explain.ConstraintRequired, fmt.Sprintf("%s.devices.constraints[%d]", s.Q.SpecPath(), i), "%s", text)
			out = append(out, constraintRequirement{relaxable[whatif.ConstraintEdit]{
				with(r, s.constrainedValues(c, i)), whatif.ConstraintEdit{Claim: c, Constraint: i}, 2, CostDrop,
			}})
		}
	}
	return out
}

// constrainedValues says which values of the attribute of a constraint the devices have that could be taken:
// for one request with their numbers, for several by request.
func (s *site) constrainedValues(claim, index int) string {
	c := &s.Q.Claims[claim].Spec.Devices.Constraints[index]
	name := c.MatchAttribute
	if name == nil {
		name = c.DistinctAttribute
	}
	if name == nil || derives(s.Q.Claims[claim], *name) {
		return ""
	}
	var requests []*allocator.ExaminedRequest
	for i := range s.exam.Requests {
		if r := &s.exam.Requests[i]; r.Claim == claim && covers(c, r.Name) {
			requests = append(requests, r)
		}
	}
	if there, known := nobodyHas(*name, requests); known {
		return there
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

// nobodyHas says that no device that requests could be about has an attribute. It returns false if one has
// it, or if there is no device.
func nobodyHas(name resourcev1.FullyQualifiedName, requests []*allocator.ExaminedRequest) (string, bool) {
	var devices []*allocator.ExaminedDevice
	for _, r := range requests {
		devices = append(devices, devicesFor(r)...)
	}
	if len(devices) == 0 || slices.ContainsFunc(devices, func(d *allocator.ExaminedDevice) bool {
		return allocator.LookupAttribute(d.Device, d.ID.Driver, name) != nil
	}) {
		return "", false
	}
	return "no device here has it" + meant(name, AttributeNames(devices)), true
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
	typed := map[string]map[string]bool{} // the values in CEL's notation, by what is shown of them
	for i := range r.Devices {
		d := &r.Devices[i]
		if slices.ContainsFunc(d.Failures, func(f allocator.Rejection) bool {
			return f.Code != allocator.AttributeMissing || f.Constraint != constraint
		}) {
			continue
		}
		text := "none"
		if d.Fails(allocator.AttributeMissing) == nil {
			attribute := allocator.LookupAttribute(d.Device, d.ID.Driver, name)
			value, ok := ScalarText(attribute)
			if !ok {
				return "" // a list, or a derived attribute
			}
			text = selector.FormatAttribute(attribute)
			if typed[value] == nil {
				typed[value] = map[string]bool{}
			}
			typed[value][text] = true
		}
		counts[text]++
	}
	counts = withoutNotation(counts, typed)
	var texts []string
	for i, text := range frequent(counts) {
		switch have := words.Plural(counts[text], "has", "have"); {
		case numbers && len(counts) == 1 && counts[text] == 1:
			text = "the only one that fits has " + text
		case numbers && i == 0:
			text = fmt.Sprintf("%d of those that fit %s %s", counts[text], have, text)
		case numbers:
			text = fmt.Sprintf("%d %s %s", counts[text], have, text)
		}
		texts = append(texts, text)
	}
	return words.Shorten(texts, maxValues)
}

// withoutNotation counts values as they are shown: with their type where values of different types look
// alike, as the number 1 and the string "1" do, and bare otherwise. The values are given in CEL's notation,
// with those that look like each text.
func withoutNotation(counts map[string]int, typed map[string]map[string]bool) map[string]int {
	out := maps.Clone(counts)
	for text, notations := range typed {
		for notation := range notations {
			shown := text
			if len(notations) > 1 {
				shown = text + " (" + typeOf(notation) + ")"
			}
			if shown != notation {
				out[shown] += out[notation]
				delete(out, notation)
			}
		}
	}
	return out
}

// typeOf is the type of a value in CEL's notation.
func typeOf(notation string) string {
	switch {
	case strings.HasPrefix(notation, "semver("):
		return "version"
	case strings.HasPrefix(notation, `"`):
		return "string"
	case notation == "true" || notation == "false":
		return "bool"
	}
	return "int"
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

// Propose tries to take single requests out of the constraint, then a wider attribute, and proposes to drop
// it.
func (r constraintRequirement) Propose(ctx context.Context, q *whatif.Question, node inspect.NodeName) []Change {
	claim := q.Claims[r.edit.Claim]
	names := claim.Spec.Devices.Constraints[r.edit.Constraint].Requests
	if len(names) == 0 {
		for i := range claim.Spec.Devices.Requests {
			names = append(slices.Clip(names), claim.Spec.Devices.Requests[i].Name)
		}
	}
	var out []Change
	for i := range names {
		if len(names) < 3 {
			break // of two, one left alone is no constraint
		}
		e := r.edit
		e.Requests = slices.Delete(slices.Clone(names), i, i+1)
		if at := q.FirstFit(ctx, []whatif.Edit{e}); at != "" {
			out = append(out, Change{
				Kind: explain.DropConstraint, Edits: []whatif.Edit{e}, Node: at, Cost: costNarrow, Key: fmt.Sprintf("%s %q", e.Key(), e.Requests),
				Message: fmt.Sprintf("leave %s out of the constraint: %s", names[i], r.Message),
			})
		}
	}
	return append(append(out, r.widen(ctx, q)...), Change{
		Kind: explain.DropConstraint, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostDrop, Key: fmt.Sprint(r.edit),
		Message: r.drop(),
	})
}

func (r constraintRequirement) drop() string { return "drop the constraint: " + r.Message }

func (r constraintRequirement) Combine(context.Context, *Combination, int) Part {
	return Part{explain.DropConstraint, fmt.Sprint(r.edit), r.drop()}
}
