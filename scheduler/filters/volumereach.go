package filters

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/storage"
)

// volumeReach says which volumes of a StorageClass which nodes can reach. Local storage has volumes for each
// node, so trying every volume on every node would be quadratic in the size of a cluster.
type volumeReach struct {
	anywhere []*corev1.PersistentVolume // without node affinity
	byLabel  map[string]map[string][]*reachedVolume
	rest     []*reachedVolume // with a node affinity that no single label decides
}

// reachedVolume is a volume with the nodes that reach it.
type reachedVolume struct {
	*corev1.PersistentVolume
	nodes *nodeaffinity.LazyErrorNodeSelector
}

// reachOf returns what is known of the volumes of a class.
func (v *storageIndex) reachOf(class string) *volumeReach {
	build, _ := v.reaches.LoadOrStore(class, sync.OnceValue(func() *volumeReach { return newVolumeReach(v.byName().ofClass[class]) }))
	return build.(func() *volumeReach)()
}

func newVolumeReach(volumes []*corev1.PersistentVolume) *volumeReach {
	out := &volumeReach{byLabel: map[string]map[string][]*reachedVolume{}}
	for _, pv := range volumes {
		required := requiredNodes(pv)
		if required == nil {
			out.anywhere = append(out.anywhere, pv)
			continue
		}
		v := &reachedVolume{pv, nodeaffinity.NewLazyErrorNodeSelector(required)}
		key, values := decidingLabel(required)
		if key == "" {
			out.rest = append(out.rest, v)
			continue
		}
		if out.byLabel[key] == nil {
			out.byLabel[key] = map[string][]*reachedVolume{}
		}
		for _, value := range values {
			out.byLabel[key][value] = append(out.byLabel[key][value], v)
		}
	}
	return out
}

// requiredNodes returns the selector of the nodes that reach a volume, or nil if all do.
func requiredNodes(pv *corev1.PersistentVolume) *corev1.NodeSelector {
	if pv.Spec.NodeAffinity == nil {
		return nil
	}
	return pv.Spec.NodeAffinity.Required
}

// decidingLabel returns a label that nodes need to match a selector, with the values of which they need one.
// The key is empty if there is no such label, or it is not easily seen.
func decidingLabel(selector *corev1.NodeSelector) (key string, values []string) {
	if len(selector.NodeSelectorTerms) != 1 {
		return "", nil
	}
	for _, e := range selector.NodeSelectorTerms[0].MatchExpressions {
		if e.Operator == corev1.NodeSelectorOpIn {
			values = slices.Clone(e.Values)
			slices.Sort(values)
			return e.Key, slices.Compact(values)
		}
	}
	return "", nil
}

// at returns the volumes with a node affinity that a node matches.
func (r *volumeReach) at(n *nodeInfo) []*corev1.PersistentVolume {
	var out []*corev1.PersistentVolume
	node := labelsOnly(n)
	add := func(volumes []*reachedVolume) {
		for _, v := range volumes {
			if reaches(v.nodes, node) {
				out = append(out, v.PersistentVolume)
			}
		}
	}
	for key, byValue := range r.byLabel {
		if value, ok := n.Labels[key]; ok {
			add(byValue[value])
		}
	}
	add(r.rest)
	return out // in no order: whoever picks volumes sorts them
}

// labelsOnly is a node as the node affinity of volumes sees it: without a name, which is why field selectors
// match all nodes.
func labelsOnly(n *nodeInfo) *corev1.Node {
	var node corev1.Node
	node.Labels = n.Labels
	return &node
}

// reaches reports whether a node matches a selector. One that is invalid matches none, as for the scheduler.
func reaches(selector *nodeaffinity.LazyErrorNodeSelector, node *corev1.Node) bool {
	ok, err := selector.Match(node)
	return ok && err == nil
}

// volumeOffer is the largest volume of a class that can be provisioned for a node.
type volumeOffer struct {
	storage.Capacity
	// size is that of the volume as the scheduler counts it, or nil if the driver says none.
	size *resource.Quantity
}

// bytesOf is a size as the scheduler counts it: before 1.38 it rounds up to whole bytes.
func bytesOf(s *inspect.Snapshot, size *resource.Quantity) *resource.Quantity {
	if s.Release().Modelled().Before(38, 0) {
		return resource.NewQuantity(size.Value(), size.Format)
	}
	return size
}

// offersOf returns the largest offer of a class for each node that a storage capacity of the class reaches.
func (v *volumeOffers) offersOf(class string) map[inspect.NodeName]*volumeOffer {
	build, _ := v.offers.LoadOrStore(class, sync.OnceValue(func() map[inspect.NodeName]*volumeOffer {
		out := map[inspect.NodeName]*volumeOffer{}
		for _, c := range storage.CapacitiesOf(v.snapshot, class) {
			offer := &volumeOffer{c, nil}
			if limit := c.Limit(); limit != nil {
				offer.size = bytesOf(v.snapshot, limit)
			}
			nodes := c.Nodes
			if c.Topology.Empty() && v.snapshot.NodesAssumed() {
				nodes = append(slices.Clip(nodes), inspect.PseudoNode)
			}
			for _, node := range nodes {
				if best := out[node]; best == nil || offer.size != nil && (best.size == nil || best.size.Cmp(*offer.size) < 0) {
					out[node] = offer
				}
			}
		}
		return out
	}))
	return build.(func() map[inspect.NodeName]*volumeOffer)()
}

// object names the CSIStorageCapacity.
func (o *volumeOffer) object() Object {
	return Object{Kind: "CSIStorageCapacity", Namespace: o.Object.Namespace, Name: o.Object.Name}
}
