package commit

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DryRun sends the writes of a decision to a server that stores nothing, and returns the claims as it
// would store them, in the order asked.
func (c *Committer) DryRun(ctx context.Context, d *Decision) ([]*resourcev1.ResourceClaim, error) {
	written := d.Written(metav1.NewTime(c.Clock.Now()).Rfc3339Copy())
	for i, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		out := claim.DeepCopy()
		if d.Allocations[ref] != nil {
			meta, err := c.Server.UpdateMeta(ctx, written[i])
			if err != nil {
				return nil, fmt.Errorf("allocating claim %s: %w", ref, err)
			}
			out.ObjectMeta = meta.ObjectMeta
		}
		if _, reserve := d.Consumers[ref]; d.Allocations[ref] != nil || reserve {
			status, err := c.Server.UpdateStatus(ctx, written[i])
			if err != nil {
				return nil, fmt.Errorf("allocating claim %s: %w", ref, err)
			}
			out.Status = status.Status
		}
		written[i] = out
	}
	return written, nil
}

// DryRunDeallocate is DryRun for the clearing of allocations.
func (c *Committer) DryRunDeallocate(ctx context.Context, claims []*resourcev1.ResourceClaim) ([]*resourcev1.ResourceClaim, error) {
	out := make([]*resourcev1.ResourceClaim, len(claims))
	for i, claim := range claims {
		if len(claim.Status.ReservedFor) > 0 {
			return nil, &ReservedError{inspect.RefOf(claim), claim.Status.ReservedFor}
		}
		out[i] = Cleared(claim)
		if claim.Status.Allocation == nil {
			continue
		}
		status, err := c.Server.UpdateStatus(ctx, out[i])
		if err == nil {
			_, err = c.Server.UpdateMeta(ctx, out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("deallocating claim %s: %w", inspect.RefOf(claim), err)
		}
		out[i].Status = status.Status
	}
	return out, nil
}

// Cleared returns a claim as it is without its allocation.
func Cleared(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	out := claim.DeepCopy()
	out.Status.Allocation, out.Status.Devices = nil, nil
	unmark(out)
	return out
}
