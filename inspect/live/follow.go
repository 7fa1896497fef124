package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"

	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// watch implements the second half of a cache.ListerWatcher.
func (f *feed) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	at := f.get()
	switch {
	case !at.served:
		return connection.Later(ctx, unservedPause), nil
	case !f.kind.Watched(at.version):
		return connection.Later(ctx, pollPause), nil
	}
	asked, err := f.await(ctx)
	if err != nil {
		return nil, err
	}
	w, err := f.open(ctx, asked, at.version, at.namespace, options)
	if err == nil {
		f.report(at.health) // it may have been broken
		return w, nil
	}
	now := time.Now()
	f.pace.Ended(now, now)
	if !apierrors.IsForbidden(err) && !apierrors.IsMethodNotSupported(err) && !isExpired(err) { // listing shows whether that is forbidden, too
		err = f.failed(at.version, err)
	}
	return nil, errors.New(err.Error()) // else the reflector would not list before it tries again
}

// open begins a watch whose events carry reduced objects at v1.
func (f *feed) open(ctx, asked context.Context, v wire.Version, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	request := f.request(f.kind, v, namespace, options)
	bounds := connection.Bounds{Bytes: limits.event, Lines: true, Begin: watchBegin}
	if options.TimeoutSeconds != nil {
		request.Timeout(time.Duration(*options.TimeoutSeconds) * time.Second)
	}
	began := time.Now()
	w, err := request.Watch(connection.With(asked, bounds))
	if err != nil {
		return nil, err //nolint:wrapcheck // callers look at it
	}
	pause := connection.Endless
	if namespace != "" {
		pause = narrowPause
	}
	opened := &opened{feed: f, version: v, began: began, common: sharing.New()}
	return connection.NewProxyWatch(ctx, w, pause, opened.change, opened.ended), nil
}

// opened looks at the events of a watch.
type opened struct {
	*feed
	version wire.Version
	began   time.Time
	common  *sharing.Common
}

// change converts an event and looks at it.
func (o *opened) change(e watch.Event) watch.Event {
	if e.Type == watch.Error {
		if err := apierrors.FromObject(e.Object); !isExpired(err) {
			o.spoilt(o.version, err)
		}
		return e
	}
	changed, err := o.convert(o.version, e)
	if err == nil {
		err = o.bound(changed)
		if sent, ok := changed.Object.(wire.Object); ok && changed.Type != watch.Bookmark {
			o.common.Share(sent)
		}
	}
	if err != nil {
		o.spoilt(o.version, err)
		return watch.Event{Type: watch.Error, Object: connection.ListAgain(err)}
	}
	return changed
}

// bound counts the objects of a watch.
func (o *opened) bound(e watch.Event) error {
	if most := mostObjects(o.kind); e.Type == watch.Added && o.size() > most {
		return fmt.Errorf("there are more than %d objects, the most that are read", most)
	}
	return nil
}

// ended notes that the watch has ended.
func (o *opened) ended() { o.pace.Ended(o.began, time.Now()) }

// convert turns the object of an event into a reduced one at v1.
func (f *feed) convert(v wire.Version, e watch.Event) (watch.Event, error) {
	if o, ok := e.Object.(wire.Object); ok && v == f.kind.Versions[0] && f.kind.Is(o) {
		return e, f.reduced(e.Type, o)
	}
	list := f.kind.NewList(v)
	if err := meta.SetList(list, []runtime.Object{e.Object}); err != nil {
		return e, fmt.Errorf("an event has a %T and no %s", e.Object, f.kind.Qualified())
	}
	objects, err := f.kind.Items(v, list)
	if err != nil || len(objects) != 1 {
		return e, fmt.Errorf("converting %T: %w", e.Object, err)
	}
	e.Object = objects[0]
	return e, f.reduced(e.Type, objects[0])
}

// reduced reduces the object of an event.
func (f *feed) reduced(event watch.EventType, o wire.Object) error {
	if event == watch.Bookmark {
		return nil
	}
	if o.GetName() == "" {
		return errors.New("an event has an object without a name")
	}
	f.kind.Reduce(o)
	return nil
}
