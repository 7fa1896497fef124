package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxExpired is how often Follow lists again because the server no longer knows the version to watch
	// from.
	maxExpired = 3
	// maxWatches is how many watches it opens one after the other.
	maxWatches = 20
)

var (
	errExpired = errors.New("the resource version is too old")
	errEnough  = errors.New("seen enough")
)

// follower is the state of one Follow.
type follower struct {
	api      *API
	claims   map[inspect.ClaimRef]*resourcev1.ResourceClaim
	version  string // up to which the claims are known
	relevant func(*resourcev1.ResourceClaim) bool
	see      func([]*resourcev1.ResourceClaim) bool
}

// Follow lists the claims and watches them from that version on. A watch that ends goes on where it ended,
// and one that the server has no history for begins with another list.
func (a *API) Follow(
	parent context.Context, d time.Duration,
	relevant func(*resourcev1.ResourceClaim) bool, see func([]*resourcev1.ResourceClaim) bool,
) error {
	ctx, cancel := context.WithTimeout(parent, d)
	defer cancel()
	f := &follower{api: a, relevant: relevant, see: see}
	err := errExpired
	for expired := 0; errors.Is(err, errExpired) && expired < maxExpired; expired++ {
		if err = f.list(ctx); err == nil {
			err = f.watch(ctx)
		}
	}
	switch {
	case parent.Err() != nil:
		return context.Cause(parent)
	case ctx.Err() != nil || errors.Is(err, errEnough):
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoWatch, err)
}

func (f *follower) list(ctx context.Context) error {
	claims, version, err := f.api.listClaims(ctx)
	if err != nil {
		return err
	}
	f.version, f.claims = version, map[inspect.ClaimRef]*resourcev1.ResourceClaim{}
	for _, claim := range claims {
		f.claims[inspect.RefOf(claim)] = claim
	}
	return f.show()
}

// show shows all claims as they are known.
func (f *follower) show() error {
	if !f.see(slices.Collect(maps.Values(f.claims))) {
		return errEnough
	}
	return nil
}

// watch opens one watch after the other, as long as each of them brings something.
func (f *follower) watch(ctx context.Context) error {
	for range maxWatches {
		stream, err := f.api.client.Get().AbsPath(f.api.path(inspect.ClaimRef{})...).
			Param("watch", "true").Param("allowWatchBookmarks", "true").Param("resourceVersion", f.version).Stream(ctx)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return errExpired
		}
		if err != nil {
			return err
		}
		from := f.version
		err = f.take(stream)
		_ = stream.Close() // it was only read
		if !errors.Is(err, io.EOF) || f.version == from {
			return err
		}
	}
	return fmt.Errorf("the server ended %d watches", maxWatches)
}

// take takes events from a watch until it ends.
func (f *follower) take(stream io.Reader) error {
	decoder := json.NewDecoder(stream)
	for {
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if err := decoder.Decode(&event); err != nil {
			return fmt.Errorf("watching resourceclaims: %w", err)
		}
		if err := f.apply(event.Type, event.Object); err != nil {
			return err
		}
	}
}

// apply notes what changed, and shows it if somebody might want to know.
func (f *follower) apply(kind watch.EventType, object []byte) error {
	switch kind {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
	case watch.Error:
		status := &metav1.Status{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(object, status); err != nil {
			return fmt.Errorf("watching resourceclaims: %w", err)
		}
		if err := apierrors.FromObject(status); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return fmt.Errorf("watching resourceclaims: %w", err)
		}
		return errExpired
	default:
		return fmt.Errorf("watching resourceclaims: the server sends %q", kind)
	}
	claim := &resourcev1.ResourceClaim{}
	if err := decode(object, claim); err != nil {
		return fmt.Errorf("watching resourceclaims: %w", err)
	}
	if claim.Kind != "ResourceClaim" || claim.ResourceVersion == "" {
		return fmt.Errorf("watching resourceclaims: the server sends %q", claim.Kind)
	}
	f.version = claim.ResourceVersion
	if kind == watch.Bookmark {
		return nil
	}
	ref := inspect.RefOf(claim)
	if kind == watch.Deleted {
		delete(f.claims, ref)
	} else {
		f.claims[ref] = claim
	}
	if f.relevant(claim) {
		return f.show()
	}
	return nil
}
