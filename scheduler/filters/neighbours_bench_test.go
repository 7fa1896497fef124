package filters

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// workloads puts 20,000 pods of 1,000 random workloads on the 5,000 nodes of largeCluster, in 40 namespaces.
// Half of the workloads keep their pods on nodes of their own, some in zones of their own, and a few keep
// others away.
func workloads() inspect.Objects {
	r := rand.New(rand.NewPCG(1, 2))
	o := largeCluster()
	for i, node := range o.Nodes {
		node.Labels["rack"] = fmt.Sprint("rack-", i%250)
	}
	for i, pod := range o.Pods {
		w := i % 1000
		pod.Namespace, pod.UID = fmt.Sprint("team-", w%40), "uid"
		pod.Labels = map[string]string{"app": fmt.Sprint("app-", w), "tier": fmt.Sprint("tier-", w%5), "pod-template-hash": fmt.Sprintf("%08x", w)}
		own := matchLabels("app=" + pod.Labels["app"])
		switch n := w % 20; {
		case n < 9:
			apartFrom("host", own)(pod)
		case n == 9:
			apartFrom("rack", own)(pod)
		case n == 10:
			apartFrom("host", matchLabels("tier=tier-3"), anywhere)(pod)
		case n < 15:
			spread("zone", 1, own)(pod)
		}
		pod.Spec.NodeName = o.Nodes[r.IntN(len(o.Nodes))].Name
	}
	return o
}

// BenchmarkNeighbours prepares a pod and asks about all 5,000 nodes.
func BenchmarkNeighbours(b *testing.B) {
	own := matchLabels("app=app-7")
	labels := " app=app-7 tier=tier-3 pod-template-hash=00000007"
	x := NewIndex(live(workloads()), nil)
	for name, pod := range map[string]*corev1.Pod{
		"plain":         podOf("team-7/new"),
		"plain, kept":   podOf("team-7/new" + labels),
		"anti-affinity": podOf("team-7/new"+labels, apartFrom("host", own)),
		"affinity":      podOf("team-7/new"+labels, nearTo("rack", own)),
		"spread":        podOf("team-7/new"+labels, spread("zone", 1, own), spread("host", 1, own)),
		// All pods of the cluster count.
		"any namespace": podOf("team-7/new"+labels, nearTo("rack", matchLabels("tier=tier-4"), anywhere), apartFrom("host", matchLabels("tier=tier-2"), anywhere)),
		"selected":      podOf("team-7/new"+labels, apartFrom("host", matchLabels("tier=tier-2"), inNamespacesWith(corev1.LabelMetadataName+"=team-2"))),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := x.Prepare(pod)
				for _, n := range x.nodes {
					p.On(inspect.NodeName(n.Name))
				}
			}
		})
	}
}

// BenchmarkNeighboursIndex has what is found out of all pods when the first pod is prepared.
func BenchmarkNeighboursIndex(b *testing.B) {
	pod := podOf("team-7/new app=app-7 tier=tier-3")
	s := live(workloads())
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			NewIndex(s, nil).Prepare(pod)
		}
	})
	before := NewIndex(s, nil)
	before.Prepare(pod)
	after := s.With(func(o *inspect.Objects) { o.Pods = o.Pods[1:] })
	b.Run("like", func(b *testing.B) {
		for b.Loop() {
			NewIndex(after, before).Prepare(pod)
		}
	})
}

// BenchmarkNominated asks about a node on which room was made for another pod.
func BenchmarkNominated(b *testing.B) {
	o := workloads()
	waiting := podOf("team-7/waits app=app-7", nominatedTo(o.Nodes[5].Name))
	o.Pods = append(o.Pods, waiting)
	x := NewIndex(live(o), nil)
	p := x.Prepare(podOf("team-7/new app=app-7", spread("host", 1, matchLabels("app=app-7"))))
	for b.Loop() {
		p.On(inspect.NodeName(o.Nodes[5].Name))
	}
}
