package fix

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxModels is the number of different devices that are tried for all requests. Each request has one at
// least.
const maxModels = 8

// deviceModel is a device that a request would take if it could be had, and the sandbox of a node that has
// it.
type deviceModel struct {
	request *allocator.ExaminedRequest
	device  *allocator.ExaminedDevice
	from    *whatif.Sandbox
}

// addition is a number of devices to be added that are like a model.
type addition struct {
	deviceModel
	count int
}

// moreDevices proposes to add devices to the node of the conflict. They are copies of a device of the node
// or, for a request for which it has none, of a device of another node. If nothing else helps, devices for
// all requests are added together.
func (s *search) moreDevices(ctx context.Context) {
	if s.conflict == nil {
		return
	}
	b := s.Q.SandboxOf(s.conflict.Node)
	requests := b.RequestsExamined(ctx)
	needed := 0
	for i := range requests {
		if !requests[i].All {
			needed += requests[i].Needed
		}
	}
	var models []deviceModel
	for i := range requests {
		models = append(models, s.modelsFor(ctx, &requests[i], b, max(1, maxModels/len(requests)))...)
	}
	for n := 1; n <= min(needed, resourcev1.AllocationResultsMaxSize); n++ {
		for _, model := range models { // the model of which fewest are needed wins
			added := []addition{{model, n}}
			if b.Try(ctx, []whatif.Edit{addingEdit(b, added)}) == whatif.Fits {
				s.changes = append(s.changes, s.adding(b, added))
				return
			}
		}
	}
	if len(s.changes) > 0 {
		return
	}
	s.devicesForAll(ctx, b, models)
}

// devicesForAll proposes to add devices for all requests: as many as each needs, but for those that can be
// left out.
func (s *search) devicesForAll(ctx context.Context, b *whatif.Sandbox, models []deviceModel) {
	var added []addition
	for _, model := range models {
		if !slices.ContainsFunc(added, func(a addition) bool {
			return a.request.Claim == model.request.Claim && a.request.Request == model.request.Request
		}) {
			added = append(added, addition{model, min(model.request.Needed, resourcev1.AllocationResultsMaxSize)})
		}
	}
	if len(added) < 2 {
		return
	}
	if b.Try(ctx, []whatif.Edit{addingEdit(b, added)}) != whatif.Fits {
		return
	}
	for i := range added {
		for added[i].count > 0 {
			fewer := slices.Clone(added)
			fewer[i].count--
			if b.Try(ctx, []whatif.Edit{addingEdit(b, fewer)}) != whatif.Fits {
				break
			}
			added = fewer
		}
	}
	s.changes = append(s.changes, s.adding(b, added))
}

// modelsFor returns different devices that a request accepts: those of the node, or else those of the first
// other node that has any, the nearest first.
func (s *search) modelsFor(ctx context.Context, r *allocator.ExaminedRequest, b *whatif.Sandbox, most int) []deviceModel {
	if out := s.modelsOf(r, b, most); len(out) > 0 {
		return out
	}
	for _, other := range s.Q.NearSandboxes() {
		requests := other.RequestsExamined(ctx)
		for i := range requests {
			if o := &requests[i]; o.Claim == r.Claim && o.Request == r.Request && o.Sub == r.Sub {
				if out := s.modelsOf(o, other, most); len(out) > 0 {
					return out
				}
			}
		}
	}
	return nil
}

// modelsOf returns different devices of a node that a request accepts, at most so many. Devices that differ
// only in what nothing compares, such as their serial number, are one model.
func (s *search) modelsOf(r *allocator.ExaminedRequest, from *whatif.Sandbox, most int) []deviceModel {
	var out []deviceModel
	seen := map[string]bool{}
	for i := range r.Devices {
		d := &r.Devices[i]
		if r.All || len(out) == most || d.Fails(allocator.ClassSelectorRejected, allocator.SelectorRejected,
			allocator.SelectorError, allocator.NodeUnsuitable, allocator.FeatureDisabled) != nil {
			continue
		}
		key := s.modelKey(d)
		if !seen[key] {
			seen[key] = true
			out = append(out, deviceModel{r, d, from})
		}
	}
	return out
}

