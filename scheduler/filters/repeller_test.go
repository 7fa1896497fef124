package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestRepellersOfMorePods: an index with more pods on a node may be asked first, and the index without them
// that it was made of does not know them.
func TestRepellersOfMorePods(t *testing.T) {
	web := matchLabels("app=web")
	x := NewIndex(snapshotOf(inspect.Objects{
		Nodes: []*corev1.Node{testNode("n1", "cpu", "8"), testNode("n2", "cpu", "8")},
		Pods:  []*corev1.Pod{podOf("there@n1", apartFrom("zone", web))},
	}), nil)
	come := newPodInfo(podOf("come", apartFrom("zone", web)), newCounter(x.rules))
	with := x.with(x.node("n2"), []*podInfo{come})
	for _, of := range []struct {
		x    *Index
		pods int
	}{{with, 2}, {x, 1}} {
		n := 0
		for _, r := range of.x.neighbours.repelling(of.x) {
			n += len(r.pods)
		}
		if n != of.pods {
			t.Errorf("%d pods have anti-affinity, want %d", n, of.pods)
		}
	}
}
