package fix

import (
	"context"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// Capacities and attributes of constraints that no device has by the name that is asked for: often a driver
// publishes them with its domain and the claim leaves it out, or the other way round. Up to Kubernetes 1.37
// these are different capacities.

// otherNames proposes the names that devices have.
func (s *search) otherNames(ctx context.Context) {
	devices := s.nearDevices(ctx)
	if len(devices) == 0 {
		return
	}
	for _, at := range s.Q.RequestRefs() {
		s.capacityNames(ctx, at, requirement.CapacityNames(devices))
	}
	for c, claim := range s.Q.Claims {
		if !s.Q.FirstOfTemplate(c) {
			continue
		}
		for i := range claim.Spec.Devices.Constraints {
			name := claim.Spec.Devices.Constraints[i].MatchAttribute
			if name == nil || slices.ContainsFunc(devices, func(d *allocator.ExaminedDevice) bool {
				return allocator.LookupAttribute(d.Device, d.ID.Driver, *name) != nil
			}) {
				continue
			}
			for _, other := range spell.Meant(*name, requirement.AttributeNames(devices)) {
				e := whatif.AttributeEdit{Claim: c, Constraint: i, Attribute: other}
				message := fmt.Sprintf("be content with the same %s, as devices name it, instead of the same %s", other, *name)
				s.tryEdit(ctx, e, explain.DropConstraint, requirement.CostClass, message)
			}
		}
	}
}

// capacityNames proposes other names for the capacities of a request.
func (s *search) capacityNames(ctx context.Context, at whatif.RequestRef, have []resourcev1.QualifiedName) {
	asked := *whatif.FieldsOf(s.Q.Claims, at).Capacity
	if asked == nil || !s.Q.FirstOfTemplate(at.Claim) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(asked.Requests)) {
		if slices.Contains(have, name) {
			continue
		}
		for _, other := range spell.Meant(name, have) {
			if _, both := asked.Requests[other]; both {
				continue
			}
			e := whatif.CapacityNameEdit{At: at, Capacity: name, Name: other}
			message := fmt.Sprintf("ask for the capacity %s, as devices name it, instead of %s%s", other, name, s.forRequest(at))
			s.tryEdit(ctx, e, explain.UseCapacity, requirement.CostClass, message)
		}
	}
}

// nearDevices are the devices that requests see on the nodes that come nearest.
func (s *search) nearDevices(ctx context.Context) []*allocator.ExaminedDevice {
	var out []*allocator.ExaminedDevice
	for _, b := range s.Q.NearSandboxes() {
		for _, r := range b.RequestsExamined(ctx) {
			out = append(out, requirement.DevicesWithout(&r, allocator.ClassSelectorRejected)...)
		}
	}
	return out
}

// lessOfImplied proposes to ask for amounts of capacities for which requests ask for none.
func (s *search) lessOfImplied(ctx context.Context) {
	s.changes = append(s.changes, requirement.LessOfImplied(ctx, s.Q)...)
}
