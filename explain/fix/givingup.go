package fix

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/conflict"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The scheduler may give up for other reasons than a selector that fails: too many devices, a feature that is
// off, a pool of which all devices are wanted and that is incomplete, or a search that takes too long. There
// is no conflict then. Every single change is tried that makes less of the claims, and those that help are
// what can be done.

// FindForGivingUp adds to an explanation single changes after which the scheduler no longer gives up and
// finds devices. The abort is nil if it gives up because its search takes too long. Errors are those of
// [Find].
func FindForGivingUp(ctx context.Context, q *whatif.Question, e *explain.Explanation, abort *allocator.AbortError) error {
	if q.PerNode != nil || len(e.Fixes) > 0 {
		return nil
	}
	s := newSearch(ctx, q, requirement.NewLists(q), givingUp(q), nil)
	for _, propose := range []func(*search, context.Context){(*search).relaxEach, (*search).release, (*search).lessOfClaims} {
		propose(s, ctx)
	}
	if abort != nil {
		s.repairs(abort)
	}
	if s.fewestInReach() > 0 {
		s.changes = slices.DeleteFunc(s.changes, func(c requirement.Change) bool { return c.Cost == requirement.CostClassTerm })
	}
	if e.Fixes = distinct(s.verify(ctx)); len(e.Fixes) == 0 {
		e.NoHelp = append(e.NoHelp, "None of the single changes that were tried helps")
	}
	return q.Err()
}

// givingUp returns the nodes because of which the scheduler gives up, and then others that do not fit, one of
// each that look alike.
func givingUp(q *whatif.Question) []whatif.RankedNode {
	var first, rest []whatif.RankedNode
	for i := range q.Answers {
		a := &q.Answers[i]
		if len(a.Unsuitable) > 0 {
			continue
		}
		n := whatif.RankedNode{Name: inspect.NodeName(q.Nodes[a.Nodes[0]].Name)}
		if a.Abort != nil || a.Risk == explain.WouldTimeOut {
			first = append(first, n)
		} else {
			rest = append(rest, n)
		}
	}
	all := append(first, rest...)
	return all[:min(len(all), conflict.MaxCandidates)]
}

// lessOfClaims proposes to ask for less where no node tells what its requirements are, since the scheduler
// gives up before it looks at devices.
func (s *search) lessOfClaims(ctx context.Context) {
	if len(s.requirements) > 0 {
		return
	}
	for _, at := range s.Q.RequestRefs() {
		if !s.Q.FirstOfTemplate(at.Claim) {
			continue
		}
		for _, propose := range []func(context.Context, whatif.RequestRef){s.fewerDevices, s.fewerTerms, s.lessCapacity} {
			propose(ctx, at)
		}
	}
	for c, claim := range s.Q.Claims {
		for i := range claim.Spec.Devices.Constraints {
			if e := (whatif.ConstraintEdit{Claim: c, Constraint: i}); s.Q.FirstOfTemplate(c) {
				s.tryEdit(ctx, e, explain.DropConstraint, requirement.CostDrop, fmt.Sprintf("drop constraint %d", i+1))
			}
		}
	}
}

// tryEdit proposes an edit if it helps on some node.
func (s *search) tryEdit(ctx context.Context, e whatif.Edit, kind explain.FixKind, cost int, message string) {
	if !s.Q.Feasible(e) {
		return
	}
	if node := s.Q.FirstFit(ctx, []whatif.Edit{e}); node != "" {
		s.changes = append(s.changes, requirement.Change{
			Kind: kind, Edits: []whatif.Edit{e}, Node: node, Cost: cost, Key: fmt.Sprint(e), Message: message,
		})
	}
}

