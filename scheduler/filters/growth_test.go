package filters

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestGrowth doubles what is there of one thing after the other. Twice as much memory is allocated then, or
// little more: what is quadratic would take four times as much. Memory is counted because it is the same on
// every machine.
func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		size  int
		build func(n int) (*inspect.Snapshot, *corev1.Pod)
	}{
		// Each pod has terms that no other pod has.
		"terms of pods": {1000, func(n int) (*inspect.Snapshot, *corev1.Pod) {
			o := inspect.Objects{Nodes: nodesOf("a zone=a host=a, b zone=b host=b")}
			for i := range n {
				own := matchLabels(fmt.Sprint("app=app-", i))
				o.Pods = append(o.Pods, podOf(fmt.Sprintf("p%05d@a app=app-%d", i, i), apartFrom("zone", own), apartFrom("host", matchLabels("tier=web"))))
			}
			return live(o), podOf("w tier=web app=app-7")
		}},
		// Each node is a domain, and each domain refuses.
		"domains": {1000, func(n int) (*inspect.Snapshot, *corev1.Pod) {
			var o inspect.Objects
			web := matchLabels("app=web")
			for i := range n {
				name := fmt.Sprintf("n%05d", i)
				o.Nodes = append(o.Nodes, nodeOf(fmt.Sprintf("%s zone=%[1]s host=%[1]s", name)))
				o.Pods = append(o.Pods, podOf(fmt.Sprintf("p%05d@%s app=web", i, name), apartFrom("host", web)))
			}
			return live(o), podOf("w app=web", apartFrom("zone", web), nearTo("host", matchLabels("app=db")), spread("host", 1, web))
		}},
		"volumes of the pod": {125, func(n int) (*inspect.Snapshot, *corev1.Pod) {
			var names []string
			objects := []metav1.Object{late("local", noProvisioner), late("fast", "csi"), driver("csi", true), node("a"), attaches("a", "csi", 500)}
			for i := range n {
				bound, waits := fmt.Sprintf("b%05d", i), fmt.Sprintf("w%05d", i)
				names = append(names, bound, waits)
				objects = append(objects, csiVolume(bound, "csi")...)
				objects = append(objects, pvc(waits, "local"), pv("l"+waits, "local"))
			}
			return liveSnapshot(nil, objects...).snapshot(), podWith(names...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(n int) float64 {
				s, pod := c.build(n)
				return testing.AllocsPerRun(1, func() {
					x := NewIndex(s, nil)
					p := x.Prepare(pod)
					for _, n := range x.nodes {
						p.On(inspect.NodeName(n.Name))
					}
				})
			}
			if one, two := allocated(c.size), allocated(2*c.size); two > 2.5*one {
				t.Errorf("%v allocations with %d, %v with twice as many", one, c.size, two)
			}
		})
	}
}
