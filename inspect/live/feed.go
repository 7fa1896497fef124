package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
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
	kind   wire.Kind
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
	version   wire.Version
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
	err = f.begin(ctx, func(v wire.Version, namespace string) error {
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
func (f *feed) begin(ctx context.Context, try func(v wire.Version, namespace string) error) error {
	for _, v := range f.kind.Versions {
		may, err := f.mayServe(ctx, f.kind, v)
		if err != nil {
			return f.failed(v, err)
		}
		if !may {
			continue
		}
		health, namespace, err := f.anywhere(f.kind, v, "reading", func(namespace string) error {
			return try(v, namespace)
		})
		if err == nil {
			f.set(begun{version: v, namespace: namespace, served: true, health: health})
			return nil
		}
		if !isNotServed(err) {
			if !errors.Is(err, context.Canceled) {
				f.tell(health)
			}
			return err
		}
	}
	f.set(begun{health: inspect.Health{State: inspect.NotServed, Message: notServed(f.kind)}})
	return nil
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

// failed writes down why the resource cannot be read, if it cannot, and returns the error.
func (f *feed) failed(v wire.Version, err error) error {
	if err != nil && !errors.Is(err, context.Canceled) {
		f.tell(broken(f.kind, v, "reading", err))
	}
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
func (f *feed) spoilt(v wire.Version, err error) {
	f.tell(broken(f.kind, v, "watching", err))
}
