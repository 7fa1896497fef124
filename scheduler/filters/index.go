package filters

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	// elsewhere are pods on nodes that are not in nodes, and nominated those that wait for room on a node
	// that the scheduler has made for them, by the name of the node, and sorted by namespace and name.
	elsewhere, nominated map[string][]*podInfo
	// list is shared by the indexes that are made of this one for the same snapshot.
	list *podList
	// changed are nodes with other pods than in nodes, by their position there, if the index was made from
	// another one that shares these.
	changed map[int]*nodeInfo
	// gone are pods of the snapshot that are not in the index.
	gone       []*corev1.Pod
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
	x := &Index{snapshot: s, rules: requestRulesOf(s), storage: newVolumeIndex(s, like)}
	x.list = &podList{of: x}
	if like != nil && like.rules != x.rules {
		like = nil
	}
	count := newCounter(x.rules)
	nodes := x.indexNodes(like, count)
	var gone, come []*corev1.Pod
	if nodes.few() {
		gone, come = s.ChangedPods(like.snapshot)
	}
	if !nodes.few() || len(gone)+len(come) > maxReplaced {
		x.place(like, count)
		x.neighbours = newNeighbours()
		return x
	}
	moved := x.placeOn(like, nodes)
	defer x.list.follow(like.list)
	left, joined := like.infosOf(gone), count.infosOf(come)
	x.replace(left, joined)
	x.neighbours = newNeighbours()
	if nodes.kept == len(like.nodes) && !moved && s.NodesAssumed() == like.snapshot.NodesAssumed() {
		x.neighbours = like.neighbours.next(left, joined)
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

// placeOn puts all pods where they are in another index, of which the nodes differ in few. It reports whether
// any is on a node that the other does not know, or knew otherwise.
func (x *Index) placeOn(like *Index, nodes nodesLike) bool {
	x.nominated, x.elsewhere = maps.Clone(like.nominated), like.elsewhere
	if len(nodes.other) == 0 && nodes.kept == len(like.nodes) {
		return false
	}
	x.elsewhere = maps.Clone(like.elsewhere)
	for _, n := range like.nodes {
		if _, ok := x.position[n.Name]; !ok && len(n.pods) > 0 {
			x.elsewhere[n.Name] = n.pods
		}
	}
	moved := false
	for _, i := range nodes.other {
		name := x.nodes[i].Name
		pods := x.elsewhere[name]
		if known := like.node(name); known != nil {
			pods = known.pods
		}
		delete(x.elsewhere, name)
		x.nodes[i] = x.nodes[i].with(pods)
		moved = moved || len(pods) > 0
	}
	return moved
}

// maxReplaced is the number of pods up to which it pays to replace one by one those that have changed.
const maxReplaced = 1000

// place puts all pods on their nodes. What another index knows of them is taken over.
func (x *Index) place(like *Index, count *counter) {
	known := map[*corev1.Pod]*podInfo{}
	like.each(func(pod *podInfo, _ string) { known[pod.Pod] = pod })
	on := make([][]*podInfo, len(x.nodes))
	x.elsewhere, x.nominated = map[string][]*podInfo{}, map[string][]*podInfo{}
	for _, pod := range x.snapshot.Objects().Pods {
		if !takesRoom(pod) {
			continue
		}
		info := known[pod]
		if info == nil {
			info = newPodInfo(pod, count)
		}
		name := pod.Spec.NodeName
		if i, ok := x.position[name]; ok && name != "" {
			on[i] = append(on[i], info)
		} else if name != "" {
			x.elsewhere[name] = append(x.elsewhere[name], info)
		} else {
			name = pod.Status.NominatedNodeName
			x.nominated[name] = append(x.nominated[name], info)
		}
	}
	for i := range on {
		x.nodes[i] = x.nodes[i].with(on[i])
	}
}

// takesRoom reports whether a pod runs or waits for room on a node.
func takesRoom(pod *corev1.Pod) bool {
	return !ended(pod) && pod.Spec.NodeName+pod.Status.NominatedNodeName != ""
}

// each calls a function with each pod that runs, and the name of its node, and each that waits for room,
// which is on none. Those on nodes come in the order of the nodes, others after them in any order.
func (x *Index) each(yield func(pod *podInfo, node string)) {
	if x == nil {
		return
	}
	for i := range x.nodes {
		n := x.at(i)
		for _, pod := range n.pods {
			yield(pod, n.Name)
		}
	}
	for node, pods := range x.elsewhere {
		for _, pod := range pods {
			yield(pod, node)
		}
	}
	for _, pods := range x.nominated {
		for _, pod := range pods {
			yield(pod, "")
		}
	}
}

// info returns what is known of a pod, or nil if it neither runs nor waits for room.
func (x *Index) info(pod *corev1.Pod) *podInfo {
	pods := x.nominated[pod.Status.NominatedNodeName]
	if name := pod.Spec.NodeName; name != "" {
		if pods = x.elsewhere[name]; x.node(name) != nil {
			pods = x.node(name).pods
		}
	}
	if at, ok := slices.BinarySearchFunc(pods, pod, func(a *podInfo, b *corev1.Pod) int { return byName(a.Pod, b) }); ok && pods[at].Pod == pod {
		return pods[at]
	}
	return nil
}

// podList is what is known of each pod of the snapshot of an index, in that order, or nil. Only questions
// about pods on other nodes need it, so it is made when it is first asked for.
type podList struct {
	of   *Index
	once sync.Once
	made atomic.Bool
	pods []*podInfo
}

func (l *podList) get() []*podInfo {
	l.once.Do(func() { l.make(nil, nil) })
	return l.pods
}

// follow makes the list of that of another index, if that was made: then the questions are of that kind.
func (l *podList) follow(like *podList) {
	if like.made.Load() {
		l.once.Do(func() { l.make(like.of.snapshot.Objects().Pods, like.pods) })
	}
}

// make takes over what is known of pods that are the same pointers in another list.
func (l *podList) make(before []*corev1.Pod, known []*podInfo) {
	pods := l.of.snapshot.Objects().Pods
	l.pods = make([]*podInfo, len(pods))
	at := 0
	for i, pod := range pods {
		for at < len(before) && before[at] != pod && byName(before[at], pod) < 0 {
			at++
		}
		if at < len(before) && before[at] == pod {
			l.pods[i] = known[at]
			at++
		} else {
			l.pods[i] = l.of.info(pod)
		}
	}
	l.made.Store(true)
}

func (x *Index) infosOf(pods []*corev1.Pod) []*podInfo {
	var out []*podInfo
	for _, pod := range pods {
		if info := x.info(pod); info != nil {
			out = append(out, info)
		}
	}
	return out
}

func (c *counter) infosOf(pods []*corev1.Pod) []*podInfo {
	var out []*podInfo
	for _, pod := range pods {
		if takesRoom(pod) {
			out = append(out, newPodInfo(pod, c))
		}
	}
	return out
}

// replace puts pods where they are in place of those that are gone. What x shares with another index is not
// written to, but for the map of nominated pods.
func (x *Index) replace(gone, come []*podInfo) {
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
	name := pod.Spec.NodeName
	if i, ok := x.position[name]; ok && name != "" {
		x.set(i, x.at(i).with(to(x.at(i).pods)))
		return
	}
	at := x.nominated
	if name != "" {
		x.elsewhere = maps.Clone(x.elsewhere)
		at = x.elsewhere
	} else {
		name = pod.Status.NominatedNodeName
	}
	if at[name] = to(at[name]); len(at[name]) == 0 {
		delete(at, name)
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

func newPodInfo(pod *corev1.Pod, count *counter) *podInfo {
	return &podInfo{Pod: pod, requests: count.taken(pod), ports: hostPorts(pod), breaks: mayBreak(pod)}
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
	all := append(slices.Clip(n.pods), pods...)
	slices.SortStableFunc(all, func(a, b *podInfo) int { return byName(a.Pod, b.Pod) })
	out.set(x.position[n.Name], n.with(all))
	out.neighbours = x.neighbours.with(n, pods)
	return &out
}
