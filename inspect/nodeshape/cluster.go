package nodeshape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Fresh makes of the objects of a cluster those of a node that is like another and was just added, under the name of the other, with
// what comes with it.
type Fresh func(o *inspect.Objects, like string) *inspect.Objects

// OfCluster returns the kinds of nodes that there are: those first of which there are most. Nodes are of one kind if a pod that is
// asked about can see no difference: mentioned says of a label or an attribute whether any may look at it. Of labels and attributes
// that are different on all nodes and devices, as serial numbers are, only these count.
func OfCluster(s *inspect.Snapshot, mentioned func(name string) bool, fresh Fresh) []Shape {
	k := &kinds{s: s, ids: idLabels(s.Nodes(), mentioned), idAttributes: idAttributes(s.Objects().Slices, mentioned), slices: map[string][]*resourcev1.ResourceSlice{}}
	for _, slice := range s.Objects().Slices {
		if slice.Spec.NodeName != nil {
			k.slices[*slice.Spec.NodeName] = append(k.slices[*slice.Spec.NodeName], slice)
		}
	}
	counts, index := []int(nil), map[string]int{}
	var out []Shape
	for _, node := range s.Nodes() {
		key := k.of(node)
		at, known := index[key]
		if !known {
			at = len(out)
			index[key] = at
			out, counts = append(out, Shape{Name: node.Name, Source: Cluster, Node: node}), append(counts, 0)
		}
		counts[at]++
	}
	for i := range out {
		alone := fresh(s.Objects(), out[i].Node.Name)
		out[i].Node, out[i].Company = alone.Nodes[0], *alone
		out[i].Company.Nodes = nil
		out[i].From = fmt.Sprint(counts[i])
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	sorted := make([]Shape, len(out))
	for i, at := range order {
		sorted[i] = out[at]
	}
	return sorted
}

// kinds tells nodes apart.
type kinds struct {
	s            *inspect.Snapshot
	ids          map[string]bool // labels that only name the node
	idAttributes map[string]bool // attributes that only name the device
	slices       map[string][]*resourcev1.ResourceSlice
}

// of is the same for nodes of one kind.
func (k *kinds) of(node *corev1.Node) string {
	kind := struct {
		Labels      map[string]string
		Taints      []corev1.Taint
		Allocatable corev1.ResourceList
		Features    []string
		Drivers     []string
		Devices     []resourcev1.ResourceSliceSpec
	}{Labels: map[string]string{}, Allocatable: node.Status.Allocatable, Features: node.Status.DeclaredFeatures}
	for key, value := range node.Labels {
		if !k.ids[key] {
			kind.Labels[key] = value
		}
	}
	for _, taint := range node.Spec.Taints {
		if !strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			kind.Taints = append(kind.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		}
	}
	at, found := slices.BinarySearchFunc(k.s.Objects().CSINodes, node.Name, func(n *storagev1.CSINode, name string) int { return cmp.Compare(n.Name, name) })
	if found {
		for _, d := range k.s.Objects().CSINodes[at].Spec.Drivers {
			limit := int32(-1)
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				limit = *d.Allocatable.Count
			}
			kind.Drivers = append(kind.Drivers, fmt.Sprint(d.Name, " ", limit))
		}
	}
	for _, slice := range k.slices[node.Name] {
		kind.Devices = append(kind.Devices, k.plain(slice))
	}
	text, err := json.Marshal(kind)
	if err != nil {
		return node.Name // of a kind of its own
	}
	return string(text)
}

// plain is what a slice says that does not only name the node, the pool or a device.
func (k *kinds) plain(slice *resourcev1.ResourceSlice) resourcev1.ResourceSliceSpec {
	spec := *slice.Spec.DeepCopy()
	spec.NodeName, spec.Pool.Name, spec.Pool.Generation = nil, "", 0
	for i := range spec.Devices {
		for t := range spec.Devices[i].Taints {
			spec.Devices[i].Taints[t].TimeAdded = nil
		}
		for name := range spec.Devices[i].Attributes {
			if k.idAttributes[spec.Driver+"/"+string(name)] {
				delete(spec.Devices[i].Attributes, name)
			}
		}
	}
	return spec
}

// idLabels are the labels that are different on all of three or more nodes.
func idLabels(nodes []*corev1.Node, mentioned func(string) bool) map[string]bool {
	seen := map[string]map[string]bool{}
	count := map[string]int{}
	for _, node := range nodes {
		for key, value := range node.Labels {
			if seen[key] == nil {
				seen[key] = map[string]bool{}
			}
			seen[key][value] = true
			count[key]++
		}
	}
	out := map[string]bool{corev1.LabelHostname: true}
	for key, values := range seen {
		if len(values) == count[key] && count[key] > 2 && !mentioned(key) {
			out[key] = true
		}
	}
	return out
}

// idAttributes are the attributes, by driver and name, that are different on all of three or more devices.
func idAttributes(all []*resourcev1.ResourceSlice, mentioned func(string) bool) map[string]bool {
	seen := map[string]map[string]bool{}
	count := map[string]int{}
	for _, slice := range all {
		for i := range slice.Spec.Devices {
			for name, value := range slice.Spec.Devices[i].Attributes {
				text, err := json.Marshal(value)
				if err != nil {
					continue
				}
				key := slice.Spec.Driver + "/" + string(name)
				if seen[key] == nil {
					seen[key] = map[string]bool{}
				}
				seen[key][string(text)] = true
				count[key]++
			}
		}
	}
	out := map[string]bool{}
	for key, values := range seen {
		name := key[strings.LastIndexByte(key, '/')+1:]
		if len(values) == count[key] && count[key] > 2 && !mentioned(name) {
			out[key] = true
		}
	}
	return out
}
