package requests

import (
	"context"
	"errors"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// ErrConflict says that a claim is no longer at the resource version that a write named, or is gone. A
// Server wraps it in the error of such a write; nothing was written then.
var ErrConflict = errors.New("the claim was changed meanwhile")

// ErrNotFound says that an object does not exist.
var ErrNotFound = errors.New("not found")

// ErrExists says that there is an object of that name already.
var ErrExists = errors.New("it exists already")

// ErrForbidden says that the user may not do what was asked for.
var ErrForbidden = errors.New("forbidden")

// ErrNoWatch says that a server cannot be watched, or no longer.
var ErrNoWatch = errors.New("the claims cannot be watched")

// Server is what the protocol needs of an API server. Every write names the resource version of the claim
// that it changes and is refused with ErrConflict when that is not the newest one. After any other error
// of a write it is not known whether it took effect.
//
// The objects that are returned belong to the caller. Of their spec nothing is expected.
type Server interface {
	// Claims returns all claims of the cluster, none of them older than the moment of the call, or an error;
	// ErrForbidden when the user may not list them.
	Claims(ctx context.Context) ([]*resourcev1.ResourceClaim, error)
	// Follow calls see with all claims, as Claims returns them, and again with all of them after every change
	// of a relevant one, for as long as d, or until see returns false. The last of them may be older than
	// the moment in which Follow returns. It returns ErrNoWatch when it cannot go on, or the error of ctx.
	Follow(ctx context.Context, d time.Duration, relevant func(*resourcev1.ResourceClaim) bool, see func([]*resourcev1.ResourceClaim) bool) error
	// Claim returns the newest state of a claim, or ErrNotFound.
	Claim(ctx context.Context, ref inspect.ClaimRef) (*resourcev1.ResourceClaim, error)
	// UpdateMeta writes the annotations and finalizers of the claim. Status and spec stay as they are.
	UpdateMeta(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error)
	// UpdateStatus writes allocation and reservedFor of the claim. Everything else stays as it is.
	UpdateStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error)
	// PodUID returns the UID of a pod, or ErrNotFound.
	PodUID(ctx context.Context, ref inspect.PodRef) (types.UID, error)
}

// RuleServer is what fences need of an API server.
type RuleServer interface {
	// Fences returns the DeviceTaintRules with the label inspect.FenceKey.
	Fences(ctx context.Context) ([]*resourcev1.DeviceTaintRule, error)
	// CreateRule creates a rule, or returns ErrExists.
	CreateRule(ctx context.Context, rule *resourcev1.DeviceTaintRule) error
	// DeleteRule deletes a rule, or returns ErrConflict or ErrNotFound when there is none of that name and
	// UID.
	DeleteRule(ctx context.Context, rule *resourcev1.DeviceTaintRule) error
}
