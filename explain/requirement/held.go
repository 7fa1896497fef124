package requirement

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var heldKind = Kind{name: explain.HeldRequired, Importance: 8, OfOthers: true, list: listHeld}

// heldRequirement is that a claim keeps its devices. It is given up by taking them away, and nothing else:
// what the pods that use the claim take of the node besides is no matter of the claim. What is proposed is to
// release the claim, for which they have to end.
type heldRequirement struct {
	relaxable[whatif.FreeDevicesEdit]
}

func listHeld(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	if len(s.Q.Claims) == 0 {
		return nil // no devices are wanted
	}
	for _, ref := range s.Holders {
		h := explain.NewHolder(s.Q.Cluster.Snapshot(), ref)
		h.Devices = s.Devices[ref]
		effort := 3
		if s.Q.Cluster.Snapshot().Idle(ref) {
			effort = 1
		}
		// The search for claims to release proposes something: it looks at all holders of a node together.
		out = append(out, heldRequirement{relaxable[whatif.FreeDevicesEdit]{explain.Requirement{
			Kind: explain.HeldRequired, Path: "resourceclaim " + ref.String(), Holder: &h,
			Message: fmt.Sprintf("holds %s here: %s", words.Count(len(h.Devices), "device"), deviceNames(h.Devices)),
		}, whatif.FreeDevicesEdit{Claim: ref}, effort, ReleaseCost(s.Q, ref)}})
	}
	return out
}

// deviceNames names devices, without their pool.
func deviceNames(ids []inspect.DeviceID) string {
	return words.Shorten(words.Each(ids, func(id inspect.DeviceID) string { return id.Device }), 4)
}

// Combine releases the claim, or ends only some of its pods if that is enough: what they take besides may be
// what the pod in question needs.
func (r heldRequirement) Combine(ctx context.Context, c *Combination, i int) Part {
	ended := r.fewerPods(ctx, c, i)
	if len(ended) == 0 {
		c.Released = append(c.Released, r.edit.Claim)
		return Part{explain.ReleaseClaim, fmt.Sprint([]inspect.ClaimRef{r.edit.Claim}), "release " + r.edit.Claim.String()}
	}
	c.Ended = append(c.Ended, ended...)
	names := words.Each(ended, inspect.PodRef.String)
	return Part{explain.MovePod, fmt.Sprint(ended), fmt.Sprintf("end %s %s", words.Plural(len(names), "pod", "pods"), words.Shorten(names, 3))}
}

// fewerPods are some of the pods that use the claim, of which the end is enough. There are none if all have
// to end.
func (r heldRequirement) fewerPods(ctx context.Context, c *Combination, at int) []inspect.PodRef {
	all := suppose.EndedBy(c.Cluster.Snapshot(), r.edit.Claim)
	if len(all) > suppose.MaxSpared {
		return nil
	}
	pods := all
	for i := 0; i < len(pods) && len(pods) > 1; {
		fewer := slices.Delete(slices.Clone(pods), i, i+1)
		if c.helpsWith(ctx, at, whatif.EndPodsEdit{Pods: fewer}) {
			pods = fewer
		} else {
			i++
		}
	}
	if len(pods) == len(all) {
		return nil
	}
	return pods
}

// ReleaseCost says how much it disturbs to release claims: nobody, or so many claims, pods and devices.
func ReleaseCost(q *whatif.Question, refs ...inspect.ClaimRef) int {
	s := q.Cluster.Snapshot()
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