// fewerDevices proposes the highest number of devices of a request with which some node fits.
func (s *search) fewerDevices(ctx context.Context, at whatif.RequestRef) {
	f := whatif.FieldsOf(s.Q.Claims, at)
	most, wanted := int64(resourcev1.AllocationResultsMaxSize), "all"
	if *f.Mode == resourcev1.DeviceAllocationModeExactCount {
		most, wanted = min(most, *f.Count-1), fmt.Sprint(*f.Count)
	}
	for n := most; n >= 1; n-- {
		before := len(s.changes)
		message := fmt.Sprintf("ask for %s instead of %s%s", words.Count(int(n), "device"), wanted, s.forRequest(at))
		s.tryEdit(ctx, whatif.CountEdit{At: at, Count: n}, explain.ReduceCount, requirement.CostValue, message)
		if len(s.changes) > before {
			return
		}
	}
}

// fewerTerms proposes to drop terms of the selectors of a request.
func (s *search) fewerTerms(ctx context.Context, at whatif.RequestRef) {
	for i, selector := range *whatif.FieldsOf(s.Q.Claims, at).Selectors {
		if selector.CEL == nil {
			continue
		}
		for t, term := range s.Q.Terms(ctx, selector.CEL.Expression) {
			e := whatif.TermEdit{SelectorRef: whatif.SelectorRef{At: at, Index: i}, Term: t}
			message := "drop from the selector" + s.forRequest(at) + ": " + s.Q.Cluster.Selectors().Brief(term)
			s.tryEdit(ctx, e, explain.RelaxSelector, requirement.CostDrop+2, message)
		}
	}
}

// lessCapacity proposes to ask for no particular amount of a capacity.
func (s *search) lessCapacity(ctx context.Context, at whatif.RequestRef) {
	capacity := *whatif.FieldsOf(s.Q.Claims, at).Capacity
	if capacity == nil {
		return
	}
	var names []resourcev1.QualifiedName
	for name := range capacity.Requests {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		message := fmt.Sprintf("ask for no particular amount of %s%s", name, s.forRequest(at))
		s.tryEdit(ctx, whatif.CapacityEdit{At: at, Capacity: name}, explain.ReduceCapacity, requirement.CostDrop, message)
	}
}

// forRequest names a request where there are several.
func (s *search) forRequest(at whatif.RequestRef) string {
	return requirement.ForRequest(s.Q, &explain.Requirement{Request: s.Q.RequestName(at)})
}

// repairs proposes to mend what is not the claim's: features that are off and that the claim needs, and the
// pool at fault.
func (s *search) repairs(abort *allocator.AbortError) {
	snapshot := s.Q.Cluster.Snapshot()
	if abort.Code == allocator.FeatureDisabled {
		var off []inspect.Gate
		used := inspect.FeaturesUsedBy(inspect.Objects{Claims: s.Q.Claims})
		if saysAdminAccess(s.Q) && !slices.Contains(used, inspect.GateAdminAccess) {
			used = append(used, inspect.GateAdminAccess)
		}
		for _, gate := range used {
			if !snapshot.Features().Enabled(gate) {
				off = append(off, gate)
			}
		}
		for i := range off {
			s.changes = append(s.changes, requirement.Enabling(whatif.GatesEdit{Gates: off[i : i+1 : i+1]}))
		}
		if len(off) > 1 {
			s.changes = append(s.changes, requirement.Enabling(whatif.GatesEdit{Gates: off}))
		}
	}
	if abort.Pool == (inspect.PoolID{}) {
		return
	}
	for _, node := range s.Q.Usable() {
		pools, err := snapshot.PoolsOn(node)
		if err != nil {
			continue
		}
		for _, p := range pools {
			if p.ID == abort.Pool {
				s.changes = append(s.changes, requirement.Repairing(p, inspect.NodeName(node.Name)))
				return
			}
		}
	}
}

// saysAdminAccess reports whether a request says anything of admin access. While the feature is off it may
// not even say that it does not want any.
func saysAdminAccess(q *whatif.Question) bool {
	return slices.ContainsFunc(q.Claims, func(c *resourcev1.ResourceClaim) bool {
		return slices.ContainsFunc(c.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return r.Exactly != nil && r.Exactly.AdminAccess != nil })
	})
}
