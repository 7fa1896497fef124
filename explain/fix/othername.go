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
func (s *search) otherNames(ctx context.Context) error {
	devices, err := s.nearDevices(ctx)
	if err != nil || len(devices) == 0 {
		return err
	}
	for _, at := range s.Q.RequestRefs() {
		if err := s.capacityNames(ctx, at, requirement.CapacityNames(devices)); err != nil {
			return err
		}
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
				if err := s.tryEdit(ctx, e, explain.DropConstraint, requirement.CostClass, message); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// capacityNames proposes other names for the capacities of a request.
func (s *search) capacityNames(ctx context.Context, at whatif.RequestRef, have []resourcev1.QualifiedName) error {
	asked := *whatif.FieldsOf(s.Q.Claims, at).Capacity
	if asked == nil || !s.Q.FirstOfTemplate(at.Claim) {
		return nil
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
			if err := s.tryEdit(ctx, e, explain.UseCapacity, requirement.CostClass, message); err != nil {
				return err
			}
		}
	}
	return nil
}

// nearDevices are the devices that requests see on the nodes that come nearest.
func (s *search) nearDevices(ctx context.Context) ([]*allocator.ExaminedDevice, error) {
	var out []*allocator.ExaminedDevice
	for _, b := range s.NearSandboxes() {
		requests, err := b.RequestsExamined(ctx)
		if err != nil {
			return nil, err
		}
		for i := range requests {
			out = append(out, requirement.DevicesWithout(&requests[i], allocator.ClassSelectorRejected)...)
		}
	}
	return out, nil
}

// lessOfImplied proposes to ask for amounts of capacities for which requests ask for none.
func (s *search) lessOfImplied(ctx context.Context) error {
	changes, err := requirement.LessOfImplied(ctx, s.ClusterSandbox)
	s.changes = append(s.changes, changes...)
	return err
}
