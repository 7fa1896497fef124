package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// watchWindow watches whether somebody who had decided before we announced, as a scheduler that is about to
// write, takes the same devices. Where the claims cannot be watched it lists them again and again. A list
// has the last word: a watch may be late.
func (r *run) watchWindow(ctx context.Context, d *Decision) error {
	if r.Settle > 0 {
		r.tell(Event{Step: Settling, Wait: r.Settle})
		begin := r.Clock.Now()
		var failed error
		err := r.Server.Follow(ctx, r.Settle, r.nearby(), func(claims []*resourcev1.ResourceClaim) bool {
			failed = r.judge(d, claims)
			return failed == nil
		})
		if failed == nil && errors.Is(err, requests.ErrNoWatch) {
			failed, err = r.poll(ctx, d, r.Settle-r.Clock.Now().Sub(begin)), nil
		}
		if failed != nil || err != nil {
			return cmp.Or(failed, err)
		}
	}
	return r.check(ctx, d)
}

// nearby tells the claims that are of interest while this run watches: its own, and those that hold something
// of a pool of which it took something.
func (r *run) nearby() func(*resourcev1.ResourceClaim) bool {
	pools := map[inspect.PoolID]bool{}
	for _, allocation := range r.intended {
		for i := range allocation.Devices.Results {
			pools[inspect.DeviceOf(&allocation.Devices.Results[i]).PoolID()] = true
		}
	}
	return func(claim *resourcev1.ResourceClaim) bool {
		if r.intended[inspect.RefOf(claim)] != nil {
			return true
		}
		return claim.Status.Allocation != nil && slices.ContainsFunc(claim.Status.Allocation.Devices.Results,
			func(result resourcev1.DeviceRequestAllocationResult) bool {
				return pools[inspect.DeviceOf(&result).PoolID()]
			})
	}
}

// poll lists the claims for some time.
func (r *run) poll(ctx context.Context, d *Decision, left time.Duration) error {
	pause := max(r.Settle/5, 200*time.Millisecond)
	for end := r.Clock.Now().Add(left); r.Clock.Now().Before(end); {
		if err := r.check(ctx, d); err != nil {
			return err
		}
		if err := r.Clock.Sleep(ctx, min(pause, end.Sub(r.Clock.Now()))); err != nil {
			return err
		}
	}
	return nil
}

// check looks at all claims as they are now.
func (r *run) check(ctx context.Context, d *Decision) error {
	claims, err := r.Server.Claims(ctx)
	if err != nil {
		return fmt.Errorf("watching what was allocated: %w", err)
	}
	return r.judge(d, claims)
}

// judge looks whether our claims are as they were written, and nobody else holds their devices.
func (r *run) judge(d *Decision, claims []*resourcev1.ResourceClaim) error {
	found := map[inspect.ClaimRef]bool{}
	for _, claim := range claims {
		ref := inspect.RefOf(claim)
		if want := r.intended[ref]; want != nil && claim.UID == r.claims[ref].UID && sameDevices(claim.Status.Allocation, want) {
			found[ref] = true
			r.claims[ref] = claim
		}
	}
	for _, claim := range d.pending() {
		if !found[inspect.RefOf(claim)] {
			return fmt.Errorf("watching what was allocated: somebody took the allocation of claim %s away", inspect.RefOf(claim))
		}
	}
	if conflicts := r.conflicts(d, claims); len(conflicts) > 0 {
		return r.beginAgain(conflicts)
	}
	return nil
}
