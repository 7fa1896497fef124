package filters

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// BenchmarkVolumes asks about a pod with two claims on 5,000 nodes that have four pods with a volume each,
// four volumes of local storage, and a storage capacity.
func BenchmarkVolumes(b *testing.B) {
	for name, pod := range map[string]*corev1.Pod{"local": podWith("a", "b"), "capacity": podWith("c"), "bound": podWith("d"), "missing": podWith("e", "f")} {
		b.Run(name, func(b *testing.B) {
			c := manyVolumes(5000)
			x := NewIndex(c.snapshot(), nil)
			ask(x, pod)
			b.ResetTimer()
			for range b.N {
				ask(x, pod)
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		c := manyVolumes(5000)
		s := c.snapshot()
		b.ResetTimer()
		for range b.N {
			ask(NewIndex(s, nil), podWith("a", "c", "d"))
		}
	})
}

func ask(x *Index, pod *corev1.Pod) {
	p := x.Prepare(pod)
	for _, n := range x.nodes {
		p.On(inspect.NodeName(n.Name))
	}
}

func manyVolumes(nodes int) storageCase {
	objects := []metav1.Object{
		late("local", noProvisioner), late("fast", "csi"), driver("csi", true),
		pvc("a", "local"), pvc("b", "local"), pvc("c", "fast"), pvc("d", "fast", bound("v0-0")), pvc("e", "local", size("1Ti")), pvc("f", "local"),
	}
	for i := range nodes {
		name := fmt.Sprint("n", i)
		objects = append(objects, node(name), attaches(name, "csi", 20), room("r"+name, "fast", "100Gi", "20Gi", host, name))
		for k := range 4 {
			v := fmt.Sprintf("v%d-%d", i, k)
			objects = append(objects,
				pv(v, "fast", csi("csi", v), nodesIn(host, name), phase(corev1.VolumeBound)), pvc("of-"+v, "fast", bound(v)),
				on(name, "p"+v, podWith("of-"+v)),
				pv("l"+v, "local", nodesIn(host, name)))
		}
	}
	return liveSnapshot(nil, objects...)
}
