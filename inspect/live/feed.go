package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// How long a feed waits before it lists again what it cannot watch.
const (
	unservedPause = 2 * time.Minute  // a resource that is not served: somebody may switch it on
	narrowPause   = 2 * time.Minute  // a single namespace: somebody may permit the others
	pollPause     = 30 * time.Second // a version that cannot be watched
)

// watchBegin is how long a watch may take to begin: a proxy may hold it back until the first bookmark, which
// comes every minute.
const watchBegin = 2 * time.Minute

// feed gives a reflector one resource: listed and watched at the newest version that is served, for all
// namespaces or else for that of the options, converted to v1 and reduced. It writes down how that goes, and
// sees to it that a server which fails is not asked often.
type feed struct {
	*reader
	kind   kind
	report func(inspect.Health)
	size   func() int // how many objects the store has
	pace   *connection.Pace
	// retryAfter is what the server said with its last answer, in seconds.
	retryAfter atomic.Int64

	mu sync.Mutex
	at begun
	// read says that the store was filled from the beginning at least once.
	read bool
}

// begun is how the last list was made.
type begun struct {
	version   apiVersion
	namespace string // "" is all
	served    bool   // false when no version is
	health    inspect.Health
}

// await waits until the server may be asked. The context that it returns is for the request.
func (f *feed) await(ctx context.Context) (context.Context, error) {
	if err := pause(ctx, f.pace.Wait(time.Now()), nil); err != nil {
		return nil, err
	}
	f.retryAfter.Store(0)
	return connection.With(ctx, connection.Bounds{RetryAfter: &f.retryAfter}), nil
}

// pause waits for a time, or until ctx is done, which is the error, or until it is woken.
func pause(ctx context.Context, length time.Duration, woken <-chan struct{}) error {
	if length <= 0 {
		return ctx.Err() //nolint:wrapcheck // of the caller
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // as above
	case <-timer.C:
	case <-woken:
	}
	return nil
}

// list implements the first half of a cache.ListerWatcher. It reads all pages, at the newest revision, which
// is as new as any that the reflector may ask for.
func (f *feed) list(ctx context.Context) (runtime.Object, error) {
	ctx, err := f.await(ctx)
	if err != nil {
		return nil, err
	}
	result := &metainternal.List{}
	err = f.begin(ctx, func(v apiVersion, namespace string) error {
		all, err := f.reader.list(ctx, f.kind, v, namespace)
		result.ResourceVersion = all.revision
		result.Items = make([]runtime.Object, len(all.objects))
		for i, o := range all.objects {
			result.Items[i] = o
		}
		return err
	})
	if err != nil {
		f.pace.Failed(time.Now(), f.demanded(err))
		return nil, errors.New(err.Error()) // else the reflector would list again at once if something has expired
	}
	f.pace.Succeeded()
	if !f.get().served || result.ResourceVersion == "" {
		result.ResourceVersion = "1" // there must be one
	}
	return result, nil
}

// begin starts anew: it finds out the version that is served, and whether all namespaces may be read, by
// trying. That no version is served is no error. The health is reported when the objects are there.
func (f *feed) begin(ctx context.Context, try func(v apiVersion, namespace string) error) error {
	for _, v := range f.kind.versions {
		may, err := f.mayBeServed(ctx, v)
		if err != nil {
			return f.failed(v, err)
		}
		if !may {
			continue
		}
		if err = f.beginAt(v, try); !isNotServed(err) {
			return f.failed(v, err)
		}
	}
	f.set(begun{health: inspect.Health{State: inspect.NotServed, Message: notServed(f.kind)}})
	return nil
}

// beginAt starts anew at one version.
func (f *feed) beginAt(v apiVersion, try func(v apiVersion, namespace string) error) error {
	at := begun{version: v, served: true, health: f.synced(v)}
	err := try(v, "")
	if apierrors.IsForbidden(err) && f.kind.Namespaced && f.opts.Namespace != "" {
		at.namespace = f.opts.Namespace
		at.health.State, at.health.Namespaces = inspect.Narrowed, []string{at.namespace}
		at.health.Message = fmt.Sprintf("cannot list %s at cluster scope; only namespace %s was read", f.kind.qualified(), at.namespace)
		err = try(v, at.namespace)
	}
	if errors.As(err, new(*partialError)) {
		at.health.State, at.health.Message = inspect.Broken, fmt.Sprintf("listing %s: %v", f.kind.qualified(), err)
		err = nil
	}
	if err == nil {
		f.set(at)
	}
	return err
}

func (f *feed) synced(v apiVersion) inspect.Health {
	return inspect.Health{State: inspect.Synced, Version: f.kind.groupVersion(v).String()}
}

func (f *feed) set(at begun) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = at
}

func (f *feed) get() begun {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// filled writes down that the store has everything.
func (f *feed) filled() {
	f.mu.Lock()
	f.read = true
	health := f.at.health
	f.mu.Unlock()
	f.report(health)
}

// mayBeServed asks discovery again and again: servers are upgraded while we watch.
func (f *feed) mayBeServed(ctx context.Context, v apiVersion) (bool, error) {
	if f.kind.Group == "" {
		return true, nil
	}
	d, err := f.discoverOften(ctx, f.kind.groupVersion(v))
	return err == nil && d.mayServe(string(f.kind.Resource)), err
}

// failed writes down why the resource cannot be read, if it cannot, and returns the error.
func (f *feed) failed(v apiVersion, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	h := inspect.Health{State: inspect.Broken, Version: f.kind.groupVersion(v).String(), Message: fmt.Sprintf("reading %s: %s", f.kind.qualified(), clean(cause(err)))}
	if apierrors.IsForbidden(err) {
		h.State, h.Message = inspect.Forbidden, fmt.Sprintf("cannot list %s at cluster scope", f.kind.qualified())
		if f.kind.Namespaced && f.opts.Namespace != "" {
			h.Message += " or in namespace " + f.opts.Namespace
		}
	}
	f.tell(h)
	return err
}

// demanded is how long the server said to wait.
func (f *feed) demanded(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Second * time.Duration(max(f.retryAfter.Load(), int64(seconds)))
}

// tell reports a health that is not good.
func (f *feed) tell(h inspect.Health) {
	f.mu.Lock()
	read := f.read
	f.mu.Unlock()
	if read {
		h.Message += "; what is known is older"
	}
	f.report(h)
}

// spoilt reports that a watch cannot be followed.
func (f *feed) spoilt(v apiVersion, err error) {
	f.tell(inspect.Health{State: inspect.Broken, Version: f.kind.groupVersion(v).String(),
		Message: fmt.Sprintf("watching %s: %s", f.kind.qualified(), clean(cause(err)))})
}
