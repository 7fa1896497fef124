package live

import (
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"

	"cmp"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// store holds the objects of one resource for a reflector. Its methods only note what is there: the
// snapshot is made elsewhere.
type store struct {
	kind kind
	// filled is called when the store has got everything, dirty when there is something new to show; both
	// without the lock.
	filled, dirty func()

	mu      sync.Mutex
	objects map[key]object
	// changed are the keys that sorted does not reflect yet; everything is when all is set.
	changed map[key]bool
	all     bool
	sorted  []object
}

// key names an object within its resource.
type key struct{ namespace, name string }

func keyOf(o object) key { return key{o.GetNamespace(), o.GetName()} }

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name))
}

// String is NAMESPACE/NAME, or NAME.
func (k key) String() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

// size is the number of objects.
func (s *store) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.objects)
}

func newStore(k kind, filled, dirty func()) *store {
	return &store{kind: k, filled: filled, dirty: dirty, objects: map[key]object{}, changed: map[key]bool{}}
}

// Add implements cache.ReflectorStore.
func (s *store) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *store) Update(obj any) error {
	o, ok := obj.(object)
	if !ok {
		return nil // a reflector gives what the feed gave it
	}
	s.mu.Lock()
	k := keyOf(o)
	old := s.objects[k]
	if old != nil {
		sharing.Alike(o, old) // what changes most often has nothing in common with what was sent before it
	}
	s.objects[k] = o
	news := old == nil || !alike(old, o)
	if news {
		s.changed[k] = true
	} else {
		s.objects[k] = old // what is shared with the last snapshot stays shared
	}
	s.mu.Unlock()
	if news {
		s.dirty()
	}
	return nil
}

// alike reports whether an update of a node changed nothing but the time of its heartbeat: in a large
// cluster, most changes are of that kind.
func alike(old, updated object) bool {
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
func (s *store) Delete(obj any) error {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	o, ok := obj.(object)
	if !ok {
		return nil
	}
	s.mu.Lock()
	delete(s.objects, keyOf(o))
	s.changed[keyOf(o)] = true
	s.mu.Unlock()
	s.dirty()
	return nil
}

// Replace implements cache.ReflectorStore. Objects that have not changed stay the same, so that snapshots
// before and after share them.
func (s *store) Replace(list []any, _ string) error {
	s.mu.Lock()
	next := make(map[key]object, len(list))
	for _, obj := range list {
		o, ok := obj.(object)
		if !ok {
			continue
		}
		k := keyOf(o)
		if old := s.objects[k]; old != nil && old.GetUID() == o.GetUID() && old.GetResourceVersion() == o.GetResourceVersion() && o.GetResourceVersion() != "" {
			o = old
		}
		next[k] = o
	}
	s.objects, s.all = next, true
	s.mu.Unlock()
	s.filled()
	s.dirty()
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store) Resync() error { return nil }

// list returns the objects sorted by namespace and name, and whether they differ from those of the last
// call. The slice is not written afterwards.
func (s *store) list() (objects []object, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all:
		s.sorted = slices.SortedFunc(maps.Values(s.objects), func(a, b object) int { return keyOf(a).compare(keyOf(b)) })
	case len(s.changed) > 0:
		s.sorted = s.merge()
	default:
		return s.sorted, false
	}
	s.all = false
	clear(s.changed)
	return s.sorted, true
}

// merge puts what changed into the sorted objects, in one pass.
func (s *store) merge() []object {
	changed := slices.SortedFunc(maps.Keys(s.changed), key.compare)
	merged := make([]object, 0, len(s.sorted)+len(changed))
	rest := s.sorted
	for _, k := range changed {
		at, found := slices.BinarySearchFunc(rest, k, func(o object, k key) int { return keyOf(o).compare(k) })
		merged = append(merged, rest[:at]...)
		if found {
			at++
		}
		rest = rest[at:]
		if o := s.objects[k]; o != nil {
			merged = append(merged, o)
		}
	}
	return append(merged, rest...)
}

// fill puts the objects into a snapshot's, and reports whether they changed.
func (s *store) fill(to *inspect.Objects) bool {
	objects, changed := s.list()
	if changed {
		inspect.SetObjects(to, s.kind.Kind, objects)
	}
	return changed
}
