package inspect

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/internal/turns"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Config is what a Snapshot needs to know besides the objects themselves.
type Config struct {
	// Revision grows with every Snapshot of the same source.
	Revision int64
	// Time is the moment that the objects were read; ages are measured from it.
	Time time.Time
	// Features are the gates of the scheduler that is asked about.
	Features Features
	// Health says how far each resource could be read. A resource without an entry counts as
	// NotRead when it has no objects and as Synced when it has some.
	Health map[Resource]Health
	// ServerVersion is the git version of the API server, such as "v1.37.1". It is empty for files.
	ServerVersion string
	// Scheduler is the configuration of kube-scheduler. If it is nil, it has none but its defaults.
	Scheduler *schedulerconfig.Config
	// Kueue is the configuration of Kueue. If it is nil, its defaults are assumed, if there is Kueue.
	Kueue *kueueconfig.Config
	// Selecting are the objects by whose selectors pods are spread, if kube-scheduler refuses nodes because
	// of them. Otherwise it need not be known.
	Selecting *Selecting
	// Recorded says that Time is a moment of a log, which may be long ago.
	Recorded bool
}

// Snapshot is a cluster at one moment. It is immutable and may be used by several goroutines at once.
// Every slice and object that it returns is shared: callers must not write to them.
type Snapshot struct {
	config Config
	// objects are without what is placed, and whole, if anything is, with it.
	objects Objects
	placed  placed
	whole   func() *Objects
	// around are the objects without claims and pods.
	around *Objects

	// Built when they are first used.
	podsOf          func() *podIndex
	idleHolders     func() []*resourcev1.ResourceClaim
	extendedClasses func() map[corev1.ResourceName]*resourcev1.DeviceClass
	disagreeing     func() []DisagreeingPool
	newer           func() *Newer

	slices  []*sliceInfo // effective taints applied, sorted by name
	byNode  []*sliceInfo // those with a node name, sorted by that, then by name
	unbound []*sliceInfo // without a node name: all nodes, node selector, per device
	byPool  []*sliceInfo // all, sorted by pool, then by name
	// boundCounters are those with a node name and counter sets, sorted by name.
	boundCounters []*sliceInfo
	holders       *holderIndex
	release       Release
	poolRules     poolRules
	pools         *poolCache
	assumed       bool // the nodes were derived from other objects
}

// New builds a Snapshot. It takes over the objects, which must not be written afterwards; the slices
// of the Objects are sorted in place. Of several objects with one name the first is kept.
func New(objects Objects, config Config) *Snapshot { return build(nil, objects, config) }

// build makes a Snapshot and takes from another, which may be nil, what is the same in both.
func build(before *Snapshot, objects Objects, config Config) *Snapshot {
	if before == nil {
		before = &Snapshot{pools: &poolCache{}, disagreeing: func() []DisagreeingPool { return nil }}
	}
	known := before.Objects()
	objects.sortLike(known)
	s := &Snapshot{config: config, objects: objects, release: releaseOf(&config)}
	s.poolRules = poolRulesOf(s.release, config.Features)
	if s.podsOf = before.podsOf; s.podsOf == nil || !sameUsers(known.Pods, objects.Pods) {
		s.podsOf = sync.OnceValue(func() *podIndex { return newPodIndex(objects.Pods) })
	}
	s.idleHolders = sync.OnceValue(s.findIdleHolders)
	s.extendedClasses = sync.OnceValue(s.findExtendedClasses)
	s.newer = sync.OnceValue(s.findNewer)
	inParallel(len(objects.Claims)+len(objects.Slices) > parallelObjects,
		func() { s.holders = before.holders.next(known.Claims, objects.Claims, objects.Slices) },
		func() {
			s.indexSlices(before)
			s.indexNodes(before)
		})
	s.pools = before.nextPools(s)
	around := s.objects
	around.Claims, around.Pods = nil, nil
	s.around = &around
	return s
}

// parallelObjects is the number of objects from which on it pays to index on several cores.
const parallelObjects = 512

// inParallel calls the functions, at the same time if that is wanted, and returns when all have ended.
func inParallel(wanted bool, fs ...func()) {
	if !wanted {
		for _, f := range fs {
			f()
		}
		return
	}
	turns.Each(len(fs), func(i int) bool { fs[i](); return true })
}

// lookup finds the first object of a name in a list that is sorted by namespace and name.
func lookup[T metav1.Object](objects []T, namespace, name string) (T, bool) {
	i, ok := slices.BinarySearchFunc(objects, namespace, func(o T, namespace string) int {
		return cmp.Or(strings.Compare(o.GetNamespace(), namespace), strings.Compare(o.GetName(), name))
	})
	if !ok {
		var none T
		return none, false
	}
	return objects[i], true
}

// lookupByName is lookup for objects that have no namespace. A file may give them one nevertheless; such
// objects are last.
func lookupByName[T metav1.Object](objects []T, name string) (T, bool) {
	o, ok := lookup(objects, "", name)
	if ok || len(objects) == 0 || objects[len(objects)-1].GetNamespace() == "" {
		return o, ok
	}
	for _, o := range objects {
		if o.GetName() == name {
			return o, true
		}
	}
	return o, false
}

