package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// Finder asks a server for single objects because of which there are pods, of whatever kind. Its methods may
// be called by several goroutines at once.
type Finder struct {
	*reader
	discovery sync.Mutex
	served    []inspect.OwnerKind // by all groups; nil until it was asked for
}

// ErrNoObject says that there is no object of a name.
var ErrNoObject = errors.New("not found")

// NewFinder returns a finder for the server that config points to. It asks nothing yet. The Timeout of config
// bounds every single request.
func NewFinder(config *rest.Config) (*Finder, error) {
	r, _, err := newReader(config, Options{Resources: []inspect.Resource{}, PageSize: defaultPageSize})
	if err != nil {
		return nil, err
	}
	return &Finder{reader: r}, nil
}

// asMetadata and asMetadataList make a server leave out all of objects but their metadata.
const (
	asMetadata     = runtime.ContentTypeJSON + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	asMetadataList = runtime.ContentTypeJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// Owner reads an object, with its pods of a snapshot of the same server. What is missing of these because
// something may not be read is in Unread of the result. Where the object itself may not be read, or is gone,
// there is a result if there are pods of it.
//
// The error wraps ErrNoObject if there is neither such an object nor a pod of it; it is a *ServerError, or
// that of ctx, as for Read.
func (f *Finder) Owner(ctx context.Context, s *inspect.Snapshot, k inspect.OwnerKind, namespace, name string) (*inspect.PodOwner, error) {
	o := &inspect.PodOwner{Kind: k, Namespace: namespace, Name: name}
	if k.IsPodGroup() { // which is part of the snapshot
		if !o.Fill(s, nil) {
			return nil, ErrNoObject
		}
		return o, nil
	}
	data, err := f.get(ctx, objectPath(k, namespace, name), runtime.ContentTypeJSON)
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		message := cannotGet(k, namespace)
		if !o.Fill(s, nil) {
			return nil, errors.New(message)
		}
		o.Unread = []string{message}
		return o, nil
	case isNotServed(err) && o.Fill(s, nil):
		return o, nil // deleted, and its pods left alone
	default:
		return nil, f.failed(ctx, k, namespace, name, err)
	}
	if err := readOwner(o, data); err != nil {
		return nil, fmt.Errorf("getting %s %s/%s: %w", k.Singular, namespace, name, err)
	}
	parents, err := f.parents(ctx, s, o)
	if err != nil {
		return nil, err
	}
	o.Fill(s, parents)
	return o, nil
}

// readOwner fills in what the object says.
func readOwner(o *inspect.PodOwner, data []byte) error {
	var about metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &about); err != nil {
		return fmt.Errorf("the answer is no object: %s", wire.Clean(err.Error()))
	}
	if about.Kind != o.Kind.Name || about.Name != o.Name {
		return fmt.Errorf("the answer is no %s %s but %q %q", o.Kind.Name, o.Name, wire.Clean(about.Kind), wire.Clean(about.Name))
	}
	o.Known, o.UID = true, about.UID
	result, err := manifest.ReadBytes("server", data, manifest.Options{Namespace: o.Namespace, Workloads: true})
	if err != nil {
		return fmt.Errorf("its pod template cannot be read: %w", err)
	}
	o.Templates = result.Workloads
	return nil
}

// failed words why an object could not be read.
func (f *Finder) failed(ctx context.Context, k inspect.OwnerKind, namespace, name string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if fatal := f.fatal(err); fatal != nil {
		return fatal
	}
	if isNotServed(err) {
		return ErrNoObject
	}
	return fmt.Errorf("getting %s %s/%s: %s", k.Singular, namespace, name, wire.Clean(cause(err)))
}

func cannotGet(k inspect.OwnerKind, namespace string) string {
	return fmt.Sprintf("cannot get %s in namespace %s", wire.Clean(k.GroupResource().String()), wire.Clean(namespace))
}

// Names are the names of the objects of a kind in a namespace, as the server orders them. See Rows.
func (f *Finder) Names(ctx context.Context, k inspect.OwnerKind, namespace string) ([]string, error) {
	rows, err := f.rows(ctx, objectPath(k, namespace, ""))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %s", k.GroupResource(), wire.Clean(cause(err)))
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	return names, nil
}

// objectPath is the path of an object, or of a collection if the name is empty.
func objectPath(k inspect.OwnerKind, namespace, name string) []string {
	path := append(wire.Path(k.Group, k.Version), "namespaces", namespace, k.Resource)
	if name != "" {
		path = append(path, name)
	}
	return path
}

// get asks for an object at a path.
func (f *Finder) get(ctx context.Context, path []string, accept string) ([]byte, error) {
	request, err := f.askFor(path, accept)
	if err != nil {
		return nil, err
	}
	return raw(request.Do(connection.With(ctx, connection.Bounds{Bytes: limits.event})))
}

// askFor is a request for a path. Names that are no segments of a path are names of nothing.
func (f *Finder) askFor(path []string, accept string) (*rest.Request, error) {
	for _, segment := range path[1:] {
		if len(content.IsPathSegmentName(segment)) > 0 {
			return nil, apierrors.NewNotFound(inspect.OwnerKind{}.GroupResource(), segment)
		}
	}
	return f.ask(path, accept), nil
}

// raw is the body of an answer, or the error that the server gives, in its own words.
func raw(result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil {
		return nil, err //nolint:wrapcheck // callers look at it
	}
	return result.Raw() //nolint:wrapcheck // as above
}

func (f *Finder) ask(path []string, accept string) *rest.Request {
	return f.reader.get(path...).SetHeader("Accept", accept)
}
