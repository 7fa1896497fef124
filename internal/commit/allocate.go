package commit

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// Allocate allocates claims as decide says, by the protocol of the package documentation, and returns the
// decision and the claims as they are written at the end, in the order asked. A decision with a Refusal is
// returned as it is, with no claims.
//
// After an error nothing that the run wrote is left, with these exceptions, which the events and the error
// name: a claim that was reserved by a pod before it could be taken back, and claims that the server could
// not be reached for. When ctx is done the run undoes or finishes what it began and returns the error of ctx.
func (c *Committer) Allocate(ctx context.Context, decide Decider) (*Decision, []*resourcev1.ResourceClaim, error) {
	r, err := c.newRun()
	if err != nil {
		return nil, nil, err
	}
	var d *Decision
	for attempt := 1; ; attempt++ {
		d, err = r.attempt(ctx, decide)
		if err == nil {
			break
		}
		if stuck := r.undo(ctx); stuck != nil {
			return nil, nil, errors.Join(err, stuck)
		}
		retry := (*conflictError)(nil)
		if ctx.Err() != nil || !errors.As(err, &retry) {
			return nil, nil, err
		}
		if len(r.kept) > 0 && len(retry.conflicts) > 0 {
			return nil, nil, fmt.Errorf("%w, and %s could not be taken back because it is reserved already: delete one of the pods that use these claims", err, joinRefs(r.kept))
		}
		if attempt == MaxAttempts {
			return nil, nil, fmt.Errorf("given up after %d attempts: %w", attempt, err)
		}
		if late := r.late(); late != nil {
			return nil, nil, fmt.Errorf("%w: %w", late, err)
		}
		r.tell(Event{Step: Retrying, Err: err})
		if err := r.Clock.Sleep(ctx, r.backoff(attempt)); err != nil {
			return nil, nil, err
		}
	}
	if len(d.Refusal) > 0 {
		r.recover(ctx)
		return d, nil, context.Cause(ctx)
	}
	claims, err := r.finish(ctx, d)
	if err == nil {
		r.recover(ctx)
	}
	if ctx.Err() != nil {
		err = errors.Join(err, fmt.Errorf("everything was written all the same: %w", context.Cause(ctx)))
	}
	return d, claims, err
}

// backoff is how long to wait after a failed attempt: longer every time, and for every run a different time,
// so that runs that disturbed each other do not do so again.
func (r *run) backoff(attempt int) time.Duration {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, r.id, attempt) // a hash takes everything
	return time.Duration(attempt) * time.Duration(50+h.Sum32()%100) * time.Millisecond
}

