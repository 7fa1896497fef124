package explain

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var heldKind = kind{name: HeldRequired, importance: 8, ofOthers: true, list: listHeld}

// heldRequirement is that a claim keeps its devices. It is given up by releasing the claim.
type heldRequirement struct {
	Requirement
	edit releaseEdit
}

func listHeld(_ context.Context, s *site) []requirement {
	var out []requirement
	for _, ref := range s.holders {
		h := newHolder(s.q.cluster.Snapshot(), ref)
		h.Devices = s.devices[ref]
		out = append(out, heldRequirement{Requirement{
			Kind: HeldRequired, Path: "resourceclaim " + ref.String(), Holder: &h,
			Message: fmt.Sprintf("holds %s here: %s", count(len(h.Devices), "device"), deviceNames(h.Devices)),
		}, releaseEdit{ref}})
	}
	return out
}

// deviceNames names devices, without their pool.
func deviceNames(ids []inspect.DeviceID) string {
	var names []string
	for _, id := range ids {
		names = append(names, id.Device)
	}
	return shorten(names, 4)
}

func (r heldRequirement) describe() *Requirement { return &r.Requirement }
func (r heldRequirement) relaxing() edit         { return r.edit }
func (r heldRequirement) price(q *question) int  { return releaseCost(q, r.edit.claim) }

func (r heldRequirement) effort(q *question) int {
	if q.cluster.Snapshot().Idle(r.edit.claim) {
		return 1
	}
	return 3
}

// propose leaves it to the search for claims to release, which looks at all holders of a node together.
func (r heldRequirement) propose(context.Context, *clusterSandbox, inspect.NodeName) ([]change, error) {
	return nil, nil
}

func (r heldRequirement) combine(_ context.Context, c *combination, _ int) (part, error) {
	c.released = append(c.released, r.edit.claim)
	return part{ReleaseClaim, fmt.Sprint([]inspect.ClaimRef{r.edit.claim}), "release " + r.edit.claim.String()}, nil
}

// releaseCost says how much it disturbs to release claims: nobody, or so many claims, pods and devices.
func releaseCost(q *question, refs ...inspect.ClaimRef) int {
	s := q.cluster.Snapshot()
	idle, used := 0, 0
	for _, ref := range refs {
		if s.Idle(ref) {
			idle++
			continue
		}
		used += 10 + len(s.PodsOf(ref))
		if claim, ok := s.Claim(ref); ok && claim.Status.Allocation != nil {
			used += len(claim.Status.Allocation.Devices.Results)
		}
	}
	if used > 0 {
		return costRelease + used + idle
	}
	return costIdle + idle
}
