package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Deallocate clears the allocations of claims and returns the claims as they are then, in the order asked.
// While anything reserves one of them it changes none and returns a *ReservedError. When ctx is done between
// two claims, the rest stays as it is.
func (c *Committer) Deallocate(ctx context.Context, refs []inspect.ClaimRef) ([]*resourcev1.ResourceClaim, error) {
	r, err := c.newRun()
	if err != nil {
		return nil, err
	}
	all, listErr := r.Server.Claims(ctx)
	if listErr == nil {
		r.sight(all)
	}
	for _, ref := range refs {
		claim, err := r.Server.Claim(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("deallocating claim %s: %w", ref, err)
		}
		if len(claim.Status.ReservedFor) > 0 {
			return nil, &ReservedError{ref, claim.Status.ReservedFor}
		}
		delete(r.seen, ref)
	}
	going := func(claim *resourcev1.ResourceClaim) bool { return slices.Contains(refs, refOf(claim)) }
	if len(endangeredBy(all, going)) > 0 {
		r.fenceOff(ctx, going)
	}
	var out []*resourcev1.ResourceClaim
	for _, ref := range refs {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		claim, err := r.deallocate(ctx, ref)
		if err != nil {
			return out, fmt.Errorf("deallocating claim %s: %w", ref, err)
		}
		if claim != nil {
			out = append(out, claim)
		}
		r.tell(Event{Step: Deallocated, Claim: ref})
	}
	r.sweep(ctx)
	return out, context.Cause(ctx)
}

// A ReservedError says that a claim cannot be deallocated because it is reserved.
type ReservedError struct {
	Claim     inspect.ClaimRef
	Consumers []resourcev1.ResourceClaimConsumerReference
}

// Error names the consumers.
func (e *ReservedError) Error() string {
	text := fmt.Sprintf("claim %s is reserved for ", e.Claim)
	for i, c := range e.Consumers {
		if i == 5 {
			return text + fmt.Sprintf(" and %d more", len(e.Consumers)-i)
		}
		if i > 0 {
			text += ", "
		}
		group := c.Resource
		if c.APIGroup != "" {
			group += "." + c.APIGroup
		}
		text += group + "/" + c.Name
	}
	return text
}

// deallocate clears one claim, in the order of the controller of resource claims: the allocation first, then
// the finalizer. An announcement around both tells other runs what was meant.
func (r *run) deallocate(ctx context.Context, ref inspect.ClaimRef) (*resourcev1.ResourceClaim, error) {
	ctx, cancel := clearing(ctx)
	defer cancel()
	guard := func(claim *resourcev1.ResourceClaim) error {
		if len(claim.Status.ReservedFor) > 0 {
			return &ReservedError{ref, claim.Status.ReservedFor}
		}
		return nil
	}
	a := &Announcement{Run: r.id, Action: Deallocating, By: r.By, At: r.Clock.Now().UTC()}
	if _, err := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if err := guard(claim); err != nil || claim.Status.Allocation == nil {
			return false, err
		}
		if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
			return false, nil // it would have to be added to be removed again
		}
		return true, mark(claim, a)
	}, r.Server.UpdateMeta); err != nil {
		return nil, err
	}
	_, err := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if err := guard(claim); err != nil || claim.Status.Allocation == nil {
			return false, err
		}
		claim.Status.Allocation = nil
		return true, nil
	}, r.Server.UpdateStatus)
	claim, clearErr := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if b := AnnouncementOn(claim); err != nil && (b == nil || b.Run != r.id) {
			return false, nil
		}
		return unmark(claim), nil
	}, r.Server.UpdateMeta)
	return claim, errors.Join(err, clearErr)
}
