package filters

import (
	"iter"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Node is a node with the pods on it, as an index knows it. Two of them are equal only if the node and its
// pods are the same objects, so what was found out about one is true of the other. Indexes of which one was
// made like the other share most.
type Node struct{ info *nodeInfo }

// nodeMemo is what is found out about a node when it is first asked for.
type nodeMemo struct {
	filled sync.Once
	sum    Filled
	likes  sync.Once
	liking []*podInfo

	repels    sync.Once
	repellent []placed
}

// Len returns the number of nodes.
func (x *Index) Len() int { return len(x.nodes) }

// At returns a node by its number, in the order of the snapshot.
func (x *Index) At(i int) Node { return Node{x.at(i)} }

// Position returns the number of a node.
func (x *Index) Position(node inspect.NodeName) (int, bool) {
	i, ok := x.position[string(node)]
	return i, ok
}

// Object returns the node itself. It must not be written to.
func (n Node) Object() *corev1.Node { return n.info.Node }

// Allocatable returns how much of a resource the pods on the node can take together.
func (n Node) Allocatable(resource corev1.ResourceName) int64 { return n.info.allocatable.of(resource) }

// Used returns how much of a resource the pods on the node take.
func (n Node) Used(resource corev1.ResourceName) int64 { return n.info.used.of(resource) }

// Lists reports whether the node says how much it has of a resource, be it nothing.
func (n Node) Lists(resource corev1.ResourceName) bool { return n.info.lists(resource) }

// Pods are the pods on the node that have not ended, sorted by namespace and name.
func (n Node) Pods() iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for _, pod := range n.info.pods {
			if !yield(pod.Pod) {
				return
			}
		}
	}
}

// FilledOn returns what the pods on a node of the index count for together when nodes are compared.
func (x *Index) FilledOn(n Node) Filled {
	memo := n.info.memo
	memo.filled.Do(func() {
		var count *counter
		for _, pod := range n.info.pods {
			known := pod.filled.Load()
			if known == nil {
				if count == nil {
					count = newCounter(x.rules)
				}
				known = new(count.filled(pod.Pod))
				pod.filled.Store(known)
			}
			memo.sum.CPU += known.CPU
			memo.sum.Memory += known.Memory
		}
	})
	return memo.sum
}