// attempt goes through the protocol once, up to the point from which on the allocations stay.
func (r *run) attempt(ctx context.Context, decide Decider) (*Decision, error) {
	r.touched, r.kept = nil, nil
	clear(r.intended)
	clear(r.claims)
	d, err := r.decide(ctx, decide)
	if err != nil || len(d.Refusal) > 0 || len(d.pending()) == 0 {
		return d, err
	}
	if err := r.late(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *Decision) error{r.announce, r.lookAgain, r.write, r.watchWindow} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := step(ctx, d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// decide reads the cluster and decides so that other runs are not disturbed, if that is possible; else it
// waits for those that go first.
func (r *run) decide(ctx context.Context, decide Decider) (*Decision, error) {
	for {
		s, err := r.read(ctx)
		if err != nil {
			return nil, err
		}
		r.observe(s.Objects().Claims)
		s = r.withoutNeedless(ctx, s)
		d, waitFor, err := r.decideOn(ctx, s, decide)
		switch {
		case err != nil || len(d.Refusal) > 0:
			return d, err
		case waitFor == nil:
			agreed, err := r.agree(ctx, d)
			if agreed || err != nil {
				return d, err
			}
			continue // time has passed since the cluster was read
		}
		if err := r.wait(ctx, waitFor); err != nil {
			return nil, err
		}
	}
}

// decideOn decides on a snapshot. It counts as held, if that works out, what any other run announced, or
// else what those announced that go first. When neither works out but the claims could be allocated
// otherwise, it returns a claim whose run has to be waited for.
func (r *run) decideOn(ctx context.Context, s *inspect.Snapshot, decide Decider) (*Decision, *resourcev1.ResourceClaim, error) {
	var others, first []*resourcev1.ResourceClaim
	for _, claim := range s.Objects().Claims {
		if r.announcedByOther(claim) != nil {
			others = append(others, claim)
			if r.goesFirst(claim) {
				first = append(first, claim)
			}
		}
	}
	views := [][]*resourcev1.ResourceClaim{others}
	if len(first) < len(others) {
		views = append(views, first)
	}
	if len(first) > 0 {
		views = append(views, nil)
	}
	for i, view := range views {
		d, err := decide(ctx, withAnnounced(s, view))
		if err != nil {
			return nil, nil, err
		}
		last := i == len(views)-1
		if len(d.Refusal) > 0 {
			if last {
				return d, nil, nil
			}
			continue
		}
		for _, claim := range d.pending() {
			if r.goesFirst(claim) {
				return d, claim, nil
			}
		}
		if len(view) == 0 && len(first) > 0 {
			return d, first[0], nil
		}
		return d, nil, nil
	}
	return nil, nil, errors.New("there is no view to decide on") // views is never empty
}

// withAnnounced returns a snapshot in which what the claims announce is held: by claims of a name that no
// object can have, so that the claims themselves can still be asked about.
func withAnnounced(s *inspect.Snapshot, claims []*resourcev1.ResourceClaim) *inspect.Snapshot {
	if len(claims) == 0 {
		return s
	}
	return s.With(func(o *inspect.Objects) {
		for _, claim := range claims {
			o.Claims = append(o.Claims, &resourcev1.ResourceClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name + " (announced)"},
				Status:     resourcev1.ResourceClaimStatus{Allocation: AnnouncementOn(claim).allocation()},
			})
		}
	})
}

// agree asks whether a decision is wanted. It reports whether that was clear before.
func (r *run) agree(ctx context.Context, d *Decision) (bool, error) {
	if r.Confirm == nil || len(d.pending()) == 0 && len(d.Consumers) == 0 || r.agreed != nil && r.agreed.Same(d) {
		return true, nil
	}
	begun := r.Clock.Now()
	yes, err := r.Confirm(ctx, d)
	r.asked += r.Clock.Now().Sub(begun)
	if err == nil && !yes {
		err = ErrDeclined
	}
	r.agreed = d
	return false, err
}

// announce writes to every claim what it is to get. A claim that was changed since it was read is not
// written.
func (r *run) announce(ctx context.Context, d *Decision) error {
	for _, claim := range d.pending() {
		ref := inspect.RefOf(claim)
		a := &Announcement{Run: r.id, Action: Allocating, By: r.By, At: r.Clock.Now().UTC().Truncate(time.Second), Claims: d.pendingNames(), Devices: announced(d.Allocations[ref])}
		marked := claim.DeepCopy()
		if err := mark(marked, a); err != nil {
			return err
		}
		r.touched = append(r.touched, ref)
		written, err := r.Server.UpdateMeta(ctx, marked)
		if err != nil {
			return conflict("announcing the allocation of", ref, err)
		}
		r.claims[ref] = written
		r.tell(Event{Step: Announced, Claim: ref})
	}
	return nil
}

// lookAgain looks at all claims and announcements as they are now that ours can be seen. Whoever announces
// after this look sees ours; so of two runs that want one device at least one sees the other.
func (r *run) lookAgain(ctx context.Context, d *Decision) error {
	claims, err := r.Server.Claims(ctx)
	if err != nil {
		return fmt.Errorf("looking at all claims again: %w", err)
	}
	r.observe(claims)
	held, wanted, err := r.sort(claims, d)
	if err != nil {
		return err
	}
	if conflicts := r.conflicts(d, held); len(conflicts) > 0 {
		return r.beginAgain(conflicts)
	}
	all := held
	for _, claim := range wanted {
		all = append(all, &resourcev1.ResourceClaim{ObjectMeta: claim.ObjectMeta, Status: resourcev1.ResourceClaimStatus{Allocation: AnnouncementOn(claim).allocation()}})
	}
	var contenders []*resourcev1.ResourceClaim
	for _, conflict := range r.conflicts(d, all) {
		for _, ref := range conflict.With {
			i := slices.IndexFunc(wanted, func(c *resourcev1.ResourceClaim) bool { return inspect.RefOf(c) == ref })
			switch {
			case i < 0 || slices.Contains(contenders, wanted[i]):
			case r.goesFirst(wanted[i]):
				return r.beginAgain([]DeviceConflict{{Device: conflict.Device, With: []inspect.ClaimRef{ref}}})
			default:
				contenders = append(contenders, wanted[i])
			}
		}
	}
	for _, contender := range contenders {
		if err := r.revoke(ctx, contender); err != nil {
			return err
		}
	}
	return nil
}

