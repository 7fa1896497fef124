package requirement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// Widening a constraint: all on the same NUMA node instead of all on the same PCIe root.
//
// An attribute is wider than another if devices of a node that agree on the other agree on it as well, and it
// has fewer values there, but more than one: what all devices have in common is no constraint.

// widen proposes a wider attribute for a constraint that devices match: of those that help the one with most
// values.
func (r constraintRequirement) widen(ctx context.Context, q *whatif.Question) []Change {
	c := &q.Claims[r.edit.Claim].Spec.Devices.Constraints[r.edit.Constraint]
	if c.MatchAttribute == nil || derives(q.Claims[r.edit.Claim], *c.MatchAttribute) {
		return nil
	}
	for _, name := range widerAttributes(ctx, q, r.edit.Claim, c) {
		e := whatif.AttributeEdit{Claim: r.edit.Claim, Constraint: r.edit.Constraint, Attribute: name}
		if at := q.FirstFit(ctx, []whatif.Edit{e}); at != "" {
			return []Change{{
				Kind: explain.DropConstraint, Edits: []whatif.Edit{e}, Node: at, Cost: costNarrow, Key: fmt.Sprint(e.Key(), name),
				Message: fmt.Sprintf("be content with the same %s instead of the same %s", name, *c.MatchAttribute),
			}}
		}
	}
	return nil
}

// widerAttributes lists attributes that are wider than that of the constraint on one of the near nodes.
func widerAttributes(ctx context.Context, q *whatif.Question, claim int, c *resourcev1.DeviceConstraint) []resourcev1.FullyQualifiedName {
	values := map[resourcev1.FullyQualifiedName]int{}
	for _, b := range q.NearSandboxes() {
		var devices []*allocator.ExaminedDevice
		for _, r := range b.RequestsExamined(ctx) {
			if r.Claim == claim && covers(c, r.Name) {
				devices = append(devices, devicesFor(&r)...)
			}
		}
		for _, name := range AttributeNames(devices) {
			if known := values[name]; known == 0 && name != *c.MatchAttribute {
				values[name] = wider(devices, *c.MatchAttribute, name)
			}
		}
	}
	maps.DeleteFunc(values, func(_ resourcev1.FullyQualifiedName, n int) bool { return n < 2 })
	out := slices.SortedFunc(maps.Keys(values), func(a, b resourcev1.FullyQualifiedName) int {
		if values[a] != values[b] {
			return values[b] - values[a]
		}
		return strings.Compare(string(a), string(b))
	})
	return out[:min(len(out), maxValuesTried)]
}

// AttributeNames lists the full names of the attributes of devices, sorted.
func AttributeNames(devices []*allocator.ExaminedDevice) []resourcev1.FullyQualifiedName {
	names := map[resourcev1.FullyQualifiedName]bool{}
	for _, d := range devices {
		for name := range d.Device.Attributes {
			if !strings.Contains(string(name), "/") {
				name = resourcev1.QualifiedName(d.ID.Driver + "/" + string(name))
			}
			names[resourcev1.FullyQualifiedName(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// wider returns the number of values of an attribute that is wider than another; 0: it is not, or some device
// does not have it.
func wider(devices []*allocator.ExaminedDevice, than, name resourcev1.FullyQualifiedName) int {
	together, values := map[string]string{}, map[string]bool{}
	for _, d := range devices {
		value, ok := ScalarText(allocator.LookupAttribute(d.Device, d.ID.Driver, name))
		if !ok {
			return 0
		}
		values[value] = true
		narrow, ok := ScalarText(allocator.LookupAttribute(d.Device, d.ID.Driver, than))
		if !ok {
			continue
		}
		if before, known := together[narrow]; known && before != value {
			return 0
		}
		together[narrow] = value
	}
	if len(together) > 0 && len(values) >= len(together) {
		return 0
	}
	return len(values)
}
