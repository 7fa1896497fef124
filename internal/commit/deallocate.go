package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// Deallocate clears the allocations of claims and returns those that it cleared, or found without an
// allocation, as they are then, in the order asked; also with an error.
//
// shown are the claims as they were shown to whoever confirmed that they be deallocated; none when nobody was
// asked. One that has changed since, in whatever way, is left as it is; see ChangedError. While anything
// reserves one of the claims, or one of them has changed, none is written. When ctx is done between two
// claims, the rest stays as it is.
func (c *Committer) Deallocate(ctx context.Context, refs []inspect.ClaimRef, shown ...*resourcev1.ResourceClaim) ([]*resourcev1.ResourceClaim, error) {
	r, err := c.newRun()
	if err != nil {
		return nil, err
	}
	all, err := r.allClaims(ctx)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		claim, err := r.Server.Claim(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("deallocating claim %s: %w", ref, err)
		}
		if err := guard(claim, shownAs(shown, ref)); err != nil {
			return nil, err // it names the claim
		}
		delete(r.seen, ref)
	}
	going := func(claim *resourcev1.ResourceClaim) bool { return slices.Contains(refs, inspect.RefOf(claim)) }
	if len(endangeredBy(all, going)) > 0 {
		r.fenceOff(ctx, going)
	}
	var out []*resourcev1.ResourceClaim
	for _, ref := range refs {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		claim, err := r.deallocate(ctx, ref, shownAs(shown, ref))
		if err != nil {
			return out, fmt.Errorf("deallocating claim %s: %w", ref, err)
		}
		if claim != nil {
			out = append(out, claim)
		}
		r.tell(Event{Step: Deallocated, Claim: ref})
	}
	r.recover(ctx)
	return out, context.Cause(ctx)
}

// allClaims lists all claims, to see who else holds the devices. Who may not list them can deallocate all the
// same; what that means is told. Any other failure ends the run: it could be over with the next request.
func (r *run) allClaims(ctx context.Context) ([]*resourcev1.ResourceClaim, error) {
	all, err := r.Server.Claims(ctx)
	switch {
	case errors.Is(err, requests.ErrForbidden):
		r.tell(Event{Step: Unfenced, Err: err})
	case err != nil:
		return nil, fmt.Errorf("nothing is written, because it is not known who else holds the devices: %w", err)
	}
	r.observe(all)
	return all, nil
}

func shownAs(shown []*resourcev1.ResourceClaim, ref inspect.ClaimRef) *resourcev1.ResourceClaim {
	i := slices.IndexFunc(shown, func(claim *resourcev1.ResourceClaim) bool { return inspect.RefOf(claim) == ref })
	if i < 0 {
		return nil
	}
	return shown[i]
}

// A ChangedError says that a claim is not the one that was confirmed, and was left as it is.
type ChangedError struct {
	Claim inspect.ClaimRef
	What  string // what has changed, after the name of the claim
}

// Error says what has changed.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("claim %s %s: it was left as it is; look again", e.Claim, e.What)
}

// guard returns an error when a claim must not be cleared: it is reserved, or has changed since it was shown.
func guard(now, shown *resourcev1.ResourceClaim) error {
	if len(now.Status.ReservedFor) > 0 {
		return &ReservedError{inspect.RefOf(now), now.Status.ReservedFor}
	}
	if shown == nil {
		return nil
	}
	what := changed(now, shown, "it was shown")
	if what == "" && now.ResourceVersion != shown.ResourceVersion {
		what = "was changed by somebody after it was shown, though not in what it holds"
	}
	if what != "" {
		return &ChangedError{inspect.RefOf(now), what}
	}
	return nil
}

// guardBegun is guard for a claim that this run has begun to deallocate: it may have changed, if only it
// still holds what it held. Somebody else may have cleared it.
func guardBegun(now, begun *resourcev1.ResourceClaim) error {
	if len(now.Status.ReservedFor) > 0 {
		return &ReservedError{inspect.RefOf(now), now.Status.ReservedFor}
	}
	if now.UID == begun.UID && now.Status.Allocation == nil {
		return nil
	}
	if what := changed(now, begun, "this began"); what != "" {
		return &ChangedError{inspect.RefOf(now), what}
	}
	return nil
}

