package allocator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Examination is what the devices of a node look like to the requests of some claims, each device by
// itself, with nothing picked.
type Examination struct {
	Node inspect.NodeName
	// Pools are all pools that reach the node, in search order, the unusable ones included.
	Pools    []*inspect.NodePool
	Requests []ExaminedRequest
}

// ExaminedRequest is a request, or a subrequest of a prioritized one.
type ExaminedRequest struct {
	Claim, Request, Sub int
	// Name is "request" or "request/subrequest".
	Name string
	// Prioritized says that it is a subrequest.
	Prioritized bool
	All         bool
	// Needed is the number of devices; with All, of devices that must be taken.
	Needed  int
	Class   *resourcev1.DeviceClass
	Devices []ExaminedDevice
}

// ExaminedDevice is a device with every check that it fails.
type ExaminedDevice struct {
	ID     inspect.DeviceID
	Device *resourcev1.Device
	// Failures are in the order of the checks. Checks that depend on a failed selector are made all
	// the same: they tell whether the device would do otherwise.
	Failures []Rejection
	// Elsewhere says that its slice lets devices choose their nodes, and it chose others. Selectors are
	// evaluated first, so that need not be among the failures.
	Elsewhere bool
}

// Fails returns the failure with one of the codes, or nil.
func (d *ExaminedDevice) Fails(codes ...Code) *Rejection {
	for i := range d.Failures {
		for _, code := range codes {
			if d.Failures[i].Code == code {
				return &d.Failures[i]
			}
		}
	}
	return nil
}

// rejections is an Observer that keeps what it is told.
type rejections []Rejection

func (r *rejections) Reject(rejection Rejection) { *r = append(*r, rejection) }

// Examine looks at each device of a node for each request of the claims. Its error is that of
// Allocate where the scheduler aborts before it looks at single devices. A selector that fails is a
// failure of the device here, not an error.
func (c *Cluster) Examine(ctx context.Context, node *corev1.Node, claims []*resourcev1.ResourceClaim) (*Examination, error) {
	w, err := c.newSearch(ctx, node, claims, nil)
	if err != nil {
		return nil, err
	}
	out := &Examination{Node: inspect.NodeName(node.Name)}
	for _, p := range w.view.pools {
		out.Pools = append(out.Pools, p.NodePool)
	}
	var seen rejections
	w.observer = &seen
	for _, claim := range w.problem.claims {
		for _, request := range claim.requests {
			for _, a := range request.alternatives {
				examined, err := w.examine(a, &seen)
				if err != nil {
					return nil, err
				}
				out.Requests = append(out.Requests, examined)
			}
		}
	}
	return out, nil
}

func (w *walk) examine(a *alternative, seen *rejections) (ExaminedRequest, error) {
	out := ExaminedRequest{
		Claim: a.claim.index, Request: a.request.index, Sub: a.sub, Name: a.name,
		Prioritized: a.request.prioritized, All: a.all, Needed: a.count, Class: a.class,
	}
	for i := range w.view.candidates {
		c := &w.view.candidates[i]
		*seen = nil
		w.examineDevice(a, i)
		if err := w.ctx.Err(); err != nil {
			return out, w.interrupted(err)
		}
		reaches, err := c.slice.DeviceReaches(w.view.node, c.index)
		out.Devices = append(out.Devices, ExaminedDevice{
			ID: c.id, Device: w.view.cluster.asAsked(a.capacity, c), Failures: *seen, Elsewhere: err == nil && !reaches,
		})
	}
	return out, nil
}

// examineDevice makes every check on its own. The errors of checks reach the observer as failures.
func (w *walk) examineDevice(a *alternative, candidate int) {
	_, _ = w.selectable(a, candidate) // a failing selector is reported as SelectorError
	w.taken(a, candidate)
	if w.view.cluster.features.ConsumableCapacity {
		if _, err := w.fitsLeft(a, candidate); err != nil {
			w.reject(a, candidate, CapacityPolicyViolated, func(r *Rejection) { r.Err = err })
		}
	}
	for _, check := range []check{
		(*walk).checkShares, (*walk).checkNodeOperations, (*walk).checkPartitionable, (*walk).checkGroups, (*walk).checkCounters, (*walk).checkTaints,
	} {
		u := &undo{}
		_, _ = check(w, a, candidate, u) // these checks do not fail with an error
		w.giveBack(a, candidate, u)
	}
	for _, c := range w.constraints[a.claim.index] {
		if !c.applies(a) {
			continue
		}
		attribute, err := w.attributeOf(a, candidate, c.name)
		if err != nil || attribute == nil {
			w.reject(a, candidate, AttributeMissing, func(r *Rejection) { r.Constraint, r.Err = c.index, err })
		}
	}
}
