package requirement

import (
	"context"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// Who asks for no amount of a capacity gets the default of the device's policy, or the whole. Where that is
// more than is left, it helps to ask for less. It is no requirement that could be part of a conflict: to ask
// for any amount excludes the devices that do not have the capacity, so relaxed it does not fit wherever it
// did before.

// LessOfImplied proposes to ask for amounts of capacities for which requests ask for none.
func LessOfImplied(ctx context.Context, q *whatif.Question) []Change {
	least := map[string]capacityRequirement{}
	for _, b := range q.NearSandboxes() {
		for _, request := range b.RequestsExamined(ctx) {
			for _, r := range impliedCapacities(q, &request) {
				if have, known := least[r.edit.Key()]; !known || r.wanted.Cmp(have.wanted) < 0 {
					least[r.edit.Key()] = r
				}
			}
		}
	}
	var out []Change
	for _, key := range slices.Sorted(maps.Keys(least)) {
		r := least[key]
		if node := q.FirstFit(ctx, []whatif.Edit{r.edit}); node != "" {
			out = append(out, r.Propose(ctx, q, node)...)
		}
	}
	return out
}

// impliedCapacities are those of which devices have too little left for what a request gets. The amount
// wanted is the least that it would get.
func impliedCapacities(q *whatif.Question, r *allocator.ExaminedRequest) []capacityRequirement {
	at := whatif.RefOf(r)
	asked := *whatif.FieldsOf(q.Claims, at).Capacity
	needed := map[resourcev1.QualifiedName]resource.Quantity{}
	for _, d := range DevicesWithout(r, allocator.ClassSelectorRejected) {
		f := d.Fails(allocator.CapacityInsufficient)
		if f == nil || f.Needed == nil || f.Available == nil || asks(asked, f.Capacity) {
			continue
		}
		if least, known := needed[f.Capacity]; !known || f.Needed.Cmp(least) < 0 {
			needed[f.Capacity] = *f.Needed
		}
	}
	var out []capacityRequirement
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		needs := explain.Requirement{Kind: explain.CapacityRequired, Request: r.Name, Capacity: name}
		edit := whatif.CapacityEdit{At: at, Capacity: name, Amount: resource.NewQuantity(1, resource.DecimalSI)}
		out = append(out, capacityRequirement{relaxable[whatif.CapacityEdit]{needs, edit, 2, CostDrop}, needed[name], true})
	}
	return out
}

// asks reports whether a request asks for an amount of a capacity. What it asks for may be nil.
func asks(requested *resourcev1.CapacityRequirements, name resourcev1.QualifiedName) bool {
	if requested == nil {
		return false
	}
	_, ok := requested.Requests[name]
	return ok
}
