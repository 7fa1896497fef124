package filters

import (
	"slices"
	"sort"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// neighbours is what all questions to an index share that look at pods on other nodes. It is found out when
// it is first needed: most pods have no rules about others.
type neighbours struct {
	// base is that of an index with fewer pods, or nil; added are the pods that the other has not. Where
	// others have ended, base is nil, and added are all that the snapshot does not have on their nodes.
	base  *neighbours
	added []placed

	repellers *repellers // shared by indexes in which they are the same
	groups    *groups    // shared by indexes of a snapshot
}

// groups are the pods of each pod group that have not ended, in a snapshot.
type groups struct {
	sync.Once
	members map[groupName][]*corev1.Pod
}

func newNeighbours() *neighbours { return &neighbours{repellers: &repellers{}, groups: &groups{}} }

// without is what an index shares with this one, of the same snapshot, that has fewer pods.
func (n *neighbours) without(gone []*podInfo) *neighbours {
	out := n.next(gone, nil)
	out.groups = n.groups
	for m := n; m != nil; m = m.base {
		for _, p := range m.added {
			if !slices.Contains(gone, p.pod) {
				out.added = append(out.added, p)
			}
		}
	}
	return out
}

// next is what an index shares with this one that has the same nodes, with some pods gone and others in their
// place.
func (n *neighbours) next(gone, come []*podInfo) *neighbours {
	out := newNeighbours()
	repels := func(pod *podInfo) bool { return len(antiAffinityTerms(pod.Pod)) > 0 }
	if !slices.ContainsFunc(gone, repels) && !slices.ContainsFunc(come, repels) {
		out.repellers = n.repellers
	}
	return out
}

// placed is a pod on a node. The node is nil if it is not known.
type placed struct {
	pod  *podInfo
	node *corev1.Node
}

// with is what an index shares that has more pods on a node.
func (n *neighbours) with(node *nodeInfo, pods []*podInfo) *neighbours {
	out := newNeighbours()
	out.base, out.groups = n, n.groups
	for _, pod := range pods {
		out.added = append(out.added, placed{pod, node.Node})
	}
	return out
}

// eachPlaced calls a function with each pod on a node, and the name of the node, in all namespaces that are
// wanted, and with other pods, whose node is not known. It asks whether a namespace is wanted before it comes
// to the pods there, which may be several times.
func (x *Index) eachPlaced(wanted func(namespace string) bool, yield func(pod *podInfo, node string)) {
	pods, known := x.snapshot.Objects().Pods, x.list.get()
	for i := 0; i < len(pods); {
		namespace := pods[i].Namespace
		end := i + sort.Search(len(pods)-i, func(k int) bool { return pods[i+k].Namespace != namespace })
		if wanted(namespace) {
			for _, pod := range known[i:end] {
				if pod != nil && !x.isGone(pod.Pod) {
					yield(pod, pod.Spec.NodeName)
				}
			}
		}
		i = end
	}
	for n := x.neighbours; n != nil; n = n.base {
		for _, p := range n.added {
			if wanted(p.pod.Namespace) {
				yield(p.pod, p.node.Name)
			}
		}
	}
}
