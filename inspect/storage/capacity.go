package storage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Capacity is what a driver says about one StorageClass in one topology segment.
type Capacity struct {
	Object *storagev1.CSIStorageCapacity
	// Class is the name of the StorageClass. It need not exist.
	Class string
	// Total is how much can still be provisioned. It is nil if the driver does not say at the moment.
	Total *resource.Quantity
	// Largest is the size of the largest volume that can be provisioned. It is nil if the driver does not
	// say. Fragmentation may make it much smaller than Total.
	Largest *resource.Quantity
	// Topology selects nodes by their labels: labels.Nothing() for storage that no node can reach, which is
	// what an object without topology means, and labels.Everything() for storage that all nodes can reach.
	Topology labels.Selector
	// Nodes are those of the snapshot that Topology selects, sorted by name.
	Nodes []inspect.NodeName
	// Err says why the topology cannot be read; no API server accepts such an object, files may have it.
	Err error
}

// Limit is the size of the largest volume that the scheduler takes to be possible, or nil if it takes none to
// be: Largest, or if the driver does not say that, Total.
func (c *Capacity) Limit() *resource.Quantity {
	if c.Largest != nil {
		return c.Largest
	}
	return c.Total
}

// LimitField is the field that Limit is the value of, or "".
func (c *Capacity) LimitField() string {
	switch {
	case c.Largest != nil:
		return "maximumVolumeSize"
	case c.Total != nil:
		return "capacity"
	}
	return ""
}

// Capacities returns the storage capacities of a snapshot in the order of its objects, by namespace and
// name. Nothing is known of the labels of nodes that stand in for unread ones, so of those only storage
// that all nodes can reach is said to be reachable.
func Capacities(s *inspect.Snapshot) []Capacity {
	return capacities(s, func(*storagev1.CSIStorageCapacity) bool { return true })
}

// CapacitiesOf is Capacities of one StorageClass, which need not exist.
func CapacitiesOf(s *inspect.Snapshot, class string) []Capacity {
	return capacities(s, func(c *storagev1.CSIStorageCapacity) bool { return c.StorageClassName == class })
}

func capacities(s *inspect.Snapshot, wanted func(*storagev1.CSIStorageCapacity) bool) []Capacity {
	nodes, assumed := s.Nodes(), s.NodesAssumed()
	if assumed {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *corev1.Node) bool { return n.Name == string(inspect.PseudoNode) })
	}
	index := nodeIndex{nodes: nodes, byKey: map[string]map[string][]*corev1.Node{}}
	var out []Capacity
	for _, object := range s.StorageCapacities() {
		if !wanted(object) {
			continue
		}
		c := Capacity{Object: object, Class: object.StorageClassName, Total: object.Capacity, Largest: object.MaximumVolumeSize}
		if c.Topology, c.Err = metav1.LabelSelectorAsSelector(object.NodeTopology); c.Err != nil {
			c.Topology = labels.Nothing()
		}
		if !assumed || c.Topology.Empty() {
			c.Nodes = index.matching(c.Topology)
		}
		out = append(out, c)
	}
	return out
}

// nodeIndex finds the nodes that a selector matches. Local storage has an object for each node, so trying
// every node for every object would be quadratic in the size of a cluster.
type nodeIndex struct {
	nodes []*corev1.Node                       // sorted by name
	byKey map[string]map[string][]*corev1.Node // by label key and value, for the keys that were asked for
}

func (i *nodeIndex) matching(selector labels.Selector) []inspect.NodeName {
	var names []inspect.NodeName
	for _, node := range i.candidates(selector) {
		if selector.Matches(labels.Set(node.Labels)) {
			names = append(names, inspect.NodeName(node.Name))
		}
	}
	return names
}

// candidates returns nodes among which are all that match: those that have the only value that the
// selector allows for some label, or else all.
func (i *nodeIndex) candidates(selector labels.Selector) []*corev1.Node {
	requirements, selectable := selector.Requirements()
	if !selectable {
		return nil
	}
	for _, r := range requirements {
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			if r.Values().Len() == 1 {
				return i.with(r.Key(), r.Values().UnsortedList()[0])
			}
		}
	}
	return i.nodes
}

func (i *nodeIndex) with(key, value string) []*corev1.Node {
	if i.byKey[key] == nil {
		byValue := map[string][]*corev1.Node{}
		for _, node := range i.nodes {
			if v, found := node.Labels[key]; found {
				byValue[v] = append(byValue[v], node)
			}
		}
		i.byKey[key] = byValue
	}
	return i.byKey[key][value]
}
