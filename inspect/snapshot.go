package inspect

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	// ServerVersion is the git version of the API server, such as "v1.37.1"; empty for files.
	ServerVersion string
}

// Snapshot is a cluster at one moment. It is immutable and may be used by several goroutines at once.
// Every slice and object that it returns is shared: callers must not write to them.
type Snapshot struct {
	config  Config
	objects Objects

	// Indexes that only some questions need are built when they are first used.
	claims func() map[ClaimRef]*resourcev1.ResourceClaim
	pods   func() map[PodRef]*corev1.Pod
	podsOf func() map[ClaimRef][]PodRef

	templates  map[types.NamespacedName]*resourcev1.ResourceClaimTemplate
	classes    map[string]*resourcev1.DeviceClass
	nodes      map[NodeName]*corev1.Node
	holders    map[PoolID]*PoolHolders
	slices     []*sliceInfo // effective taints applied, sorted by name
	onNode     map[NodeName][]*sliceInfo
	unbound    []*sliceInfo // without a node name: all nodes, node selector, per device
	byPool     map[PoolID][]*sliceInfo
	poolsOn    *sync.Map // *corev1.Node -> []*NodePool
	assumed    bool      // the nodes were derived from other objects
	pseudoNode bool      // there was not even a node name: one stand-in node
}

// New builds a Snapshot. It takes over the objects, which must not be written afterwards; the slices
// of the Objects are sorted in place. Of several objects with one name the first is kept.
func New(objects Objects, config Config) *Snapshot {
	objects.Sort()
	s := &Snapshot{config: config, objects: objects, poolsOn: &sync.Map{}}
	s.claims = sync.OnceValue(func() map[ClaimRef]*resourcev1.ResourceClaim {
		return index(objects.Claims, func(o *resourcev1.ResourceClaim) ClaimRef { return ClaimRef{o.Namespace, o.Name} })
	})
	s.pods = sync.OnceValue(func() map[PodRef]*corev1.Pod {
		return index(objects.Pods, func(o *corev1.Pod) PodRef { return PodRef{o.Namespace, o.Name} })
	})
	s.podsOf = sync.OnceValue(func() map[ClaimRef][]PodRef { return podsOfClaims(objects.Pods) })
	s.templates = index(objects.Templates, func(o *resourcev1.ResourceClaimTemplate) types.NamespacedName {
		return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	})
	s.classes = index(objects.Classes, func(o *resourcev1.DeviceClass) string { return o.Name })
	s.indexSlices()
	s.indexNodes()
	s.holders = holdersOfDevices(objects.Claims)
	return s
}

func index[K comparable, T any](objects []T, key func(T) K) map[K]T {
	m := make(map[K]T, len(objects))
	for _, o := range objects {
		if k := key(o); !has(m, k) {
			m[k] = o
		}
	}
	return m
}

func has[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }

// Sort sorts every list by namespace and name, in place.
func (o *Objects) Sort() {
	sortByName(o.Claims)
	sortByName(o.Templates)
	sortByName(o.Classes)
	sortByName(o.Slices)
	sortByName(o.TaintRules)
	sortByName(o.Pods)
	sortByName(o.Nodes)
	sortByName(o.PriorityLevels)
	sortByName(o.FlowSchemas)
	sortByName(o.StorageCapacities)
	sortByName(o.StorageClasses)
	sortByName(o.CSIDrivers)
	sortByName(o.VolumeClaims)
	sortByName(o.Volumes)
}

func sortByName[T metav1.Object](objects []T) {
	order := func(a, b T) int {
		if c := cmp.Compare(a.GetNamespace(), b.GetNamespace()); c != 0 {
			return c
		}
		return cmp.Compare(a.GetName(), b.GetName())
	}
	if !slices.IsSortedFunc(objects, order) { // as servers and informers give them
		slices.SortStableFunc(objects, order)
	}
}

// With returns a Snapshot of a cluster that is like this one except for a change. The function gets a
// copy of the Objects whose slices it may rewrite; the objects in them are shared, so it replaces an
// object that it wants to change by a changed copy. The revision stays the same: what follows from it
// is hypothetical.
func (s *Snapshot) With(change func(*Objects)) *Snapshot {
	o := s.objects
	o.Claims = slices.Clone(o.Claims)
	o.Templates = slices.Clone(o.Templates)
	o.Classes = slices.Clone(o.Classes)
	o.Slices = slices.Clone(o.Slices)
	o.TaintRules = slices.Clone(o.TaintRules)
	o.Pods = slices.Clone(o.Pods)
	o.Nodes = slices.Clone(o.Nodes)
	if s.assumed {
		o.Nodes = nil // derived again from the changed objects
	}
	change(&o)
	return New(o, s.config)
}

// WithFeatures returns a Snapshot of the same objects under other feature gates.
func (s *Snapshot) WithFeatures(f Features) *Snapshot {
	out := *s
	out.config.Features = f
	out.poolsOn = &sync.Map{}
	if f.Enabled(GateDeviceTaintRules) != s.config.Features.Enabled(GateDeviceTaintRules) {
		out.indexSlices() // effective taints differ
	}
	return &out
}

// Objects returns the objects of the snapshot. The slices are shared and must not be written.
func (s *Snapshot) Objects() *Objects { return &s.objects }

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
	c, ok := s.claims()[ref]
	return c, ok
}

// Template returns a claim template by name.
func (s *Snapshot) Template(namespace, name string) (*resourcev1.ResourceClaimTemplate, bool) {
	t, ok := s.templates[types.NamespacedName{Namespace: namespace, Name: name}]
	return t, ok
}

// Class returns a device class by name.
func (s *Snapshot) Class(name string) (*resourcev1.DeviceClass, bool) {
	c, ok := s.classes[name]
	return c, ok
}

// Node returns a node by name. NodesAssumed tells whether it is a real one.
func (s *Snapshot) Node(name NodeName) (*corev1.Node, bool) {
	n, ok := s.nodes[name]
	return n, ok
}

// Pod returns a pod by name.
func (s *Snapshot) Pod(ref PodRef) (*corev1.Pod, bool) {
	p, ok := s.pods()[ref]
	return p, ok
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