// changed says in what a claim differs that matters, or "".
func changed(now, was *resourcev1.ResourceClaim, since string) string {
	before, is := was.Status.Allocation, now.Status.Allocation
	switch {
	case now.UID != was.UID:
		return "was replaced by another one of that name after " + since + "; this one holds " + holds(is)
	case is == nil && before != nil:
		return "is no longer allocated"
	case is != nil && !sameDevices(is, before):
		return "has changed after " + since + ": it holds " + holds(is) + " now, and not " + holds(before)
	}
	return ""
}

// holds names the devices of an allocation.
func holds(allocation *resourcev1.AllocationResult) string {
	var names []string
	if allocation != nil {
		for i := range allocation.Devices.Results {
			names = append(names, inspect.DeviceOf(&allocation.Devices.Results[i]).String())
		}
	}
	if len(names) == 0 {
		return "no device"
	}
	return strings.Join(names, ", ")
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
func (r *run) deallocate(ctx context.Context, ref inspect.ClaimRef, shown *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	ctx, cancel := clearing(ctx)
	defer cancel()
	a := &Announcement{Run: r.id, Action: Deallocating, By: r.By, At: r.Clock.Now().UTC()}
	begun, err := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if err := guard(claim, shown); err != nil || claim.Status.Allocation == nil {
			return false, err
		}
		if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
			return false, nil // it would have to be added to be removed again
		}
		return true, mark(claim, a)
	}, r.Server.UpdateMeta)
	if err != nil {
		return nil, r.asLeft(ctx, ref, err)
	}
	if begun == nil {
		return nil, nil
	}
	_, err = r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if err := guardBegun(claim, begun); err != nil || claim.Status.Allocation == nil {
			return false, err
		}
		claim.Status.Allocation = nil
		return true, nil
	}, r.Server.UpdateStatus)
	claim, clearErr := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if b := AnnouncementOn(claim); claim.UID != begun.UID || err != nil && (b == nil || b.Run != r.id) {
			return false, nil
		}
		return unmark(claim), nil
	}, r.Server.UpdateMeta)
	if err = errors.Join(err, clearErr); err != nil {
		return claim, r.asLeft(ctx, ref, err)
	}
	if claim != nil && claim.Status.Allocation != nil && claim.ResourceVersion == begun.ResourceVersion {
		return nil, fmt.Errorf("the server said that it wrote, and did not: the claim still holds %s", holds(claim.Status.Allocation))
	}
	return claim, nil
}

// asLeft adds to the error of a run that deallocates how the claim is left: an answer that is an error, or
// none, does not say that nothing was written.
func (r *run) asLeft(ctx context.Context, ref inspect.ClaimRef, err error) error {
	const removed = "which the next allocate or deallocate removes"
	if errors.As(err, new(*ReservedError)) || errors.As(err, new(*ChangedError)) {
		return err // it was left alone
	}
	now, readErr := r.Server.Claim(ctx, ref)
	switch {
	case errors.Is(readErr, requests.ErrNotFound):
		return err
	case readErr != nil:
		return fmt.Errorf("%w; it may have been cleared, or carry an announcement, %s: it cannot be read (%w)", err, removed, readErr)
	}
	a := AnnouncementOn(now)
	announced := a != nil && a.Run == r.id
	switch cleared := now.Status.Allocation == nil; {
	case cleared && announced:
		return fmt.Errorf("%w; it is deallocated all the same, and carries an announcement, %s", err, removed)
	case cleared:
		return fmt.Errorf("%w; it is deallocated all the same", err)
	case announced:
		return fmt.Errorf("%w; it still holds %s, and carries an announcement, %s", err, holds(now.Status.Allocation), removed)
	}
	return err
}
