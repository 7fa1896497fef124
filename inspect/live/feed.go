package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// How long a feed waits before it lists again what it cannot watch.
const (
	unservedPause = time.Minute      // a resource that is not served: somebody may switch it on
	narrowPause   = 2 * time.Minute  // a single namespace: somebody may permit the others
	pollPause     = 30 * time.Second // a version, or for a user, that cannot be watched
)

// feed gives a reflector one resource: listed and watched at the newest version that is served, for all
// namespaces or else for that of the options, converted to v1 and reduced. It writes down how that goes.
type feed struct {
	*reader
	kind   kind
	report func(inspect.Health)

	mu sync.Mutex
	at begun
	// read: the store was filled from the beginning at least once.
	read bool
	// refused: the last watch was forbidden, although listing was not.
	refused bool
}

// begun is how the last list, or watch from the beginning, was made.
type begun struct {
	version   apiVersion
	namespace string // "" is all
	served    bool   // false when no version is
	health    inspect.Health
}

// list implements the first half of a cache.ListerWatcher.
func (f *feed) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	result := &metainternal.List{}
	read := func(v apiVersion, namespace string) error {
		page, err := f.listPage(ctx, f.kind, v, namespace, options)
		if err != nil {
			return err
		}
		return f.fill(result, v, page)
	}
	if options.Continue != "" {
		at := f.get()
		return result, f.failed(at.version, ignorePartial(read(at.version, at.namespace)))
	}
	err := f.begin(ctx, read)
	if !f.get().served {
		result.ResourceVersion = "1" // there must be one
	}
	return result, err
}

// fill puts the objects of a page into a list.
func (f *feed) fill(list *metainternal.List, v apiVersion, page runtime.Object) error {
	about, err := meta.ListAccessor(page)
	if err != nil {
		return fmt.Errorf("reading the list: %w", err)
	}
	objects, err := f.kind.read(v, page)
	list.ResourceVersion, list.Continue, list.RemainingItemCount = about.GetResourceVersion(), about.GetContinue(), about.GetRemainingItemCount()
	list.Items = make([]runtime.Object, len(objects))
	for i, o := range objects {
		list.Items[i] = o
	}
	return err
}

// ignorePartial drops errors that come with a result.
func ignorePartial(err error) error {
	if errors.As(err, new(*partialError)) {
		return nil
	}
	return err
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
	at := begun{version: v, served: true, health: inspect.Health{State: inspect.Synced, Version: f.kind.groupVersion(v).String()}}
	err := try(v, "")
	if apierrors.IsForbidden(err) && f.kind.namespaced && f.opts.Namespace != "" {
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

// mayBeServed asks discovery, every time: servers are upgraded while we watch.
func (f *feed) mayBeServed(ctx context.Context, v apiVersion) (bool, error) {
	if f.kind.group == "" {
		return true, nil
	}
	d, err := f.discover(ctx, f.kind.groupVersion(v))
	return err == nil && d.mayServe(string(f.kind.resource)), err
}

// failed writes down why the resource cannot be read, if it cannot, and returns the error.
func (f *feed) failed(v apiVersion, err error) error {
	if err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, context.Canceled) {
		return err // when something has expired, the reflector lists again at once
	}
	h := inspect.Health{State: inspect.Broken, Version: f.kind.groupVersion(v).String(), Message: fmt.Sprintf("reading %s: %s", f.kind.qualified(), clean(cause(err)))}
	if apierrors.IsForbidden(err) {
		h.State, h.Message = inspect.Forbidden, fmt.Sprintf("cannot list %s at cluster scope", f.kind.qualified())
		if f.kind.namespaced && f.opts.Namespace != "" {
			h.Message += " or in namespace " + f.opts.Namespace
		}
	}
	f.mu.Lock()
	read := f.read
	f.mu.Unlock()
	if read {
		h.Message += "; what is known is older"
	}
	f.report(h)
	return err
}

// watch implements the second half of a cache.ListerWatcher.
func (f *feed) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		return f.watchFromBeginning(ctx, options)
	}
	at := f.get()
	switch {
	case !at.served:
		return later(ctx, unservedPause), nil
	case at.version.jsonOnly:
		return later(ctx, pollPause), nil
	}
	w, err := f.open(ctx, at.version, at.namespace, options)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return later(ctx, f.pauseAfterRefusal()), nil
	case err != nil:
		return nil, f.failed(at.version, err)
	}
	f.mu.Lock()
	f.refused = false
	f.mu.Unlock()
	f.report(at.health) // it may have been broken
	return w, nil
}

