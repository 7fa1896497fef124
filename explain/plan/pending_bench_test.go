package plan

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// crowdedFarm is a cluster with three pods on each node, which leave two of its eight GPUs, while other pods
// wait: they are of twenty namespaces, and ask for one GPU or more, up to so many.
func crowdedFarm(nodes, waiting, most int) *inspect.Objects {
	o := explaintest.Farm(nodes)
	o.Templates = append(o.Templates, explaintest.Template("two", 2, ""))
	for i, node := range o.Nodes {
		for k := range 3 {
			pod := explaintest.AddRunning(o, fmt.Sprintf("p-%05d-%d", i, k), node.Name, "ReplicaSet", 2*k, 2*k+1)
			pod.Namespace = fmt.Sprintf("team-%02d", i%20)
			o.Claims[len(o.Claims)-1].Namespace = pod.Namespace
		}
	}
	for t := range 20 {
		for n := range 12 {
			asks := explaintest.Template(fmt.Sprintf("gpus-%d", n+1), int64(n+1), "")
			asks.Namespace = fmt.Sprintf("team-%02d", t)
			o.Templates = append(o.Templates, asks)
		}
	}
	for i := range waiting {
		pod := explaintest.Worker(fmt.Sprintf("w-%05d", i), fmt.Sprintf("gpus-%d", 1+i%most))
		pod.Namespace = fmt.Sprintf("team-%02d", i%20)
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "owner", Controller: ptr.To(true)}}
		o.Pods = append(o.Pods, pod)
	}
	return o
}

// BenchmarkPending places all that waits in a cluster of 5,000 nodes.
func BenchmarkPending(b *testing.B) {
	for _, size := range []struct{ waiting, most, placed int }{{100, 12, 18}, {1000, 12, 168}, {1000, 2, 1000}} {
		b.Run(fmt.Sprintf("%d waiting, %d of which find room", size.waiting, size.placed), func(b *testing.B) {
			o := crowdedFarm(5000, size.waiting, size.most)
			for b.Loop() {
				b.StopTimer()
				c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
				pods, _ := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
				b.StartTimer()
				p, err := Place(b.Context(), c, pods, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if len(p.Replay.Placed) != size.placed || len(p.Replay.Pending) != size.waiting-size.placed {
					b.Fatalf("%d placed, %d pending", len(p.Replay.Placed), len(p.Replay.Pending))
				}
			}
		})
	}
}