// object is a pointer to an API object.
type object interface {
	comparable
	metav1.Object
}

func byName[T object](a, b T) int {
	return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}

// sortByName sorts a list of which many objects are in another, sorted one.
func sortByName[T object](objects, sorted []T) {
	if !isSortedLike(objects, sorted) {
		slices.SortStableFunc(objects, byName[T])
	}
}

// isSortedLike reports whether a list is sorted. Neighbours that are neighbours in the sorted list too
// need not be compared by name.
func isSortedLike[T object](objects, sorted []T) bool {
	if len(objects) == len(sorted) && (len(objects) == 0 || &objects[0] == &sorted[0]) {
		return true // it is the same list
	}
	at := -1 // where in sorted the object before stands, if it does
	for i := range objects {
		known := at+1 < len(sorted) && objects[i] == sorted[at+1]
		neighbours := known && at >= 0 && objects[i-1] == sorted[at]
		if i > 0 && !neighbours && byName(objects[i-1], objects[i]) > 0 {
			return false
		}
		switch {
		case known, i+1 >= len(objects): // in step
			at++
		case at+1 < len(sorted) && objects[i+1] == sorted[at+1]: // objects[i] was inserted
		case at+2 < len(sorted) && objects[i] == sorted[at+2]: // one was deleted before it
			at += 2
		default:
			at++ // replaced
		}
	}
	return true
}

// With returns a Snapshot of a cluster that is like this one except for a change. The function gets a
// copy of the Objects whose slices it may rewrite; the objects in them are shared, so it replaces an
// object that it wants to change by a changed copy. The revision stays the same: what follows from it
// is hypothetical.
func (s *Snapshot) With(change func(*Objects)) *Snapshot {
	o := s.Objects().clone()
	if s.assumed {
		o.Nodes = nil // derived again from the changed objects
	}
	change(&o)
	out := build(s, o, s.config)
	out.newer = s.newer // what is supposed is made by this program
	return out
}

// Next returns the Snapshot of the same source at another moment. It answers exactly as New would with
// the same arguments, but shares with this Snapshot whatever follows from objects that are in both:
// objects count as unchanged only if they are the same pointers. That costs one comparison of pointers for
// every object, besides the work for those that were added, replaced or removed.
//
// The lists of objects may be those of Objects() of this Snapshot where nothing in them has changed, and
// must be other slices where something has. They need not be sorted, but to give them sorted by namespace
// and name is cheaper. Both Snapshots remain valid and immutable.
//
//	o := *before.Objects()
//	o.Claims = slices.Clone(o.Claims)
//	o.Claims[i] = claim // the newer version
//	after := before.Next(o, config)
//
// If before.NodesAssumed, o.Nodes holds stand-ins: they are recognised and derived again.
func (s *Snapshot) Next(objects Objects, config Config) *Snapshot {
	if s.assumed && slices.Equal(objects.Nodes, s.objects.Nodes) {
		objects.Nodes = nil
	}
	return build(s, objects, config)
}

// with returns a Snapshot of the same objects of which something else is known besides.
func (s *Snapshot) with(change func(*Config)) *Snapshot {
	config := s.config
	change(&config)
	return s.Next(*s.Objects(), config)
}

// WithFeatures returns a Snapshot of the same objects under other feature gates.
func (s *Snapshot) WithFeatures(f Features) *Snapshot {
	return s.with(func(config *Config) { config.Features = f })
}

// WithScheduler returns a Snapshot of the same objects with another configuration of kube-scheduler.
func (s *Snapshot) WithScheduler(c *schedulerconfig.Config) *Snapshot {
	return s.with(func(config *Config) { config.Scheduler = c })
}

// WithKueue returns a Snapshot of the same objects with another configuration of Kueue.
func (s *Snapshot) WithKueue(c *kueueconfig.Config) *Snapshot {
	return s.with(func(config *Config) { config.Kueue = c })
}

// Kueue returns the configuration of Kueue. It is nil if that is not known.
func (s *Snapshot) Kueue() *kueueconfig.Config { return s.config.Kueue }

// Scheduler returns the configuration of kube-scheduler. It is nil if only its defaults are known.
func (s *Snapshot) Scheduler() *schedulerconfig.Config { return s.config.Scheduler }

// Schedules reports whether a profile of kube-scheduler schedules a pod, and not another scheduler.
func (s *Snapshot) Schedules(pod *corev1.Pod) bool {
	_, ok := s.Scheduler().Profile(pod.Spec.SchedulerName)
	return ok
}

// SchedulerPod names a running pod, as namespace/name, that is called as a scheduler, or begins with that
// name and a dash, as those of a Deployment do. It is "" if there is none.
func (s *Snapshot) SchedulerPod(name string) string {
	for _, pod := range s.Objects().Pods {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && (pod.Name == name || strings.HasPrefix(pod.Name, name+"-")) {
			return pod.Namespace + "/" + pod.Name
		}
	}
	return ""
}

