package live

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// discovered is what the server says about one group version.
type discovered struct {
	// known is false when the server does not say: the user may not ask, or asking failed. Then the
	// list itself has to show whether the resource is served.
	known     bool
	resources map[string]bool // those that can be listed; it is nil if the group version is not served
}

func (d discovered) mayServe(resource string) bool { return !d.known || d.resources[resource] }

// discoveries returns, for every group version of the kinds, a function that asks the server about it
// once. The core group is always served at v1 and is not asked about. Only what is needed is asked:
// a server with resource.k8s.io/v1 is never asked for v1beta1.
func (r *reader) discoveries(chosen []kind) map[string]func(context.Context) (discovered, error) {
	out := map[string]func(context.Context) (discovered, error){}
	for _, k := range chosen {
		for _, v := range k.versions {
			gv := k.groupVersion(v)
			if k.Group == "" || out[gv.String()] != nil {
				continue
			}
			out[gv.String()] = once(func(ctx context.Context) (discovered, error) { return r.discover(ctx, gv) })
		}
	}
	return out
}

// once makes the first call of f answer all calls. All callers share one context tree, so it does not
// matter whose context the first call uses.
func once(f func(context.Context) (discovered, error)) func(context.Context) (discovered, error) {
	var do sync.Once
	var d discovered
	var err error
	return func(ctx context.Context) (discovered, error) {
		do.Do(func() { d, err = f(ctx) })
		return d, err
	}
}

// discover asks which resources of a group version can be listed. The error is that of a server that
// does not answer at all.
func (r *reader) discover(ctx context.Context, gv schema.GroupVersion) (discovered, error) {
	var found metav1.APIResourceList
	bounded := connection.With(ctx, connection.Bounds{Bytes: limits.discovery})
	request := r.client.Get().AbsPath("/apis", gv.Group, gv.Version).MaxRetries(r.retries)
	if r.timeout > 0 {
		request.Timeout(r.timeout)
	}
	err := decode(request.Do(bounded), &found)
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

// mayServe asks discovery whether the kind may be served at the version.
func (r *reader) mayServe(ctx context.Context, k kind, v apiVersion) (bool, error) {
	ask, ok := r.served[k.groupVersion(v).String()]
	if !ok {
		return true, nil
	}
	d, err := ask(ctx)
	return err != nil || d.mayServe(string(k.Resource)), err
}

// discoveredFor is how long an answer of discovery is used again while a cluster is followed.
const discoveredFor = 110 * time.Second

// recent is what discovery said about a group version a while ago.
type recent struct {
	mu    sync.Mutex
	at    time.Time
	found discovered
}

// discoverOften is discover for callers that ask again and again: several resources share a group, and an
// answer is used for a while, also the one that there is no telling.
func (r *reader) discoverOften(ctx context.Context, gv schema.GroupVersion) (discovered, error) {
	shared, _ := r.recent.LoadOrStore(gv, &recent{})
	known := shared.(*recent) //nolint:forcetypeassert // nothing else is stored
	known.mu.Lock()
	defer known.mu.Unlock()
	if !known.at.IsZero() && time.Since(known.at) < discoveredFor {
		return known.found, nil
	}
	found, err := r.discover(ctx, gv)
	if err != nil {
		return discovered{}, err
	}
	known.at, known.found = time.Now(), found
	return found, nil
}
