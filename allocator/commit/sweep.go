package commit

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sweep finishes or undoes what runs that were killed left behind, as far as this run has seen it: every
// announcement that stays as it was first seen for the whole patience of this run. A run that is alive
// after all notices, and either decides again or goes on without its announcement. It also removes fences
// that are no longer needed, of whichever run.
func (r *run) sweep(ctx context.Context) error {
	err := r.sweepClaims(ctx)
	r.liftLeft(ctx)
	return err
}

func (r *run) sweepClaims(ctx context.Context) error {
	if len(r.seen) == 0 {
		return nil
	}
	claims, err := r.Server.Claims(ctx)
	if err != nil {
		return fmt.Errorf("looking for what other runs left: %w", err)
	}
	if last := r.suspects(claims); last != nil {
		left := r.patience() - r.Clock.Now().Sub(r.seen[refOf(last)].at)
		if left > 0 {
			r.tell(Event{Step: Suspected, Claim: refOf(last), By: AnnouncementOn(last).By, Wait: left})
			if err := r.Clock.Sleep(ctx, left); err != nil {
				return err
			}
			if claims, err = r.Server.Claims(ctx); err != nil {
				return fmt.Errorf("looking for what other runs left: %w", err)
			}
		}
	}
	return r.clearUp(ctx, claims)
}

// suspects returns the claim, of those that still carry an announcement that this run has seen, that was
// seen last; nil when there is none.
func (r *run) suspects(claims []*resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	var last *resourcev1.ResourceClaim
	for _, claim := range claims {
		was, ok := r.seen[refOf(claim)]
		if !ok || was.uid != claim.UID || was.version != claim.ResourceVersion {
			continue
		}
		if last == nil || was.at.After(r.seen[refOf(last)].at) {
			last = claim
		}
	}
	return last
}

// clearUp puts the claims in order that carry announcements of dead runs: first the allocations that have to
// go, then the announcements; so whoever comes next, should this run die, decides the same.
func (r *run) clearUp(ctx context.Context, claims []*resourcev1.ResourceClaim) error {
	ctx, cancel := clearing(ctx)
	defer cancel()
	wrong, err := r.wrong(ctx, claims)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		r.fenceOff(ctx, func(claim *resourcev1.ResourceClaim) bool { return wrong[refOf(claim)] })
	}
	var dead, cleared []*resourcev1.ResourceClaim
	undone := map[inspect.ClaimRef]bool{}
	for _, claim := range claims {
		if !r.dead(claim) {
			continue
		}
		ref, a := refOf(claim), AnnouncementOn(claim)
		undone[ref] = wrong[ref] || a.Action == Allocating && claim.Status.Allocation == nil
		if wrong[ref] {
			without := claim.DeepCopy()
			without.Status.Allocation = nil
			without, err := r.Server.UpdateStatus(ctx, without)
			if err != nil {
				r.leave(ref, err)
				continue
			}
			cleared = append(cleared, claim)
			claim = without
		}
		dead = append(dead, claim)
	}
	r.fenceLate(ctx, cleared)
	for _, claim := range dead {
		r.clear(ctx, claim, undone[refOf(claim)])
	}
	return nil
}

// wrong returns the claims of dead runs whose allocations have to go: because the run did not write all of
// its claims, or because others hold the devices. One that is reserved stays.
func (r *run) wrong(ctx context.Context, claims []*resourcev1.ResourceClaim) (map[inspect.ClaimRef]bool, error) {
	incomplete := map[string]bool{}
	for _, claim := range claims {
		if a := AnnouncementOn(claim); a != nil && a.Action == Allocating && claim.Status.Allocation == nil {
			incomplete[a.Run] = true
		}
	}
	var books *ledger
	if r.Read != nil {
		s, err := r.Read(ctx)
		if err != nil {
			return nil, err
		}
		books = newLedger(s, claims)
	}
	out := map[inspect.ClaimRef]bool{}
	for _, claim := range claims {
		if !r.dead(claim) {
			continue
		}
		ref, a := refOf(claim), AnnouncementOn(claim)
		clashes := books != nil && len(books.clashes(map[inspect.ClaimRef]bool{ref: true})) > 0
		if a.wrote(claim.Status.Allocation) && len(claim.Status.ReservedFor) == 0 && (incomplete[a.Run] || clashes) {
			out[ref] = true
		}
	}
	return out, nil
}

// clear removes the announcement of a dead run.
func (r *run) clear(ctx context.Context, claim *resourcev1.ResourceClaim, undone bool) {
	ref, by := refOf(claim), AnnouncementOn(claim).By
	claim = claim.DeepCopy()
	unmark(claim)
	if _, err := r.Server.UpdateMeta(ctx, claim); err != nil {
		r.leave(ref, err)
		return
	}
	step := FinishedLeft
	if undone {
		step = UndoneLeft
	}
	delete(r.seen, ref)
	r.tell(Event{Step: step, Claim: ref, By: by})
}

// leave notes that a claim of a dead run was not put in order. When somebody else changed it, it was not dead,
// or that somebody puts it in order.
func (r *run) leave(ref inspect.ClaimRef, err error) {
	if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
		r.tell(Event{Step: Failed, Claim: ref, Err: err})
	}
}
