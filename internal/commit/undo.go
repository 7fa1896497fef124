package commit

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// clearing is a context in which a run clears up, whether or not it was interrupted.
func clearing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), undoTime)
}

// undo takes back what the attempt wrote: first all allocations, then all announcements, so that as long as
// anything is left of the attempt, another run sees that it was not complete. The error says what could not
// be undone.
func (r *run) undo(ctx context.Context) error {
	ctx, cancel := clearing(ctx)
	defer cancel()
	if len(r.intended) > 0 {
		r.fenceOff(ctx, r.wroteTo)
	}
	var errs []error
	var cleared []*resourcev1.ResourceClaim
	failed := map[inspect.ClaimRef]bool{}
	for _, ref := range r.touched {
		if r.intended[ref] == nil {
			continue
		}
		was, err := r.takeBack(ctx, ref)
		if err != nil {
			failed[ref] = true
			r.tell(Event{Step: Failed, Claim: ref, Err: err})
			errs = append(errs, err)
		}
		if was != nil {
			cleared = append(cleared, was)
		}
	}
	r.fenceLate(ctx, cleared)
	errs = append(errs, r.withdraw(ctx, failed))
	return errors.Join(errs...)
}

// withdraw removes the announcements of the attempt, except from claims that could not be put in order.
func (r *run) withdraw(ctx context.Context, failed map[inspect.ClaimRef]bool) error {
	var errs []error
	for _, ref := range r.touched {
		if failed[ref] {
			continue
		}
		withdrawn := false
		_, err := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
			a := AnnouncementOn(claim)
			mine := a != nil && a.Run == r.id && unmark(claim)
			withdrawn = mine && claim.Status.Allocation == nil
			return mine, nil
		}, r.Server.UpdateMeta)
		switch {
		case err != nil:
			err = fmt.Errorf("withdrawing the announcement on claim %s: %w", ref, err)
			r.tell(Event{Step: Failed, Claim: ref, Err: err})
			errs = append(errs, err)
		case withdrawn && r.intended[ref] == nil:
			r.tell(Event{Step: Withdrawn, Claim: ref})
		}
	}
	return errors.Join(errs...)
}

// change changes the newest state of a claim and writes it, again and again while others change it too.
// The function reports whether there is something to write. A claim that is gone needs no change: then, and
// when nothing is to be written, there is no error; the claim is the newest that is known, nil if it is gone.
func (r *run) change(
	ctx context.Context, ref inspect.ClaimRef, change func(*resourcev1.ResourceClaim) (bool, error),
	write func(context.Context, *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error),
) (*resourcev1.ResourceClaim, error) {
	for try := 1; ; try++ {
		claim, err := r.Server.Claim(ctx, ref)
		if errors.Is(err, requests.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if need, err := change(claim); err != nil || !need {
			return claim, err
		}
		written, err := write(ctx, claim)
		if err == nil {
			return written, nil
		}
		if !errors.Is(err, requests.ErrConflict) || try == maxConflicts {
			return nil, err
		}
	}
}

// errUnmarked says that a claim lost the announcement of this run before its allocation was cleared.
var errUnmarked = errors.New("another run removed the announcement")

// takeBack clears an allocation that this run wrote, or may have written, and returns the claim as it was
// with it. One that is reserved stays: a pod may be about to use it, and only the pod's deletion can free it.
func (r *run) takeBack(ctx context.Context, ref inspect.ClaimRef) (*resourcev1.ResourceClaim, error) {
	cleared, kept, err := (*resourcev1.ResourceClaim)(nil), false, errUnmarked
	for try := 0; errors.Is(err, errUnmarked) && try < maxConflicts; try++ {
		if err = r.markAgain(ctx, ref); err == nil {
			cleared, kept, err = r.clearOwn(ctx, ref)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("taking back the allocation of claim %s: %w", ref, err)
	case kept:
		r.kept = append(r.kept, ref)
		r.tell(Event{Step: Kept, Claim: ref})
	case cleared != nil:
		r.tell(Event{Step: TakenBack, Claim: ref})
	}
	return cleared, nil
}

// markAgain puts the announcement of this run back on a claim that it is going to clear. Another run may have
// taken it off, believing this one dead. Whoever comes next has to know what the claim is about if this run
// dies now.
func (r *run) markAgain(ctx context.Context, ref inspect.ClaimRef) error {
	_, err := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		if AnnouncementOn(claim) != nil || !r.mayClear(claim) {
			return false, nil
		}
		a := &Announcement{Run: r.id, Action: Allocating, By: r.By, At: r.Clock.Now().UTC(),
			Claims: namesOf(r.touched), Devices: announced(r.intended[ref])}
		return true, mark(claim, a)
	}, r.Server.UpdateMeta)
	return err
}

// clearOwn clears the allocation of a claim if it is the one that this run wrote. kept: it is reserved.
func (r *run) clearOwn(ctx context.Context, ref inspect.ClaimRef) (cleared *resourcev1.ResourceClaim, kept bool, err error) {
	_, err = r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
		kept, cleared = r.wroteTo(claim) && len(claim.Status.ReservedFor) > 0, nil
		if !r.mayClear(claim) {
			return false, nil
		}
		if AnnouncementOn(claim) == nil {
			return false, errUnmarked
		}
		cleared = claim.DeepCopy()
		claim.Status.Allocation = nil
		return true, nil
	}, r.Server.UpdateStatus)
	if err != nil {
		cleared = nil
	}
	return cleared, kept, err
}

// mayClear reports whether the claim has the allocation that this run wrote, and nobody relies on it.
func (r *run) mayClear(claim *resourcev1.ResourceClaim) bool {
	return r.wroteTo(claim) && len(claim.Status.ReservedFor) == 0
}

// wroteTo reports whether the claim has the allocation that this run wrote. Another run, or the scheduler,
// may have chosen the same devices for it: so either the announcement of this run is still there, or it is
// known that the write took effect and no other run has announced anything since. The scheduler reserves the
// claim in the same write.
func (r *run) wroteTo(claim *resourcev1.ResourceClaim) bool {
	ref := inspect.RefOf(claim)
	if !sameDevices(claim.Status.Allocation, r.intended[ref]) {
		return false
	}
	a, known := AnnouncementOn(claim), r.claims[ref]
	if a != nil {
		return a.Run == r.id
	}
	return known != nil && known.UID == claim.UID && known.Status.Allocation != nil
}
