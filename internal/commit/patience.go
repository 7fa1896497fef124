package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// Anybody who may update a claim can write an announcement on it, and go on changing it. So everything that a
// run does for the sake of other runs is bounded: how long it waits, how often it tries to remove an
// announcement, and the run as a whole.

const (
	// maxRevokes is how often a run tries to remove the announcement on a claim that keeps changing.
	maxRevokes = 3
	// pollWait is how long a run that has to wait for another one waits before it looks again. It grows up to
	// pollMax.
	pollWait, pollMax = 300 * time.Millisecond, 2 * time.Second
	// leastTime is what the time of a run is never bounded below.
	leastTime = 2 * time.Minute
)

// patience is how long an announcement must stay the same before its run is taken for killed.
func (r *run) patience() time.Duration { return max(r.Settle, leastPatience) }

// maxWaiting is how long a run waits for others, in total.
func (r *run) maxWaiting() time.Duration { return 3 * r.patience() }

// maxTime is how long after its beginning a run announces or writes anything, apart from the time in which
// the user was asked.
func (r *run) maxTime() time.Duration { return leastTime + 6*r.patience() }

// late returns an error when the time of the run is over.
func (r *run) late() error {
	if used := r.Clock.Now().Sub(r.begun) - r.asked; used > r.maxTime() {
		return fmt.Errorf("given up after %s", r.maxTime())
	}
	return nil
}

// wait waits for the run that announced something for a claim, and goes first.
func (r *run) wait(ctx context.Context, claim *resourcev1.ResourceClaim) error {
	if !r.named[claim.UID] {
		r.named[claim.UID] = true
		r.tell(Event{Step: Waiting, Claim: inspect.RefOf(claim), By: AnnouncementOn(claim).By, Wait: r.maxWaiting() - r.waited})
	}
	d := min(pollMax, pollWait<<min(r.polls, 10), r.maxWaiting()-r.waited)
	r.polls++
	r.waited += d
	return r.Clock.Sleep(ctx, d)
}

// goesFirst reports whether this run has to respect what another one announced for a claim: it has the
// smaller number, or its announcement cannot be removed. It has not for ever: see maxWaiting.
func (r *run) goesFirst(claim *resourcev1.ResourceClaim) bool {
	a := r.announcedByOther(claim)
	return a != nil && (a.Run < r.id || r.stays[claim.UID]) && !r.expired(claim) && r.waited < r.maxWaiting()
}

// revoke removes the announcement of a run that does not go first. That run wrote down the resource version
// of its announcement for its next write, which now fails; so it has to decide again. An announcement that
// cannot be removed is waited for like one that goes first; when that is over it is ignored.
func (r *run) revoke(ctx context.Context, claim *resourcev1.ResourceClaim) error {
	ref, by := inspect.RefOf(claim), AnnouncementOn(claim).By
	changed := claim.DeepCopy()
	unmark(changed)
	_, err := r.Server.UpdateMeta(ctx, changed)
	if err == nil {
		delete(r.seen, ref)
		r.tell(Event{Step: Revoked, Claim: ref, By: by})
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	r.revokes[claim.UID]++
	refused := !errors.Is(err, requests.ErrConflict) && !errors.Is(err, requests.ErrNotFound)
	r.stays[claim.UID] = r.stays[claim.UID] || refused
	if r.goesFirst(claim) || !refused && r.revokes[claim.UID] < maxRevokes {
		return &conflictError{err: fmt.Errorf("revoking the announcement on claim %s: %w", ref, err)}
	}
	r.ignored[claim.UID] = true
	r.tell(Event{Step: Ignored, Claim: ref, By: by, Err: err})
	return nil
}
