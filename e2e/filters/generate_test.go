package filters

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// generator makes a random problem.
type generator struct {
	*rand.Rand
	*problem
	aspects []aspect // of this problem
}

// aspect is what a plugin looks at. Each is a file of its own. The functions may be nil.
type aspect struct {
	// often says that every problem has it.
	often bool
	// cluster adds objects besides nodes and pods.
	cluster func(g *generator)
	node    func(g *generator, node *corev1.Node)
	// pod adds to a pod, which may be on a node or not. It must not change anything else: the API server may
	// refuse the pod.
	pod func(g *generator, pod *corev1.Pod)
	// made adds objects for a pod.
	made func(g *generator, pod *corev1.Pod)
}

var aspects = []aspect{resources, ports, affinity, taints, claimVolumes, ephemeralVolumes, localVolumes, diskVolumes, devices, spread, neighbours, declared, gated, groups, life}

const (
	// podsAsked is how many pods are asked about in a problem.
	podsAsked = 10
	// ofProblems and ofPods are how likely a problem has an aspect, and a pod in such a problem.
	ofProblems, ofPods = 0.4, 0.5
)

func generate(r *rand.Rand) *problem { return generateOf(r, aspects) }

// generateOf makes a problem of which every aspect is one of some.
func generateOf(r *rand.Rand, aspects []aspect) *problem {
	g := &generator{Rand: r, problem: &problem{gates: map[inspect.Gate]bool{}}}
	g.switchGates()
	if err := setGates(g.features()); err != nil {
		panic(err)
	}
	for _, a := range aspects {
		if a.often || g.chance(ofProblems) {
			g.aspects = append(g.aspects, a)
		}
	}
	for i := range 2 + g.IntN(7) {
		g.objects.Nodes = append(g.objects.Nodes, g.node(fmt.Sprint("node-", i)))
	}
	for _, a := range g.aspects {
		if a.cluster != nil {
			a.cluster(g)
		}
	}
	for i := range g.IntN(31) {
		g.objects.Pods = append(g.objects.Pods, g.pod(fmt.Sprint("running-", i), g.anyNode().Name))
	}
	if g.chance(0.1) {
		other := g.pod("other", "")
		other.Spec.SchedulerName, other.Status.NominatedNodeName = "other-scheduler", g.anyNode().Name
		g.objects.Pods = append(g.objects.Pods, other)
	}
	for i := range podsAsked {
		node := ""
		if g.chance(0.08) {
			node = g.anyNode().Name
		}
		pod := g.pod(fmt.Sprint("asked-", i), node)
		if node != "" {
			pod.Spec.SchedulingGroup = nil // its group would not know of it
		}
		g.asked = append(g.asked, pod)
	}
	return g.problem
}

// node makes a node with room for whatever no aspect is about.
func (g *generator) node(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	node.Labels[corev1.LabelHostname] = name
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
	for _, a := range g.aspects {
		if a.node != nil {
			a.node(g, node)
		}
	}
	return node
}

// pod makes a pod.
func (g *generator) pod(name, node string) *corev1.Pod {
	pod := valid(func() *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
		pod.Spec.NodeName = node
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app"}}
		for _, a := range g.aspects {
			if a.pod != nil && g.chance(ofPods) {
				a.pod(g, pod)
			}
		}
		return pod
	})
	for _, a := range g.aspects {
		if a.made != nil {
			a.made(g, pod)
		}
	}
	return pod
}

// valid makes an object until it is one that the API server lets in.
func valid[T metav1.Object](try func() T) T {
	for tries := 1; ; tries++ {
		object := try()
		if _, err := admit(object); err == nil {
			return object
		} else if tries == 1000 {
			panic(err)
		}
	}
}

// someTime is when whatever is being deleted was asked to go.
var someTime = time.Unix(1_800_000_000, 0).UTC()

// chance is true with a probability.
func (g *generator) chance(p float64) bool { return g.Float64() < p }

func (g *generator) anyNode() *corev1.Node { return pick(g, g.objects.Nodes...) }

// pick is one of several values.
func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// sorted are the keys of a map, in an order that does not depend on chance.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// has tells whether there is an object of that name.
func has[T metav1.Object](objects []T, name string) bool {
	return slices.ContainsFunc(objects, func(o T) bool { return o.GetName() == name })
}

// times is a list of up to most values.
func times[T any](g *generator, most int, one func() T) []T {
	var out []T
	for range g.IntN(most + 1) {
		out = append(out, one())
	}
	return out
}
