package filters

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// generator makes a random problem. Each aspect of it is a pair of methods in a file of its own: one for the cluster, one
// for a pod.
type generator struct {
	*rand.Rand
	*problem
}

// podsAsked is how many pods are asked about in a problem.
const podsAsked = 10

func generate(r *rand.Rand) *problem {
	g := &generator{Rand: r, problem: &problem{}}
	for i := range 2 + g.IntN(7) {
		g.objects.Nodes = append(g.objects.Nodes, g.node(fmt.Sprint("node-", i)))
	}
	for i := range g.IntN(31) {
		pod := g.pod(fmt.Sprint("running-", i))
		pod.Spec.NodeName = g.nodeName()
		g.objects.Pods = append(g.objects.Pods, pod)
	}
	for i := range podsAsked {
		pod := g.pod(fmt.Sprint("asked-", i))
		if g.chance(0.1) {
			pod.Spec.NodeName = g.nodeName()
		}
		g.asked = append(g.asked, pod)
	}
	return g.problem
}

func (g *generator) node(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	return node
}

func (g *generator) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app"}}
	return pod
}

// chance is true with a probability.
func (g *generator) chance(p float64) bool { return g.Float64() < p }

// nodeName is the name of a node that may not exist.
func (g *generator) nodeName() string {
	return fmt.Sprint("node-", g.IntN(len(g.objects.Nodes)))
}
