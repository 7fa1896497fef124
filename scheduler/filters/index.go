package filters

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Index is what the filters know of the nodes of a snapshot. It is built once and may be used by several
// goroutines at once.
type Index struct {
	snapshot *inspect.Snapshot
	rules    requestRules
	nodes    []*nodeInfo    // in the order of the snapshot
	position map[string]int // of a node in nodes, by name
	pods     []*podInfo     // of each pod of the snapshot, in its order; nil for those that neither run nor wait for room
	// nominated are the pods that wait for room on a node that the scheduler has made for them, by the name
	// of the node.
	nominated map[string][]*podInfo
	// changed are nodes with other pods than in nodes, by their position there, if the index was made from
	// another one that shares these.
	changed map[int]*nodeInfo
	// gone are pods of the snapshot that are not in the index.
	gone       []inspect.PodRef
	storage    *volumeIndex
	neighbours *neighbours
}

// nodeInfo is a node with the pods on it.
type nodeInfo struct {
	*corev1.Node
	pods        []*podInfo // sorted by namespace and name
	allocatable amounts
	allowed     int64 // number of pods
	listed      listed
	used        amounts // by the pods
	breaks      bool    // one of the pods may break
	memo        *nodeMemo
}

// podInfo is a pod that runs on a node, or is about to.
type podInfo struct {
	*corev1.Pod
	// requests are what the pod takes of its node.
	requests amounts
	ports    []corev1.ContainerPort // of the node, as hostPorts
	repels   knownTerms
	breaks   bool // as mayBreak
	likes    knownPreferences
	filled   knownFilled
}

// NewIndex builds the index of a snapshot. What another index knows of pods and nodes that are the same
// pointers in both is taken over; it may be nil, and the answers do not depend on it.
func NewIndex(s *inspect.Snapshot, like *Index) *Index {
	x := &Index{snapshot: s, rules: requestRulesOf(s), nominated: map[string][]*podInfo{}, storage: newVolumeIndex(s, like)}
	if like != nil && like.rules != x.rules {
		like = nil
	}
	count := newCounter(x.rules)
	nodes := x.indexNodes(like, count)
	gone, come := x.indexPods(like, count)
	if nodes.few() && len(gone)+len(come) <= maxReplaced {
		moved := x.placeOn(like, nodes)
		x.replace(like.nominated, gone, come)
		x.neighbours = newNeighbours()
		if nodes.kept == len(like.nodes) && !moved {
			x.neighbours = like.neighbours.next(gone, come)
		}
	} else {
		x.place()
		x.neighbours = newNeighbours()
	}
	return x
}

// nodesLike is how the nodes of an index differ from those of another one.
type nodesLike struct {
	kept int // that are the same in both
	// other are the indices of nodes that are not.
	other []int
}

// few reports whether there is another index, with all but a few of the nodes.
func (n *nodesLike) few() bool { return n.kept > 0 && len(n.other) <= maxOther }

// maxOther is the number of nodes up to which it pays to look for the pods on nodes that have changed.
const maxOther = 8

// placeOn puts on nodes that another index does not know, or knew otherwise, the pods that are there
// according to that index. It reports whether there are any.
func (x *Index) placeOn(like *Index, nodes nodesLike) bool {
	moved := false
	for _, i := range nodes.other {
		var pods []*podInfo
		if known := like.node(x.nodes[i].Name); known != nil {
			pods = known.pods
		} else {
			pods = slices.DeleteFunc(slices.Clone(like.pods), func(pod *podInfo) bool { return pod == nil || pod.Spec.NodeName != x.nodes[i].Name })
		}
		x.nodes[i] = x.nodes[i].with(pods)
		moved = moved || len(pods) > 0
	}
	return moved
}

// maxReplaced is the number of pods up to which it pays to replace one by one those that have changed.
const maxReplaced = 1000

// place puts all pods on their nodes.
func (x *Index) place() {
	on := make([][]*podInfo, len(x.nodes))
	for _, pod := range x.pods {
		switch {
		case pod == nil:
		case pod.Spec.NodeName != "":
			if i, ok := x.position[pod.Spec.NodeName]; ok {
				on[i] = append(on[i], pod)
			}
		default:
			name := pod.Status.NominatedNodeName
			x.nominated[name] = append(x.nominated[name], pod)
		}
	}
	for i := range on {
		x.nodes[i] = x.nodes[i].with(on[i])
	}
}

// replace puts pods on the nodes in place of those that are gone. nominated are those that waited for room
// before.
func (x *Index) replace(nominated map[string][]*podInfo, gone, come []*podInfo) {
	x.nominated = maps.Clone(nominated)
	for _, pod := range gone {
		x.change(pod, func(pods []*podInfo) []*podInfo {
			if len(pods) == 1 {
				return nil
			}
			return slices.DeleteFunc(slices.Clone(pods), func(p *podInfo) bool { return p == pod })
		})
	}
	for _, pod := range come {
		x.change(pod, func(pods []*podInfo) []*podInfo {
			at, _ := slices.BinarySearchFunc(pods, pod, func(a, b *podInfo) int { return byName(a.Pod, b.Pod) })
			return slices.Insert(slices.Clip(pods), at, pod)
		})
	}
}