// WithRelease returns a Snapshot of the same objects under the rules of another release, and its feature
// gates.
func (s *Snapshot) WithRelease(r Release, f Features) *Snapshot {
	return s.with(func(config *Config) {
		if config.Features, config.ServerVersion = f, ""; r.Patch != LatestPatch {
			config.ServerVersion = "v" + r.String()
		}
	})
}

// WithHealth returns a Snapshot of the same objects of which some resources were read less far than was
// thought.
func (s *Snapshot) WithHealth(health map[Resource]Health) *Snapshot {
	all := map[Resource]Health{}
	maps.Copy(all, s.config.Health)
	maps.Copy(all, health)
	return s.with(func(config *Config) { config.Health = all })
}

// AsOf returns a Snapshot of the same objects at another moment of the log that they are from.
func (s *Snapshot) AsOf(t time.Time) *Snapshot {
	return s.with(func(config *Config) { config.Time, config.Recorded = t, true })
}

// SameKnown reports whether both Snapshots are of the same release and features, and were read as far as each
// other.
func (s *Snapshot) SameKnown(other *Snapshot) bool {
	a, b := s.config, other.config
	same := func(x, y Health) bool {
		return x.State == y.State && x.Message == y.Message && x.Version == y.Version && slices.Equal(x.Namespaces, y.Namespaces)
	}
	return a.ServerVersion == b.ServerVersion && a.Features.Minor == b.Features.Minor &&
		slices.Equal(a.Features.List(), b.Features.List()) && maps.EqualFunc(a.Health, b.Health, same)
}

// WithKnown returns a Snapshot of the same objects, as if it was of the release and features of another, and
// read as far as that, at that time.
func (s *Snapshot) WithKnown(of *Snapshot) *Snapshot { return s.Next(*s.Objects(), of.config) }

// Recorded reports whether the Snapshot is a moment of a log, which may be long ago.
func (s *Snapshot) Recorded() bool { return s.config.Recorded }

// VolumeClaim returns a PersistentVolumeClaim.
func (s *Snapshot) VolumeClaim(namespace, name string) (*corev1.PersistentVolumeClaim, bool) {
	return lookup(s.objects.VolumeClaims, namespace, name)
}

// Objects returns the objects of the snapshot. The slices are shared and must not be written.
func (s *Snapshot) Objects() *Objects {
	if s.whole != nil {
		return s.whole()
	}
	return &s.objects
}

// Around returns the objects of the snapshot without claims and pods. Unlike Objects it is cheap after
// [Snapshot.WithPlaced], and for all that are made of one by that it is the same.
func (s *Snapshot) Around() *Objects { return s.around }

// Revision returns the revision that the snapshot was built with.
func (s *Snapshot) Revision() int64 { return s.config.Revision }

// Time returns the moment from which the objects are.
func (s *Snapshot) Time() time.Time { return s.config.Time }

// Features returns the gates of the scheduler that is asked about.
func (s *Snapshot) Features() Features { return s.config.Features }

// ServerVersion returns the version of the API server, or "" when the objects came from files.
func (s *Snapshot) ServerVersion() string { return s.config.ServerVersion }

// Health says how far a resource could be read.
func (s *Snapshot) Health(r Resource) Health { return s.config.Health[r] }

// Claim returns a claim by name.
func (s *Snapshot) Claim(ref ClaimRef) (*resourcev1.ResourceClaim, bool) {
	if claim, ok := lookup(s.placed.claims, ref.Namespace, ref.Name); ok {
		return claim, true
	}
	return lookup(s.objects.Claims, ref.Namespace, ref.Name)
}

// Template returns a claim template by name.
func (s *Snapshot) Template(namespace, name string) (*resourcev1.ResourceClaimTemplate, bool) {
	return lookup(s.objects.Templates, namespace, name)
}

// Class returns a device class by name.
func (s *Snapshot) Class(name string) (*resourcev1.DeviceClass, bool) {
	return lookupByName(s.objects.Classes, name)
}

// Node returns a node by name. NodesAssumed tells whether it is a real one.
func (s *Snapshot) Node(name NodeName) (*corev1.Node, bool) {
	return lookupByName(s.objects.Nodes, string(name))
}

// Pod returns a pod by name.
func (s *Snapshot) Pod(ref PodRef) (*corev1.Pod, bool) {
	if pod, ok := lookup(s.placed.pods, ref.Namespace, ref.Name); ok {
		return pod, true
	}
	return lookup(s.objects.Pods, ref.Namespace, ref.Name)
}

// Nodes returns all nodes, sorted by name.
func (s *Snapshot) Nodes() []*corev1.Node { return s.objects.Nodes }

// PriorityLevels returns the priority levels, sorted by name.
func (s *Snapshot) PriorityLevels() []*flowcontrolv1.PriorityLevelConfiguration {
	return s.objects.PriorityLevels
}

// StorageCapacities returns the CSI storage capacities, sorted by namespace and name.
func (s *Snapshot) StorageCapacities() []*storagev1.CSIStorageCapacity {
	return s.objects.StorageCapacities
}