// sort tells the claims that hold devices, among them ours with what they are to get, from those for which
// other runs have announced something.
func (r *run) sort(claims []*resourcev1.ResourceClaim, d *Decision) (held, wanted []*resourcev1.ResourceClaim, err error) {
	found := 0
	for _, claim := range claims {
		ref := inspect.RefOf(claim)
		switch mine := r.claims[ref]; {
		case mine != nil:
			if claim.ResourceVersion != mine.ResourceVersion || claim.UID != mine.UID {
				return nil, nil, conflict("looking at", ref, requests.ErrConflict)
			}
			found++
			with := *mine
			with.Status.Allocation = d.Allocations[ref]
			held = append(held, &with)
		case r.announcedByOther(claim) != nil:
			wanted = append(wanted, claim)
		default:
			held = append(held, claim)
		}
	}
	if found < len(r.claims) {
		return nil, nil, &conflictError{err: errors.New("a claim was deleted meanwhile")}
	}
	return held, wanted, nil
}

// conflicts returns what is wrong with what claims hold of our devices, besides what the decision knew of:
// what the scheduler would allocate beside other holders, ours may be allocated beside.
func (r *run) conflicts(d *Decision, claims []*resourcev1.ResourceClaim) []DeviceConflict {
	ours := map[inspect.ClaimRef]bool{}
	for ref := range d.Allocations {
		ours[ref] = true
	}
	known := map[inspect.DeviceID][]inspect.ClaimRef{}
	for _, conflict := range newLedger(d.Snapshot, d.with(d.Snapshot.Objects().Claims)).conflicts(ours) {
		known[conflict.Device] = conflict.With
	}
	var out []DeviceConflict
	for _, conflict := range newLedger(d.Snapshot, claims).conflicts(ours) {
		conflict.With = slices.DeleteFunc(conflict.With, func(ref inspect.ClaimRef) bool { return slices.Contains(known[conflict.Device], ref) })
		if len(conflict.With) > 0 {
			out = append(out, conflict)
		}
	}
	return out
}

// with returns the claims with what those of the decision get.
func (d *Decision) with(claims []*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim {
	out := slices.Clone(claims)
	for i, claim := range out {
		if allocation := d.Allocations[inspect.RefOf(claim)]; allocation != nil {
			with := *claim
			with.Status.Allocation = allocation
			out[i] = &with
		}
	}
	return out
}

// beginAgain tells of conflicts and makes the run begin again.
func (r *run) beginAgain(conflicts []DeviceConflict) error {
	r.tell(Event{Step: Conflicted, Conflicts: conflicts})
	return &conflictError{conflicts: conflicts}
}

// write writes the allocations, each to the claim exactly as it was announced.
func (r *run) write(ctx context.Context, d *Decision) error {
	now := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
	for _, claim := range d.pending() {
		ref := inspect.RefOf(claim)
		written := r.claims[ref].DeepCopy()
		written.Status.Allocation = d.Allocations[ref].DeepCopy()
		stamp(written, now)
		r.intended[ref] = written.Status.Allocation
		written, err := r.Server.UpdateStatus(ctx, written)
		if err != nil {
			return conflict("allocating", ref, err)
		}
		r.claims[ref] = written
		r.tell(Event{Step: Allocated, Claim: ref})
	}
	return nil
}

// sameDevices compares the devices of two allocations. Share IDs are random, so that allocations of shares
// are the same only when one is a copy of the other.
func sameDevices(a, b *resourcev1.AllocationResult) bool {
	return a != nil && b != nil && equality.Semantic.DeepEqual(announced(a), announced(b))
}