// change changes the pods that are where a pod is: on a node, or waiting for room there.
func (x *Index) change(pod *podInfo, to func([]*podInfo) []*podInfo) {
	if pod.Spec.NodeName != "" {
		if i, ok := x.position[pod.Spec.NodeName]; ok {
			x.set(i, x.at(i).with(to(x.at(i).pods)))
		}
		return
	}
	name := pod.Status.NominatedNodeName
	if x.nominated[name] = to(x.nominated[name]); len(x.nominated[name]) == 0 {
		delete(x.nominated, name)
	}
}

// indexNodes makes the nodes. Those that another index knows have the pods that they had there, others have
// none.
func (x *Index) indexNodes(like *Index, count *counter) nodesLike {
	nodes := x.snapshot.Nodes()
	x.nodes = make([]*nodeInfo, len(nodes))
	if like != nil && slices.Equal(nodes, like.snapshot.Nodes()) {
		x.position = like.position
		copy(x.nodes, like.nodes)
		return nodesLike{kept: len(nodes)}
	}
	var out nodesLike
	x.position = make(map[string]int, len(nodes))
	for i, node := range nodes {
		x.position[node.Name] = i
		if known := like.node(node.Name); known != nil && known.Node == node {
			x.nodes[i] = known
			out.kept++
		} else {
			x.nodes[i] = newNodeInfo(node, count)
			out.other = append(out.other, i)
		}
	}
	return out
}

func newNodeInfo(node *corev1.Node, count *counter) *nodeInfo {
	list := allocatableOf(node)
	return &nodeInfo{Node: node, allocatable: sumOf(list).amounts(count.known), allowed: list.Pods().Value(), listed: listedIn(list), memo: &nodeMemo{}}
}

// indexPods makes what is known of pods, and returns which pods of another index are gone and which have
// come, in their order.
func (x *Index) indexPods(like *Index, count *counter) (gone, come []*podInfo) {
	pods := x.snapshot.Objects().Pods
	x.pods = make([]*podInfo, len(pods))
	var before []*corev1.Pod
	if like != nil {
		before = like.snapshot.Objects().Pods
	}
	at := 0
	skip := func() {
		if like.pods[at] != nil {
			gone = append(gone, like.pods[at])
		}
		at++
	}
	for i, pod := range pods {
		for at < len(before) && before[at] != pod && byName(before[at], pod) < 0 {
			skip()
		}
		switch {
		case at < len(before) && before[at] == pod:
			x.pods[i] = like.pods[at]
			at++
		case !ended(pod) && pod.Spec.NodeName+pod.Status.NominatedNodeName != "":
			x.pods[i] = newPodInfo(pod, count)
			come = append(come, x.pods[i])
		}
	}
	for at < len(before) {
		skip()
	}
	return gone, come
}

func newPodInfo(pod *corev1.Pod, count *counter) *podInfo {
	return &podInfo{Pod: pod, requests: count.taken(pod), ports: hostPorts(pod), breaks: mayBreak(pod)}
}

// compareRef compares a pod with the name of one.
func compareRef(pod *corev1.Pod, ref inspect.PodRef) int {
	return cmp.Or(strings.Compare(pod.Namespace, ref.Namespace), strings.Compare(pod.Name, ref.Name))
}

func byName(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// ended reports whether a pod no longer takes anything.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Snapshot returns the snapshot of the index.
func (x *Index) Snapshot() *inspect.Snapshot { return x.snapshot }

// node returns what is known of a node, or nil.
func (x *Index) node(name string) *nodeInfo {
	if x == nil {
		return nil
	}
	if i, ok := x.position[name]; ok {
		return x.at(i)
	}
	return nil
}

// at returns what is known of a node, by its position.
func (x *Index) at(i int) *nodeInfo {
	if n, ok := x.changed[i]; ok {
		return n
	}
	return x.nodes[i]
}

// cloneChanged returns a copy of what is changed, for an index that shares the nodes.
func (x *Index) cloneChanged() map[int]*nodeInfo {
	if x.changed == nil {
		return map[int]*nodeInfo{}
	}
	return maps.Clone(x.changed)
}

func (x *Index) set(i int, n *nodeInfo) {
	if x.changed != nil {
		x.changed[i] = n
	} else {
		x.nodes[i] = n
	}
}

// with is the node with these pods and no others. They are not written to.
func (n *nodeInfo) with(pods []*podInfo) *nodeInfo {
	if slices.Equal(n.pods, pods) {
		return n
	}
	out := *n
	out.pods, out.used, out.breaks, out.memo = pods, nil, false, &nodeMemo{}
	for _, pod := range pods {
		out.breaks = out.breaks || pod.breaks
		out.used.add(pod.requests)
	}
	return &out
}

// with is an index with more pods on a node.
func (x *Index) with(n *nodeInfo, pods []*podInfo) *Index {
	out := *x
	out.changed = x.cloneChanged()
	out.set(x.position[n.Name], n.with(append(slices.Clip(n.pods), pods...)))
	out.neighbours = x.neighbours.with(n, pods)
	return &out
}
