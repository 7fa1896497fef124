package allocator

import (
	"math"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// rules are what differs between releases of the scheduler's allocator, beyond the feature gates. The zero
// value is 1.37. Each rule was found and is checked by comparison with the allocator of the release itself
// (see the module oracle); the files named are those of k8s.io/dynamic-resource-allocation/structured.
//
// Rules about what pools a node has are in package inspect.
type rules struct {
	// leaks: what a device has reserved when a later check refuses it stays reserved for the rest of the
	// search: counters when a taint, a constraint or, with "all", capacity refuses it; with "all" and
	// capacity also the device itself and its place in constraints. Giving back a share keeps its counters,
	// too. Example: a tainted partition that nobody tolerates uses up the counter that the next partition
	// needs. (allocateDevice)
	leaks bool
	// distinctByRequest: of the devices of one request, distinctAttribute remembers only the last, and
	// forgets that too when it goes back. Example: values a, b, a are distinct for one request of three.
	// Before 1.37 (constraint.go).
	distinctByRequest bool
	// lenientCapacity: amounts that cannot be represented, or are negative, are computed with whatever
	// int64 makes of them instead of aborting the pod; rounded amounts are written in binary units.
	// Before 1.37 (consumable_capacity.go).
	lenientCapacity bool
	// allIsWhatIsLeft: "all" leaves out devices of which too little capacity is left, instead of failing
	// because of them. Before 1.37 (validateDeviceRequest).
	allIsWhatIsLeft bool
	// sharesNeedCapacity: a device that is shared already, by claims that took no capacity of it, draws on
	// its counters again. Before 1.37 (deviceCapacityInUse).
	sharesNeedCapacity bool
	// sharesDrawNothing: allocated shares of a device draw nothing from its counters
	// (checkAvailableCounters).
	sharesDrawNothing bool
	// countersByPoolName: pools of different drivers that have one name have the counters of the one that is
	// looked at first (checkAvailableCounters).
	countersByPoolName bool
	// allCrashesOnCounters: the scheduler crashes when it tries to take a device that consumes counters for
	// "all" (validateDeviceRequest).
	allCrashesOnCounters bool
	// configPerRequest: configuration of a claim stands in the result once for each request that it names,
	// and keeps the names when these are all requests. Before 1.37 (Allocate).
	configPerRequest bool
	// classConfigPerRequest: configuration of a class stands in the result once for each request with the
	// class, and names none (Allocate).
	classConfigPerRequest bool
	// listsUnreadable: while DRAListTypeAttributes is off, every expression fails on a device that has an
	// attribute with a list of values. Before 1.37 (getAttributeValue in ../cel/compile.go).
	listsUnreadable bool
	// countsWrap: the sum of the devices that a claim needs is compared with the limit when all its requests
	// are known, and wraps around if counts are near 2^63 (Allocate, allocateOne).
	countsWrap bool
	// basic: the variant knows neither distinctAttribute nor bindsToNode nor capacity that is requested, nor
	// do expressions see allowMultipleAllocations; and an allocation with a local device is for the node that
	// the device names. Stable before 1.38, and before 1.36 incubating.
	basic bool
	// nodeOperations: the variant knows devices that do without operations on the node. Experimental since
	// 1.37, incubating since 1.38.
	nodeOperations bool
	// noTolerations: the result does not have the tolerations of the request. Before 1.35, in 1.35 stable.
	noTolerations bool
	// fieldsUnknown: there are no derived attributes and no compatibility groups; an API server of the
	// release drops these fields. Before 1.37.
	fieldsUnknown bool
	// subrequestSlips: with "all", the second and later devices of a subrequest are those of the first
	// subrequest, by its count; and if the first two subrequests are for "all", the selectors of the first
	// decide for both. Before 1.36 (allocateOne, Allocate).
	subrequestSlips bool
	// unknownTaints: a taint of any effect, also of one that is not known, keeps a device from being taken.
	// Before 1.35, in 1.35 stable (allTaintsTolerated).
	unknownTaints bool
	// distinctByDevice: distinctAttribute only tells devices apart, not their values. Before 1.35
	// (constraint.go).
	distinctByDevice bool
	// noInvalidPools: that pools are invalid is not given as the reason when nothing is found. Before 1.35.
	noInvalidPools bool
	// invalidPoolsAbort: the pod is aborted when the search gets to an invalid pool. When it does is a matter
	// of chance, because pools come in random order; here it is after all others. Before 1.35 (allocateOne).
	invalidPoolsAbort bool
	// noOverfull: that a claim would become too large is found out by trying every choice. Stable before
	// 1.36.
	noOverfull bool
	// everyOrder: the devices of a request are tried in every order, not only in that of the candidates, and
	// a device that can be shared as often as its capacity lasts. Unless there are such devices that leads to
	// the same answer, in more steps. Stable before 1.38, and before 1.36 every variant (allocateOne).
	everyOrder bool

	// Since 1.38, as of inspect.PreviewVersion:

	// oneCapacityName: a capacity without a domain is that of the driver, so "memory" and "<driver>/memory"
	// are one and the same. A request for both aborts the pod; of a device that has both, the latter counts
	// (consumable_capacity.go).
	oneCapacityName bool
	// negativeRequests: a request for less than nothing of a capacity aborts the pod also where the policy of
	// the device would round it up (calculateConsumedCapacity).
	negativeRequests bool
	// defaultsAllowed: the default of a policy is an amount that the policy allows, however many digits it
	// has; before, one of more than 18 is held against the rest of the policy (violatesPolicy).
	defaultsAllowed bool
	// sharesBlock: a device of which claims have shares is not given as a whole when its slice no longer lets
	// it be shared (allocateDevice).
	sharesBlock bool
	// allIsLocal: a request for all devices where a pool is incomplete or invalid is refused on that node,
	// instead of aborting the pod (validateDeviceRequest).
	allIsLocal bool
	// exactValues: constraints compare versions by their precedence, so that build metadata does not count,
	// and abort the pod when they come to a list that they cannot compare or to a value that cannot be read
	// (constraint.go, and conversion.go in ../api).
	exactValues bool
	// lazyAttributes: an attribute whose value cannot be read makes only those expressions fail that read it,
	// instead of all (compile.go in ../cel).
	lazyAttributes bool
}

// What patch releases mended.
var (
	noLeaks        = inspect.Since{36: 3}
	sharesDraw     = inspect.Since{36: 2}
	countersByPool = inspect.Since{36: 4}
	allCounts      = inspect.Since{35: 6, 36: 2}
	countsHold     = inspect.Since{34: 12, 35: 9, 36: 5, 37: 1}
	classConfig    = inspect.Since{34: 2}
)

// rulesOf returns the rules of a variant in a release.
func rulesOf(release inspect.Release, variant Variant, gates inspect.Features) rules {
	r := release.Modelled()
	before37, since38 := r.Before(37, 0), !r.Before(38, 0)
	unordered := variant == Stable && !since38
	return rules{
		leaks:                 !noLeaks.In(r),
		distinctByRequest:     before37,
		lenientCapacity:       before37,
		allIsWhatIsLeft:       before37,
		sharesNeedCapacity:    before37,
		sharesDrawNothing:     !sharesDraw.In(r) && !r.AnyPatch,
		countersByPoolName:    !countersByPool.In(r),
		allCrashesOnCounters:  !allCounts.In(r),
		configPerRequest:      before37,
		classConfigPerRequest: !classConfig.In(r),
		countsWrap:            !countsHold.In(r),
		basic:                 unordered || r.Before(36, 0) && variant == Incubating,
		nodeOperations:        !before37 && (variant == Experimental || since38 && variant == Incubating),
		noTolerations:         r.Before(35, 0) || r.Before(36, 0) && variant == Stable,
		fieldsUnknown:         before37,
		subrequestSlips:       r.Before(36, 0),
		unknownTaints:         r.Before(35, 0) || r.Before(36, 0) && variant == Stable,
		distinctByDevice:      r.Before(35, 0),
		noInvalidPools:        r.Before(35, 0),
		invalidPoolsAbort:     r.Before(35, 0),
		noOverfull:            r.Before(36, 0) && variant == Stable,
		everyOrder:            unordered || r.Before(36, 0),
		listsUnreadable:       before37 && !gates.Enabled(inspect.GateListTypeAttributes),
		oneCapacityName:       since38,
		negativeRequests:      since38,
		defaultsAllowed:       since38,
		sharesBlock:           since38,
		allIsLocal:            since38,
		exactValues:           since38,
		lazyAttributes:        since38,
	}
}

// unorderly reports that with these rules the answer can depend on the way that the search took, so that it
// cannot be pruned: a part that ends in nothing leaves traces.
func (w *walk) unorderly() bool {
	r := &w.view.cluster.rules
	return r.invalidPoolsAbort && w.view.invalidPools() || r.leaks && w.mayLeak() || r.subrequestSlips && w.maySlip() || r.everyOrder && w.view.shares() || r.distinctByRequest && w.distinctWithin() || r.countersByPoolName && w.view.sharesCounters() || r.countsWrap && w.mayWrap()
}

// mayWrap reports whether some counts are so large that their sum may be more than an int64 holds. The pod is
// aborted then where otherwise nothing is found.
func (w *walk) mayWrap() bool {
	return w.asks(func(a *alternative) bool { return a.count > math.MaxInt/(2*resourcev1.AllocationResultsMaxSize) })
}

// asks reports whether there is such an alternative.
func (w *walk) asks(such func(*alternative) bool) bool {
	for _, claim := range w.problem.claims {
		for _, request := range claim.requests {
			if slices.ContainsFunc(request.alternatives, such) {
				return true
			}
		}
	}
	return false
}

// shares reports whether there are devices that can be shared.
func (v *view) shares() bool {
	return slices.ContainsFunc(v.candidates, func(c candidate) bool { return c.shareable })
}

// maySlip reports whether a subrequest asks for all devices.
func (w *walk) maySlip() bool {
	return w.asks(func(a *alternative) bool { return a.request.prioritized && a.all })
}

// mayLeak reports whether something may stay reserved.
func (w *walk) mayLeak() bool {
	all, constrained := false, false
	for _, claim := range w.problem.claims {
		constrained = constrained || len(claim.claim.Spec.Devices.Constraints) > 0
		for _, request := range claim.requests {
			for _, a := range request.alternatives {
				all = all || a.all
			}
		}
	}
	f := &w.view.cluster.features
	for i := range w.view.candidates {
		c := &w.view.candidates[i]
		if all && f.ConsumableCapacity && len(c.device.Capacity) > 0 {
			return true
		}
		if f.PartitionableDevices && len(c.device.ConsumesCounters) > 0 &&
			(all || constrained || c.shareable || f.DeviceTaints && len(c.device.Taints) > 0) {
			return true
		}
	}
	return false
}

// distinctWithin reports whether a constraint is about several devices of one request.
func (w *walk) distinctWithin() bool {
	for i, claim := range w.problem.claims {
		seen := map[string]bool{}
		for _, request := range claim.requests {
			for _, c := range w.constraints[i] {
				for _, a := range request.alternatives {
					byDevice := w.view.cluster.rules.distinctByDevice // values are not compared, but bounds count them
					if c.distinct && c.applies(a) && (a.count > 1 || seen[request.name] || byDevice) {
						return true
					}
				}
			}
			seen[request.name] = true
		}
	}
	return false
}

// sharesCounters reports whether pools of one name may be confused.
func (v *view) sharesCounters() bool {
	seen := map[string]bool{}
	for _, pool := range v.pools {
		if !pool.Usable() || len(pool.CounterSets) == 0 {
			continue
		}
		if seen[pool.ID.Pool] {
			return true
		}
		seen[pool.ID.Pool] = true
	}
	return false
}
