package commit

import (
	"context"
	"errors"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// maxRecovered is how many claims of killed runs one run puts in order. Anybody may write announcements; the
// next run goes on with the others.
const maxRecovered = 100

// recover finishes or undoes what runs that were killed left behind, as far as this run has seen it: every
// announcement that stays as it was first seen for the whole patience of this run. A run that is alive
// after all notices, and either decides again or goes on without its announcement. It also removes fences
// that are no longer needed, of whichever run. What cannot be done is told: this run has done its own work.
func (r *run) recover(ctx context.Context) {
	if err := r.recoverClaims(ctx); err != nil && ctx.Err() == nil {
		r.tell(Event{Step: NotRecovered, Err: err})
	}
	r.liftLeft(ctx)
}

func (r *run) recoverClaims(ctx context.Context) error {
	if len(r.seen) == 0 {
		return nil
	}
	claims, err := r.Server.Claims(ctx)
	if err != nil {
		return err
	}
	if last := r.lastOrphaned(claims); last != nil {
		left := r.patience() - r.Clock.Now().Sub(r.seen[inspect.RefOf(last)].at)
		if left > 0 {
			r.tell(Event{Step: Suspected, Claim: inspect.RefOf(last), By: AnnouncementOn(last).By, Wait: left})
			if err := r.Clock.Sleep(ctx, left); err != nil {
				return err
			}
			if claims, err = r.Server.Claims(ctx); err != nil {
				return err
			}
		}
	}
	r.clearUp(ctx, claims)
	return nil
}

// lastOrphaned returns the claim, of those that still carry an announcement that this run has seen, that was
// seen last. It returns nil if there is none.
func (r *run) lastOrphaned(claims []*resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	var last *resourcev1.ResourceClaim
	for _, claim := range claims {
		was, ok := r.seen[inspect.RefOf(claim)]
		if !ok || r.ignored[claim.UID] || was.uid != claim.UID || was.version != claim.ResourceVersion {
			continue
		}
		if last == nil || was.at.After(r.seen[inspect.RefOf(last)].at) {
			last = claim
		}
	}
	return last
}

// clearUp puts the claims in order that carry announcements of expired runs: first the allocations that have
// to go, then the announcements; so whoever comes next, should this run die, decides the same.
func (r *run) clearUp(ctx context.Context, claims []*resourcev1.ResourceClaim) {
	ctx, cancel := clearing(ctx)
	defer cancel()
	expired := r.expiredClaims(claims)
	stale, unclear := r.staleAllocations(ctx, expired, claims)
	if len(stale) > 0 {
		r.fenceOff(ctx, func(claim *resourcev1.ResourceClaim) bool { return stale[inspect.RefOf(claim)] })
	}
	var cleared, rest []*resourcev1.ResourceClaim
	undone := map[inspect.ClaimRef]bool{}
	for _, claim := range expired {
		ref, a := inspect.RefOf(claim), AnnouncementOn(claim)
		if unclear[ref] != nil {
			r.leave(ref, unclear[ref])
			continue
		}
		undone[ref] = stale[ref] || a.Action == Allocating && claim.Status.Allocation == nil
		if stale[ref] {
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
		rest = append(rest, claim)
	}
	r.fenceLate(ctx, cleared)
	for _, claim := range rest {
		r.clear(ctx, claim, undone[inspect.RefOf(claim)])
	}
}

// expiredClaims returns the claims, up to maxRecovered, that carry an announcement of an expired run which
// this run has not found to be beyond its permissions.
func (r *run) expiredClaims(claims []*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for _, claim := range claims {
		if len(out) < maxRecovered && r.expired(claim) && !r.ignored[claim.UID] {
			out = append(out, claim)
		}
	}
	return out
}

// staleAllocations returns which of the claims of expired runs have allocations that have to go: because the
// run did not write all of its claims, or because others hold the devices. One that is reserved stays.
// unclear are those for which that cannot be told, because the devices could not all be read.
func (r *run) staleAllocations(ctx context.Context, expired, claims []*resourcev1.ResourceClaim) (stale map[inspect.ClaimRef]bool, unclear map[inspect.ClaimRef]error) {
	stale, unclear = map[inspect.ClaimRef]bool{}, map[inspect.ClaimRef]error{}
	var complete []*resourcev1.ResourceClaim
	for _, claim := range expired {
		a := AnnouncementOn(claim)
		switch {
		case !a.wrote(claim.Status.Allocation) || len(claim.Status.ReservedFor) > 0:
		case incomplete(claim, a, claims):
			stale[inspect.RefOf(claim)] = true
		default:
			complete = append(complete, claim)
		}
	}
	if len(complete) == 0 || r.Read == nil {
		return stale, unclear
	}
	s, err := r.readSlices(ctx)
	if err != nil {
		for _, claim := range complete {
			unclear[inspect.RefOf(claim)] = err
		}
		return stale, unclear
	}
	books := newLedger(s, claims)
	for _, claim := range complete {
		if len(books.conflicts(map[inspect.ClaimRef]bool{inspect.RefOf(claim): true})) > 0 {
			stale[inspect.RefOf(claim)] = true
		}
	}
	return stale, unclear
}

// incomplete reports whether the run that announced something for a claim did not write all of its claims.
func incomplete(claim *resourcev1.ResourceClaim, a *Announcement, claims []*resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claims, func(other *resourcev1.ResourceClaim) bool {
		b := AnnouncementOn(other)
		return b != nil && b.Run == a.Run && b.Action == Allocating && other.Status.Allocation == nil &&
			a.covers(inspect.RefOf(other)) && b.covers(inspect.RefOf(claim))
	})
}

// clear removes the announcement of an expired run.
func (r *run) clear(ctx context.Context, claim *resourcev1.ResourceClaim, undone bool) {
	ref, by := inspect.RefOf(claim), AnnouncementOn(claim).By
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

// leave notes that a claim of an expired run was not put in order. When somebody else changed it, it was not
// expired, or that somebody puts it in order.
func (r *run) leave(ref inspect.ClaimRef, err error) {
	if !errors.Is(err, requests.ErrConflict) && !errors.Is(err, requests.ErrNotFound) {
		r.tell(Event{Step: Failed, Claim: ref, Err: err})
	}
}
