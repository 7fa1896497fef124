package live

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// discovered is what the server says about one group version.
type discovered struct {
	// known is false when the server does not say: the user may not ask, or asking failed. Then the
	// list itself has to show whether the resource is served.
	known     bool
	resources map[string]bool // those that can be listed; it is nil if the group version is not served
}

func (d discovered) mayServe(resource string) bool { return !d.known || d.resources[resource] }

// discover asks which resources of a group version can be listed. The error is that of a server that
// does not answer at all.
func (r *reader) discover(ctx context.Context, gv schema.GroupVersion) (discovered, error) {
	var found metav1.APIResourceList
	bounded := connection.With(ctx, connection.Bounds{Bytes: limits.discovery})
	err := decode(r.get("/apis", gv.Group, gv.Version).Do(bounded), &found)
	switch {
	case ctx.Err() != nil:
		return discovered{}, ctx.Err() //nolint:wrapcheck // of the caller
	case err == nil:
	case isNotServed(err):
		return discovered{known: true}, nil
	default:
		return discovered{}, r.fatal(err)
	}
	d := discovered{known: true, resources: map[string]bool{}}
	for _, resource := range found.APIResources {
		if slices.Contains(resource.Verbs, "list") {
			d.resources[resource.Name] = true
		}
	}
	return d, nil
}

// discoveredFor is how long an answer of discovery is used again: servers are upgraded while a cluster is
// followed.
const discoveredFor = 110 * time.Second

// recent is what discovery said about a group version a while ago.
type recent struct {
	mu    sync.Mutex
	at    time.Time
	found discovered
}

// mayServe asks discovery whether a kind may be served at a version. The core group is always served, and is
// not asked about. Several resources share a group, and an answer is used for a while, also the one that
// there is no telling. LimitRanges are only asked for where Kueue may be, for which they are read.
func (r *reader) mayServe(ctx context.Context, k wire.Kind, v wire.Version) (bool, error) {
	if k.Resource == inspect.LimitRanges {
		queues, _ := wire.KindOf(inspect.ClusterQueues)
		for _, v := range queues.Versions {
			if may, err := r.mayServe(ctx, queues, v); may || err != nil {
				return may, err
			}
		}
		return false, nil
	}
	if k.Group == "" {
		return true, nil
	}
	gv := k.GroupVersion(v)
	shared, _ := r.recent.LoadOrStore(gv, &recent{})
	known := shared.(*recent) //nolint:forcetypeassert // nothing else is stored
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.at.IsZero() || time.Since(known.at) >= discoveredFor {
		found, err := r.discover(ctx, gv)
		if err != nil {
			return false, err
		}
		known.at, known.found = time.Now(), found
	}
	return known.found.mayServe(string(k.Resource)), nil
}
