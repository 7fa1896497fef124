package live

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apifields "k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

const (
	// eventsAtOnce is how many objects the server is asked about at the same time: to find the Events of one,
	// it looks through all of the namespace.
	eventsAtOnce = 4
	// maxEventObjects bounds for how many objects of one question the Events are read.
	maxEventObjects = 64
	eventsPage      = 200
	// eventsPatience is for how long an answer waits for Events at most: they only add to it.
	eventsPatience = 15 * time.Second
)

// Events reads the Events of some objects, and of no others: each is one request with a field selector in the
// namespace of the object, of which the first page is read. Of many objects the first ones are read. The
// objects must have UIDs: what happened to an earlier object of the same name is of no interest. What is
// forbidden or fails is recorded in the Health; the error is that of ctx, or that the configuration cannot be
// used.
func Events(ctx context.Context, config *rest.Config, objects []inspect.ObjectRef) (inspect.Events, error) {
	r, _, err := newReader(config, Options{Resources: []inspect.Resource{}})
	if err != nil {
		return inspect.Events{}, err
	}
	objects = objects[:min(len(objects), maxEventObjects)]
	found, failures := make([][]inspect.Event, len(objects)), make([]error, len(objects))
	var group errgroup.Group
	group.SetLimit(eventsAtOnce)
	bounded, cancel := context.WithTimeout(connection.WithoutErrorLog(ctx), eventsPatience)
	defer cancel()
	for i := range objects {
		group.Go(func() error { found[i], failures[i] = r.eventsOf(bounded, &objects[i]); return nil })
	}
	_ = group.Wait() // failures has the errors
	if ctx.Err() != nil {
		return inspect.Events{}, fmt.Errorf("reading %s: %w", r.server, context.Cause(ctx))
	}
	out := inspect.Events{List: slices.Concat(found...), Health: inspect.Health{State: inspect.Synced, Version: "v1"}}
	for i, err := range failures {
		if err != nil {
			out.Health = eventsHealth(err, objects[i].Namespace)
			break
		}
	}
	return out, nil
}

// eventKind is how Events are read. They are no kind of a Snapshot.
var eventKind = wire.Beside(corev1.GroupName, "events", "Event", true, nil)

// eventsOf reads the Events of one object.
func (r *reader) eventsOf(ctx context.Context, o *inspect.ObjectRef) ([]inspect.Event, error) {
	selector := apifields.AndSelectors(
		apifields.OneTermEqualSelector("involvedObject.kind", o.Kind), apifields.OneTermEqualSelector("involvedObject.namespace", o.Namespace),
		apifields.OneTermEqualSelector("involvedObject.name", o.Name), apifields.OneTermEqualSelector("involvedObject.uid", string(o.UID)),
	)
	options := metav1.ListOptions{FieldSelector: selector.String(), Limit: eventsPage}
	events, _, err := r.eventsPage(ctx, o.Namespace, options)
	return slices.DeleteFunc(events, func(e inspect.Event) bool { // whatever a server answers that does not know the selector
		return e.Kind != o.Kind || e.Namespace != o.Namespace || e.Name != o.Name || e.UID != o.UID
	}), err
}

// eventsPage reads the first Events of a namespace, or of all, and says whether there are more.
func (r *reader) eventsPage(ctx context.Context, namespace string, options metav1.ListOptions) (events []inspect.Event, more bool, err error) {
	page, err := r.listPage(ctx, eventKind, eventKind.Versions[0], namespace, options, &bytes.Buffer{})
	if err != nil {
		return nil, false, err
	}
	items := page.list.(*corev1.EventList).Items //nolint:forcetypeassert // newList made it
	for i := range items {
		events = append(events, inspect.EventOf(&items[i]))
	}
	return events, page.next != "", nil
}

// eventsHealth says what kept Events from being read in a namespace, or in all.
func eventsHealth(err error, namespace string) inspect.Health {
	in, where := "", " at the cluster scope"
	if namespace != "" {
		in, where = " in namespace "+namespace, " in namespace "+namespace
	}
	if apierrors.IsForbidden(err) {
		return inspect.Health{State: inspect.Forbidden, Version: "v1", Message: "cannot list events" + where}
	}
	return inspect.Health{State: inspect.Broken, Version: "v1", Message: "listing events" + in + ": " + wire.Clean(cause(err))}
}