// pauseAfterRefusal is how long to wait for the next list when a watch is forbidden: not at all the first
// time, for listing may have become forbidden too.
func (f *feed) pauseAfterRefusal() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.refused {
		f.refused = true
		return 0
	}
	return pollPause
}

// errNoStream makes a reflector list instead of watching from the beginning.
var errNoStream = errors.New("the resource cannot be streamed")

// watchFromBeginning begins a watch that first sends what there is. Where that is not possible, the
// reflector lists.
func (f *feed) watchFromBeginning(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	for _, v := range f.kind.versions {
		may, err := f.mayBeServed(ctx, v)
		if err != nil {
			return nil, f.failed(v, err)
		}
		if !may {
			continue
		}
		if v.jsonOnly {
			break
		}
		w, err := f.open(ctx, v, "", options)
		if err == nil {
			f.set(begun{version: v, served: true, health: inspect.Health{State: inspect.Synced, Version: f.kind.groupVersion(v).String()}})
		}
		return w, err
	}
	return nil, errNoStream
}

// open begins a watch whose events carry reduced objects at v1.
func (f *feed) open(ctx context.Context, v apiVersion, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	request := f.request(f.kind, v, namespace, options)
	if options.TimeoutSeconds != nil {
		request.Timeout(time.Duration(*options.TimeoutSeconds) * time.Second)
	}
	w, err := request.Watch(ctx)
	if err != nil {
		return nil, err
	}
	pause := endless
	if namespace != "" {
		pause = narrowPause
	}
	return newProxyWatch(ctx, w, pause, func(e watch.Event) watch.Event { return f.convert(v, e) }), nil
}

// convert turns the object of an event into a reduced one at v1. Bookmarks carry an annotation that the
// reflector needs.
func (f *feed) convert(v apiVersion, e watch.Event) watch.Event {
	if e.Type == watch.Error {
		return e
	}
	list := v.newList()
	if err := meta.SetList(list, []runtime.Object{e.Object}); err != nil {
		return watch.Event{Type: watch.Error, Object: statusOf(err)}
	}
	objects, err := f.kind.items(v, list)
	if err != nil || len(objects) != 1 {
		return watch.Event{Type: watch.Error, Object: statusOf(fmt.Errorf("converting %T: %w", e.Object, err))}
	}
	if e.Type != watch.Bookmark {
		f.kind.reduce(objects[0])
	}
	e.Object = objects[0]
	return e
}

// statusOf makes a reflector list again.
func statusOf(err error) *metav1.Status {
	status := apierrors.NewResourceExpired(err.Error()).Status()
	return &status
}

// later is a watch on which nothing happens until it asks to list again.
func later(ctx context.Context, pause time.Duration) watch.Interface {
	return newProxyWatch(ctx, watch.NewRaceFreeFake(), pause, func(e watch.Event) watch.Event { return e })
}

// proxyWatch changes the events of another watch, and ends it after a time by asking to list again. (The
// filter of package watch leaves its goroutine behind when it is stopped while an event is under way.)
type proxyWatch struct {
	inner  watch.Interface
	change func(watch.Event) watch.Event
	events chan watch.Event
	done   chan struct{}
	once   sync.Once
}

// endless is longer than any watch lasts.
const endless = 24 * time.Hour

func newProxyWatch(ctx context.Context, inner watch.Interface, pause time.Duration, change func(watch.Event) watch.Event) *proxyWatch {
	p := &proxyWatch{inner: inner, change: change, events: make(chan watch.Event), done: make(chan struct{})}
	go p.run(ctx, pause)
	return p
}

func (p *proxyWatch) run(ctx context.Context, pause time.Duration) {
	defer close(p.events)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-p.inner.ResultChan():
			if !ok || !p.send(p.change(e)) {
				return
			}
		case <-timer.C:
			p.send(watch.Event{Type: watch.Error, Object: statusOf(errNoStream)})
			return
		case <-ctx.Done():
			return
		case <-p.done:
			return
		}
	}
}

func (p *proxyWatch) send(e watch.Event) bool {
	select {
	case p.events <- e:
		return true
	case <-p.done:
		return false
	}
}

// Stop implements watch.Interface.
func (p *proxyWatch) Stop() {
	p.once.Do(func() { close(p.done) })
	p.inner.Stop()
}

// ResultChan implements watch.Interface.
func (p *proxyWatch) ResultChan() <-chan watch.Event { return p.events }
