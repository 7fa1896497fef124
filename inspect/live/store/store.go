package store

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// Store holds the objects of one resource for a reflector. Its methods only note what is there: the
// snapshot is made elsewhere.
type Store struct {
	kind wire.Kind
	// filled is called when the store has got everything, dirty when there is something new to show; both
	// without the lock.
	filled, dirty func()

	mu sync.Mutex
	// sorted is by namespace and name, and not written. In it objects are looked up: a map of all would be
	// another tenth of what they take.
	sorted []wire.Object
	// changed are the objects that sorted does not reflect yet; nil for one that is gone.
	changed map[wire.Key]wire.Object
	// more is how many objects there are besides those in sorted.
	more int
	// news says that sorted is not that of the last list.
	news bool
}

// Size is the number of objects.
func (s *Store) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sorted) + s.more
}

// get returns an object, or nil if there is none.
func (s *Store) get(k wire.Key) wire.Object {
	if o, ok := s.changed[k]; ok {
		return o
	}
	if at, found := s.find(s.sorted, k); found {
		return s.sorted[at]
	}
	return nil
}

func (s *Store) find(sorted []wire.Object, k wire.Key) (at int, found bool) {
	return slices.BinarySearchFunc(sorted, k, func(o wire.Object, k wire.Key) int { return wire.KeyOf(o).Compare(k) })
}

// New returns an empty store: filled is called when it has got everything, dirty when there is something
// new to show.
func New(k wire.Kind, filled, dirty func()) *Store {
	return &Store{kind: k, filled: filled, dirty: dirty, changed: map[wire.Key]wire.Object{}}
}

// Add implements cache.ReflectorStore.
func (s *Store) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *Store) Update(obj any) error {
	o, ok := obj.(wire.Object)
	if !ok {
		return nil // a reflector gives what the feed gave it
	}
	s.mu.Lock()
	k := wire.KeyOf(o)
	old := s.get(k)
	if old != nil {
		sharing.Alike(o, old) // what changes most often has nothing in common with what was sent before it
	} else {
		s.more++
	}
	news := old == nil || !alike(old, o)
	if news { // what is shared with the last snapshot stays shared otherwise
		s.changed[k] = o
	}
	s.mu.Unlock()
	if news {
		s.dirty()
	}
	return nil
}

// alike reports whether an update of a node changed nothing but the time of its heartbeat: in a large
// cluster, most changes are of that kind.
func alike(old, updated wire.Object) bool {
	a, ok := old.(*corev1.Node)
	b, also := updated.(*corev1.Node)
	if !ok || !also || a.Generation != b.Generation || len(a.Status.Conditions) != len(b.Status.Conditions) {
		return false
	}
	for i := range b.Status.Conditions {
		x, y := a.Status.Conditions[i], b.Status.Conditions[i]
		x.LastHeartbeatTime = y.LastHeartbeatTime
		if x != y {
			return false
		}
	}
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		equality.Semantic.DeepEqual(a.DeletionTimestamp, b.DeletionTimestamp) &&
		equality.Semantic.DeepEqual(a.Status.Capacity, b.Status.Capacity) && equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable) &&
		equality.Semantic.DeepEqual(a.Status.DeclaredFeatures, b.Status.DeclaredFeatures) && equality.Semantic.DeepEqual(a.Status.NodeInfo, b.Status.NodeInfo)
}

// Delete implements cache.ReflectorStore.
func (s *Store) Delete(obj any) error {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	o, ok := obj.(wire.Object)
	if !ok {
		return nil
	}
	s.mu.Lock()
	if k := wire.KeyOf(o); s.get(k) != nil {
		s.changed[k] = nil
		s.more--
	}
	s.mu.Unlock()
	s.dirty()
	return nil
}

// Replace implements cache.ReflectorStore. Objects that have not changed stay the same, so that snapshots
// before and after share them.
func (s *Store) Replace(list []any, _ string) error {
	next := make([]wire.Object, 0, len(list))
	for _, obj := range list {
		if o, ok := obj.(wire.Object); ok {
			next = append(next, o)
		}
	}
	next = sortedOnce(next)
	s.mu.Lock()
	s.sorted = s.merge()
	for i, o := range next {
		if old := s.get(wire.KeyOf(o)); old != nil && old.GetUID() == o.GetUID() && old.GetResourceVersion() == o.GetResourceVersion() && o.GetResourceVersion() != "" {
			next[i] = old
		}
	}
	s.sorted, s.news = next, true
	s.mu.Unlock()
	s.filled()
	s.dirty()
	return nil
}

// sortedOnce sorts objects; of several with one name the last one counts.
func sortedOnce(objects []wire.Object) []wire.Object {
	order := func(a, b wire.Object) int { return wire.KeyOf(a).Compare(wire.KeyOf(b)) }
	if !slices.IsSortedFunc(objects, order) { // servers send them sorted
		slices.SortStableFunc(objects, order)
	}
	out := objects[:0]
	for i, o := range objects {
		if i+1 == len(objects) || order(o, objects[i+1]) != 0 {
			out = append(out, o)
		}
	}
	return out
}

// Resync implements cache.ReflectorStore.
func (s *Store) Resync() error { return nil }

// list returns the objects sorted by namespace and name, and whether they differ from those of the last
// call. The slice is not written afterwards.
func (s *Store) list() (objects []wire.Object, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.news || len(s.changed) > 0
	s.sorted, s.news = s.merge(), false
	return s.sorted, changed
}

// merge returns the sorted objects with what changed, in one pass.
func (s *Store) merge() []wire.Object {
	if len(s.changed) == 0 {
		return s.sorted
	}
	changed := slices.SortedFunc(maps.Keys(s.changed), wire.Key.Compare)
	merged := make([]wire.Object, 0, len(s.sorted)+s.more)
	rest := s.sorted
	for _, k := range changed {
		at, found := s.find(rest, k)
		merged = append(merged, rest[:at]...)
		if found {
			at++
		}
		rest = rest[at:]
		if o := s.changed[k]; o != nil {
			merged = append(merged, o)
		}
	}
	clear(s.changed)
	s.more = 0
	return append(merged, rest...)
}

// Fill puts the objects into a snapshot's, and reports whether they changed.
func (s *Store) Fill(to *inspect.Objects) bool {
	objects, changed := s.list()
	if changed {
		inspect.SetObjects(to, s.kind.Kind, objects)
	}
	return changed
}
