package allocator

import (
	"context"
	"errors"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// problem is a question prepared for one node: the claims with everything that does not change during
// the search.
type problem struct {
	claims []*claimProblem
}

type claimProblem struct {
	index    int
	ref      inspect.ClaimRef
	claim    *resourcev1.ResourceClaim
	requests []*requestProblem
	// twin is the first claim of the question that is the very same object, as when copies are counted;
	// nil for that one itself. What is known of one holds for all.
	twin *claimProblem
}

// requestProblem is a request. A plain request has one alternative, itself; a prioritized one has an
// alternative for each subrequest.
type requestProblem struct {
	index        int
	name         string
	prioritized  bool
	alternatives []*alternative
	// settled is the alternative of the solution, once there is one.
	settled int
}

// alternative is a request or a subrequest.
type alternative struct {
	id      int // among all alternatives of the question; set when the table is made
	claim   *claimProblem
	request *requestProblem
	sub     int
	// name is "request" or "request/subrequest", as results and constraints spell it.
	name string

	class          *resourcev1.DeviceClass
	classSelectors []*selector.Program
	selectors      []*selector.Program
	admin          bool
	tolerations    []resourcev1.DeviceToleration
	capacity       *resourcev1.CapacityRequirements
	derived        map[resourcev1.FullyQualifiedName]*selector.Program

	// like is the same alternative of the claim's twin, or nil. They share their verdicts.
	like *alternative

	all     bool
	count   int   // devices needed; for "all" the size of the set
	allSet  []int // for "all": the candidates that must be taken, in order
	verdict []verdict
}

// spec is what requests and subrequests have in common.
type spec struct {
	class       string
	mode        resourcev1.DeviceAllocationMode
	count       int64
	admin       *bool
	selectors   []resourcev1.DeviceSelector
	tolerations []resourcev1.DeviceToleration
	capacity    *resourcev1.CapacityRequirements
	derived     []resourcev1.DeviceDerivedAttribute
}

// specsOf are those of a request: its own, or one for each of its subrequests.
func specsOf(request *resourcev1.DeviceRequest) []spec {
	if r := request.Exactly; r != nil && len(request.FirstAvailable) == 0 {
		return []spec{{r.DeviceClassName, r.AllocationMode, r.Count, r.AdminAccess, r.Selectors, r.Tolerations, r.Capacity, r.DerivedAttributes}}
	}
	out := make([]spec, len(request.FirstAvailable))
	for i := range request.FirstAvailable {
		r := &request.FirstAvailable[i]
		out[i] = spec{r.DeviceClassName, r.AllocationMode, r.Count, nil, r.Selectors, r.Tolerations, r.Capacity, r.DerivedAttributes}
	}
	return out
}

// prepare checks the claims the way the scheduler does before it searches, in the same order, because
// the first fault decides what is reported. All of these faults abort the pod, but for a pool on account of
// which the node is refused. What was prepared before a fault is returned with it.
func (v *view) prepare(ctx context.Context, claims []*resourcev1.ResourceClaim, observer Observer) (*problem, error) {
	p := &problem{}
	first := map[*resourcev1.ResourceClaim]*claimProblem{}
	for i, claim := range claims {
		cp := &claimProblem{index: i, ref: inspect.RefOf(claim), claim: claim, twin: first[claim]}
		if cp.twin == nil {
			first[claim] = cp
		}
		p.claims = append(p.claims, cp)
		least := 0
		for r := range claim.Spec.Devices.Requests {
			rp, err := v.prepareRequest(ctx, cp, r, observer)
			if err != nil {
				return p, err
			}
			cp.requests = append(cp.requests, rp)
			n := rp.leastDevices()
			if n > resourcev1.AllocationResultsMaxSize-least && !v.cluster.rules.countsWrap {
				return p, rp.alternatives[0].abort(TooManyDevices,
					"%d more devices exceed the limit of %d for a claim, with %d already accounted for", n, resourcev1.AllocationResultsMaxSize, least)
			}
			least += n
		}
		if least < 0 {
			return p, cp.requests[0].alternatives[0].abort(SchedulerCrash, "the counts add up to more than 2^63-1: kube-scheduler %s crashes here", v.cluster.snapshot.Release())
		}
		if least > resourcev1.AllocationResultsMaxSize {
			return p, cp.requests[0].alternatives[0].abort(TooManyDevices, "the claim needs %d devices, more than the limit of %d", least, resourcev1.AllocationResultsMaxSize)
		}
		if err := v.checkConstraints(cp); err != nil {
			return p, err
		}
	}
	return p, nil
}

// checkConstraints refuses constraints that the variant does not know.
func (v *view) checkConstraints(cp *claimProblem) error {
	for i := range cp.claim.Spec.Devices.Constraints {
		c := &cp.claim.Spec.Devices.Constraints[i]
		known := c.MatchAttribute != nil || (c.DistinctAttribute != nil && !v.cluster.rules.basic)
		if !known {
			return &AbortError{Code: FeatureDisabled, Claim: cp.ref, Selector: -1,
				Err: errors.New("constraint #" + itoa(i) + " is empty or of a type that the scheduler does not support")}
		}
	}
	return nil
}

func (r *requestProblem) leastDevices() int {
	least := math.MaxInt
	for _, a := range r.alternatives {
		least = min(least, a.count)
	}
	return least
}

func (v *view) prepareRequest(ctx context.Context, cp *claimProblem, index int, observer Observer) (*requestProblem, error) {
	request := &cp.claim.Spec.Devices.Requests[index]
	rp := &requestProblem{index: index, name: request.Name, prioritized: len(request.FirstAvailable) > 0}
	specs := specsOf(request)
	if len(specs) == 0 {
		a := &alternative{claim: cp, request: rp, name: request.Name}
		return nil, a.abort(Malformed, "neither exactly nor firstAvailable is set")
	}
	for i := range specs {
		a := &alternative{claim: cp, request: rp, sub: i, name: request.Name}
		if rp.prioritized {
			a.name += "/" + request.FirstAvailable[i].Name
		}
		if cp.twin != nil {
			a.like = cp.twin.requests[index].alternatives[i]
		}
		rp.alternatives = append(rp.alternatives, a)
	}
	if err := v.checkGates(rp, specs); err != nil {
		return nil, err
	}
	for i, a := range rp.alternatives {
		if err := v.fill(ctx, a, &specs[i], observer); err != nil {
			return nil, err
		}
	}
	return rp, nil
}

// checkGates looks at the features that decide about a request as a whole.
func (v *view) checkGates(rp *requestProblem, specs []spec) error {
	if rp.prioritized && !v.cluster.features.PrioritizedList {
		return &AbortError{Code: FeatureDisabled, Claim: rp.alternatives[0].claim.ref, Request: rp.name, Selector: -1,
			Err: errors.New("has subrequests, but the DRAPrioritizedList feature is disabled")}
	}
	if !v.cluster.features.ConsumableCapacity && !v.cluster.rules.basic {
		for i := range specs {
			if specs[i].capacity != nil {
				return rp.alternatives[i].abort(FeatureDisabled, "has capacity requests, but the DRAConsumableCapacity feature is disabled")
			}
		}
	}
	return nil
}

// fill completes an alternative from its spec.
func (v *view) fill(ctx context.Context, a *alternative, s *spec, observer Observer) error {
	if v.cluster.rules.fieldsUnknown {
		s.derived = nil
	}
	if len(s.derived) > 0 && !v.cluster.features.DerivedAttributes {
		return a.abort(FeatureDisabled, "has derived attributes, but the DRADerivedAttributes feature is disabled")
	}
	for i := range s.selectors {
		if s.selectors[i].CEL == nil {
			err := a.abort(Malformed, "has no CEL expression (a type of selector that is not supported)")
			err.Selector = i
			return err
		}
	}
	if s.admin != nil && !v.cluster.features.AdminAccess {
		return a.abort(FeatureDisabled, "admin access is requested, but the DRAAdminAccess feature is disabled")
	}
	if s.class == "" {
		return a.abort(Malformed, "the device class name is missing")
	}
	class, ok := v.cluster.snapshot.Class(s.class)
	if !ok {
		return a.abort(ClassNotFound, "device class %q does not exist", s.class)
	}
	a.class = class
	a.admin = isTrue(s.admin)
	a.tolerations, a.capacity = s.tolerations, s.capacity
	a.classSelectors = v.programs(class.Spec.Selectors)
	a.selectors = v.programs(s.selectors)
	for i := range s.derived {
		if a.derived == nil {
			a.derived = map[resourcev1.FullyQualifiedName]*selector.Program{}
		}
		a.derived[s.derived[i].Name] = v.cluster.selectors.Derived(s.derived[i].Expression)
	}
	if a.like != nil {
		a.verdict = a.like.verdict
	} else {
		a.verdict = make([]verdict, len(v.candidates))
	}
	return v.fillCount(ctx, a, s, observer)
}

// programs compiles lazily: a nil program stands for a selector of an unknown type in a class, which
// the scheduler does not check beforehand.
func (v *view) programs(selectors []resourcev1.DeviceSelector) []*selector.Program {
	var out []*selector.Program
	for i := range selectors {
		if selectors[i].CEL == nil {
			out = append(out, nil)
			continue
		}
		out = append(out, v.cluster.selectors.Selector(selectors[i].CEL.Expression))
	}
	return out
}

func (v *view) fillCount(ctx context.Context, a *alternative, s *spec, observer Observer) error {
	switch s.mode {
	case resourcev1.DeviceAllocationModeExactCount:
		if s.count < 0 {
			return a.abort(Malformed, "the count %d is negative", s.count)
		}
		if s.count > math.MaxInt {
			return a.abort(Malformed, "the count %d is too large", s.count)
		}
		a.count = int(s.count)
		return nil
	case resourcev1.DeviceAllocationModeAll:
		a.all = true
		return v.fillAll(ctx, a, observer)
	}
	return a.abort(Malformed, "allocation mode %q is not supported", s.mode)
}

// fillAll finds the devices that "all" stands for: every device that fits as such, whether it is free
// or not. A pool whose content is not certain makes that impossible, for the pod or for the node.
func (v *view) fillAll(ctx context.Context, a *alternative, observer Observer) error {
	next := 0
	for _, pool := range v.pools {
		var unusable *AbortError
		switch {
		case pool.Incomplete, pool.Partial:
			unusable = a.abort(PoolIncomplete, "asks for all devices, but resource pool %s is currently being updated", pool.ID)
		case pool.Invalid != "":
			unusable = a.abort(PoolInvalid, "asks for all devices, but resource pool %s is currently invalid: %s", pool.ID, pool.Invalid)
		}
		if unusable != nil {
			unusable.Pool = pool.ID
			if !v.cluster.rules.allIsLocal {
				return unusable
			}
			if v.refused == nil {
				v.refused = unusable
			}
			continue
		}
		for ; next < len(v.candidates) && v.candidates[next].pool == pool; next++ {
			fits, err := v.belongsToAll(ctx, a, next, observer)
			if err != nil {
				return err
			}
			if fits {
				a.allSet = append(a.allSet, next)
			}
		}
	}
	a.count = len(a.allSet)
	return nil
}

func (v *view) belongsToAll(ctx context.Context, a *alternative, candidate int, observer Observer) (bool, error) {
	w := &walk{ctx: ctx, view: v, observer: observer}
	asked := a
	if v.cluster.rules.subrequestSlips && a.sub == 1 && a.request.alternatives[0].all {
		asked = a.request.alternatives[0]
	}
	ok, err := w.selectable(asked, candidate)
	if err != nil || !ok || !v.cluster.features.ConsumableCapacity {
		return ok, err
	}
	if v.cluster.rules.allIsWhatIsLeft {
		var held map[resourcev1.QualifiedName]resource.Quantity
		if u := v.candidates[candidate].usage; u != nil {
			held = u.consumed
		}
		return w.fitsCapacity(a, candidate, held, nil)
	}
	return w.fitsEmpty(a, candidate)
}