// modelKey is the same for devices whose copies are the same to the claims: those that accept both cannot
// tell them apart by anything else than attributes that constraints compare, capacities and counters.
func (s *search) modelKey(d *allocator.ExaminedDevice) string {
	like := resourcev1.Device{Capacity: d.Device.Capacity, ConsumesCounters: d.Device.ConsumesCounters}
	compared := comparedAttributes(s.Q.Claims)
	if compared == nil {
		like.Attributes = d.Device.Attributes
	}
	for _, name := range compared {
		if value := allocator.LookupAttribute(d.Device, d.ID.Driver, name); value != nil {
			if like.Attributes == nil {
				like.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
			}
			like.Attributes[resourcev1.QualifiedName(name)] = *value
		}
	}
	key, err := json.Marshal(like) // String would print where values are kept in memory
	if err != nil {
		return d.ID.String()
	}
	return d.ID.Driver + string(key)
}

// comparedAttributes are those that constraints of claims compare. It is nil where any attribute may matter,
// because values are derived from them.
func comparedAttributes(claims []*resourcev1.ResourceClaim) []resourcev1.FullyQualifiedName {
	out := []resourcev1.FullyQualifiedName{}
	for _, claim := range claims {
		if slices.ContainsFunc(claim.Spec.Devices.Requests, derivesAttributes) {
			return nil
		}
		for _, c := range claim.Spec.Devices.Constraints {
			for _, name := range []*resourcev1.FullyQualifiedName{c.MatchAttribute, c.DistinctAttribute} {
				if name != nil {
					out = append(out, *name)
				}
			}
		}
	}
	return out
}

// derivesAttributes reports whether a request computes attributes of devices itself.
func derivesAttributes(r resourcev1.DeviceRequest) bool {
	return r.Exactly != nil && len(r.Exactly.DerivedAttributes) > 0 ||
		slices.ContainsFunc(r.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool { return len(s.DerivedAttributes) > 0 })
}

// addingEdit adds copies of devices to the node of a sandbox.
func addingEdit(b *whatif.Sandbox, added []addition) whatif.AddDevicesEdit {
	e := whatif.AddDevicesEdit{Node: b.Node.Name}
	for _, a := range added {
		c := suppose.DeviceCopies{ID: a.device.ID, Device: a.device.Device, Count: a.count}
		if len(c.Device.ConsumesCounters) > 0 {
			c.Counters = suppose.CountersOf(a.from.Snapshot, c.ID.PoolID())
		}
		e.Added = append(e.Added, c)
	}
	return e
}

// adding proposes to add devices to a node.
func (s *search) adding(b *whatif.Sandbox, added []addition) requirement.Change {
	e := addingEdit(b, added)
	var parts []string
	sum := 0
	for _, a := range added {
		if a.count == 0 {
			continue
		}
		like := a.device.ID.Device
		if a.from != b {
			like = a.device.ID.String()
		}
		parts = append(parts, fmt.Sprintf("%s like %s", words.Count(a.count, "device"), like))
		sum += a.count
	}
	c := requirement.Change{
		Kind: explain.AddDevices, Edits: []whatif.Edit{e}, Node: inspect.NodeName(b.Node.Name), NamesNode: true, Cost: requirement.CostDevices + sum, Key: e.Key(),
		Message: fmt.Sprintf("add %s to %s", strings.Join(parts, " and "), b.Node.Name),
	}
	if len(s.Q.Usable()) > whatif.MaxSwept {
		// All that reaches the node is in its sandbox, and the new devices reach no other node.
		c.Fitting = func(ctx context.Context) whatif.NodeSet {
			return b.Draft(ctx, c.Edits).Fitting(ctx, []*corev1.Node{b.Node})
		}
	}
	return c
}
