package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// finish reserves the claims and removes the announcements. From here on the allocations stay, so it does
// not heed an interruption. It returns the claims as they are then, in the order asked.
func (r *run) finish(ctx context.Context, d *Decision) ([]*resourcev1.ResourceClaim, error) {
	ctx, cancel := clearing(ctx)
	defer cancel()
	claims := slices.Clone(d.Claims)
	var errs []error
	for i, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		if d.Allocations[ref] != nil {
			claims[i] = withSpec(r.claims[ref], claim)
		}
		consumer, ok := d.Consumers[ref]
		if !ok {
			continue
		}
		reserved, err := r.reserve(ctx, claims[i], consumer)
		if err != nil {
			errs = append(errs, fmt.Errorf("reserving claim %s for pod %s: %w", ref, consumer.Name, err))
			continue
		}
		claims[i] = withSpec(reserved, claim)
		r.tell(Event{Step: Reserved, Claim: ref})
	}
	for i, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		if d.Allocations[ref] == nil {
			continue
		}
		done, err := r.change(ctx, ref, func(claim *resourcev1.ResourceClaim) (bool, error) {
			a := AnnouncementOn(claim)
			return a != nil && a.Run == r.id && unmark(claim), nil
		}, r.Server.UpdateMeta)
		if err != nil {
			errs = append(errs, fmt.Errorf("removing the announcement from claim %s, which is allocated: %w", ref, err))
			continue
		}
		if done == nil || done.UID != claim.UID || !sameDevices(done.Status.Allocation, d.Allocations[ref]) {
			errs = append(errs, fmt.Errorf("somebody took the allocation of claim %s away", ref))
			claims[i] = claim
			continue
		}
		claims[i] = withSpec(done, claim)
		r.tell(Event{Step: Done, Claim: ref})
	}
	return claims, errors.Join(errs...)
}

// reserve adds a consumer to a claim that is allocated.
func (r *run) reserve(ctx context.Context, claim *resourcev1.ResourceClaim, consumer resourcev1.ResourceClaimConsumerReference) (*resourcev1.ResourceClaim, error) {
	uid, err := r.Server.PodUID(ctx, inspect.PodRef{Namespace: claim.Namespace, Name: consumer.Name})
	if err == nil && uid != consumer.UID {
		err = errors.New("the pod was replaced by another one of the same name")
	}
	if err != nil {
		return nil, err
	}
	written, err := r.change(ctx, inspect.RefOf(claim), func(now *resourcev1.ResourceClaim) (bool, error) {
		switch {
		case now.UID != claim.UID:
			return false, errors.New("the claim was replaced by another one of the same name")
		case now.Status.Allocation == nil:
			return false, errors.New("somebody took its allocation away")
		case !sameDevices(now.Status.Allocation, claim.Status.Allocation):
			return false, errors.New("it has another allocation by now")
		case slices.ContainsFunc(now.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == consumer.UID }):
			return false, nil
		case len(now.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize:
			return false, fmt.Errorf("it is reserved by %d consumers, which is the limit", len(now.Status.ReservedFor))
		}
		now.Status.ReservedFor = append(now.Status.ReservedFor, consumer)
		return true, nil
	}, r.Server.UpdateStatus)
	if err == nil && written == nil {
		err = requests.ErrNotFound
	}
	return written, err
}

// withSpec returns a claim as the server has it now with the spec that was read at the newest version.
func withSpec(now, read *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	out := *now
	out.Spec = read.Spec
	return &out
}
