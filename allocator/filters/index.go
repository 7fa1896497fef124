package filters

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Index is what the filters know of the nodes of a snapshot. It is built once and may be used by several goroutines at once.
type Index struct {
	snapshot *inspect.Snapshot
	nodes    []*nodeInfo // in the order of the snapshot
	byName   map[string]*nodeInfo
	// nominated are the pods that wait for room on a node that the scheduler has made for them, by the name of the node.
	nominated map[string][]*podInfo
}

// nodeInfo is a node with the pods on it.
type nodeInfo struct {
	*corev1.Node
	pods []*podInfo // sorted by namespace and name
}

// podInfo is a pod that runs on a node, or is about to.
type podInfo struct {
	*corev1.Pod
}

// NewIndex builds the index of a snapshot. What another index knows of pods and nodes that are the same pointers in both
// is taken over; it may be nil, and the answers do not depend on it.
func NewIndex(s *inspect.Snapshot, like *Index) *Index {
	x := &Index{snapshot: s, byName: map[string]*nodeInfo{}, nominated: map[string][]*podInfo{}}
	for _, node := range s.Nodes() {
		n := &nodeInfo{Node: node}
		x.nodes, x.byName[node.Name] = append(x.nodes, n), n
	}
	for _, pod := range s.Objects().Pods {
		switch {
		case ended(pod):
		case pod.Spec.NodeName != "":
			if n := x.byName[pod.Spec.NodeName]; n != nil {
				n.pods = append(n.pods, newPodInfo(pod))
			}
		case pod.Status.NominatedNodeName != "":
			on := pod.Status.NominatedNodeName
			x.nominated[on] = append(x.nominated[on], newPodInfo(pod))
		}
	}
	return x
}

func newPodInfo(pod *corev1.Pod) *podInfo { return &podInfo{Pod: pod} }

// ended reports whether a pod no longer takes anything.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Snapshot returns the snapshot of the index.
func (x *Index) Snapshot() *inspect.Snapshot { return x.snapshot }

// with is an index with more pods on a node.
func (x *Index) with(n *nodeInfo, pods []*podInfo) *Index {
	out := *x
	changed := &nodeInfo{Node: n.Node, pods: append(slices.Clip(n.pods), pods...)}
	out.nodes, out.byName = slices.Clone(x.nodes), map[string]*nodeInfo{}
	for i, other := range out.nodes {
		if other == n {
			out.nodes[i] = changed
		}
		out.byName[other.Name] = out.nodes[i]
	}
	return &out
}
