package filters

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// playing are the aspects of clusters in which pods contend for little room.
var playing = []aspect{
	{often: true, node: (*generator).smallNode, pod: (*generator).smallRequests},
	{node: (*generator).labels, pod: (*generator).nodeAffinity},
	{node: (*generator).avoided, pod: (*generator).tolerations},
	spread, ports, devices,
	{node: (*generator).topology, pod: (*generator).podAffinity},
	{node: (*generator).labels, pod: (*generator).preferNodes},
	{node: (*generator).topology, pod: (*generator).preferPods},
	{node: (*generator).topology, pod: (*generator).softSpread},
}

// generatePlayed makes a cluster in which three to eight pods wait, some of them alike, and none of which
// ends others.
func generatePlayed(r *rand.Rand) *problem {
	g := &generator{Rand: r, problem: &problem{gates: map[inspect.Gate]bool{gateGroups: false}}}
	if err := setGates(g.features()); err != nil {
		panic(err)
	}
	for _, a := range playing {
		if a.often || g.chance(0.3) {
			g.aspects = append(g.aspects, a)
		}
	}
	for i := range 2 + g.IntN(3) {
		g.objects.Nodes = append(g.objects.Nodes, g.node(fmt.Sprint("node-", i)))
	}
	g.namespaces()
	for _, a := range g.aspects {
		if a.cluster != nil {
			a.cluster(g)
		}
	}
	for i := range g.IntN(4) {
		g.objects.Pods = append(g.objects.Pods, g.pod(fmt.Sprint("running-", i), g.anyNode().Name))
	}
	for n := 3 + g.IntN(6); len(g.asked) < n; {
		pod := g.pod(fmt.Sprint("asked-", len(g.asked)), "")
		if len(pod.Status.ResourceClaimStatuses) < claimsMade(pod) {
			g.objects.Claims = slices.DeleteFunc(g.objects.Claims, func(c *resourcev1.ResourceClaim) bool { return metav1.IsControlledBy(c, pod) })
			continue // nobody would make its claims
		}
		pod.Spec.PreemptionPolicy = new(corev1.PreemptNever)
		pod.CreationTimestamp = metav1.NewTime(someTime.Add(time.Duration(g.IntN(3)) * time.Second))
		if g.chance(0.2) {
			pod.Spec.Priority = new(pick[int32](g, -10, 100))
		}
		g.asked = append(g.asked, pod)
	}
	return g.problem
}

// claimsMade is how many claims are made for a pod.
func claimsMade(pod *corev1.Pod) int {
	n := 0
	for i := range pod.Spec.ResourceClaims {
		if pod.Spec.ResourceClaims[i].ResourceClaimTemplateName != nil {
			n++
		}
	}
	return n
}

// smallNode gives a node room for a few pods.
func (g *generator) smallNode(node *corev1.Node) {
	node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(pick(g, "1", "2", "3", "4"))
	node.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse(pick(g, "2Gi", "4Gi", "8Gi"))
	node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse(pick(g, "2", "3", "110", "110"))
	node.Status.Capacity = node.Status.Allocatable
}

// smallRequests lets a pod ask for some of that room.
func (g *generator) smallRequests(pod *corev1.Pod) {
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(pick(g, "100m", "1", "1", "2")), corev1.ResourceMemory: resource.MustParse(pick(g, "100Mi", "1Gi", "2Gi")),
	}
}
