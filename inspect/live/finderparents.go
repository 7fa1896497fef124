package live

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxParents is how many objects are asked for who controls them, and parentsAtOnce how many at a time.
	maxParents    = 64
	parentsAtOnce = 8
	// maxLinks is how many objects may lie between a pod and the object because of which there is it.
	maxLinks = 4
)

// direct are the kinds whose controllers make the pods themselves; those of Deployments are known by their
// names.
var direct = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job"}

// parents finds out which objects between pods and an object are controlled by whom. Only objects are asked
// about whose names begin with that of the object, as controllers name what they make.
func (f *Finder) parents(ctx context.Context, s *inspect.Snapshot, o *inspect.PodOwner) (inspect.Parents, error) {
	if slices.Contains(direct, o.Kind.Name) && (o.Kind.Group == "apps" || o.Kind.Group == "batch" || o.Kind.Group == "") {
		return nil, nil
	}
	l := &lookup{Finder: f, owner: o, known: map[reference]*metav1.OwnerReference{}}
	for range maxLinks {
		open := l.open(s)
		if len(open) == 0 {
			break
		}
		if err := l.ask(ctx, open); err != nil {
			return nil, err
		}
	}
	slices.Sort(o.Unread)
	return l.parent, nil
}

// lookup is a search for the controllers of objects in the namespace of an object.
type lookup struct {
	*Finder
	owner *inspect.PodOwner
	mu    sync.Mutex
	known map[reference]*metav1.OwnerReference // nil where there is none
}

// reference names an object in the namespace.
type reference struct{ apiVersion, kind, name string }

func referenceTo(ref *metav1.OwnerReference) reference {
	return reference{ref.APIVersion, ref.Kind, ref.Name}
}

func (l *lookup) parent(_ string, of *metav1.OwnerReference) *metav1.OwnerReference {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[referenceTo(of)]
}

// open are the ends of the chains of controllers that may lead further to the object, in the order of the
// pods.
func (l *lookup) open(s *inspect.Snapshot) []*metav1.OwnerReference {
	var out []*metav1.OwnerReference
	seen := map[reference]bool{}
	for _, pod := range s.Objects().Pods {
		if pod.Namespace != l.owner.Namespace {
			continue
		}
		chain := inspect.Controllers(pod, l.parent)
		if len(chain) == 0 {
			continue
		}
		end := chain[len(chain)-1]
		_, asked := l.known[referenceTo(end)]
		if asked || seen[referenceTo(end)] || end.UID == l.owner.UID || !mayBelong(end.Name, l.owner.Name) || len(l.known)+len(out) == maxParents {
			continue
		}
		seen[referenceTo(end)] = true
		out = append(out, end)
	}
	return out
}

func mayBelong(name, owner string) bool { return name == owner || strings.HasPrefix(name, owner+"-") }

// ask asks for objects who controls them.
func (l *lookup) ask(ctx context.Context, refs []*metav1.OwnerReference) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parentsAtOnce)
	for _, ref := range refs {
		group.Go(func() error {
			parent, err := l.controllerOf(ctx, ref)
			if err != nil {
				return err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.known[referenceTo(ref)] = parent
			return nil
		})
	}
	return group.Wait() //nolint:wrapcheck // of controllerOf
}

// controllerOf asks who controls an object. The error is that of a server that does not answer.
func (l *lookup) controllerOf(ctx context.Context, ref *metav1.OwnerReference) (*metav1.OwnerReference, error) {
	group, _, qualified := strings.Cut(ref.APIVersion, "/")
	if !qualified {
		group = ""
	}
	is := func(k inspect.OwnerKind) bool { return k.Name == ref.Kind && k.Group == group }
	k, ok, err := l.kind(ctx, is)
	if err != nil || !ok {
		return nil, err
	}
	data, err := l.get(ctx, objectPath(k, l.owner.Namespace, ref.Name), asMetadata)
	if err != nil {
		return nil, l.missed(ctx, k, err)
	}
	var about metav1.PartialObjectMetadata
	if json.Unmarshal(data, &about) != nil {
		return nil, nil // whatever it is, it says nothing of a controller
	}
	return metav1.GetControllerOf(&about), nil
}

// missed writes down that something may not be read. Other errors of single objects do not matter: they may
// be gone.
func (l *lookup) missed(ctx context.Context, k inspect.OwnerKind, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if fatal := l.fatal(err); fatal != nil {
		return fatal
	}
	if !apierrors.IsNotFound(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if message := cannotGet(k, l.owner.Namespace); !slices.Contains(l.owner.Unread, message) {
			l.owner.Unread = append(l.owner.Unread, message)
		}
	}
	return nil
}
