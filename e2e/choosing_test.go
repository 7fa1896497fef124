package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// TestChoosing says of one pod after another which nodes the scheduler may choose, from what is read of a
// real server, and sees which one it does choose.
func TestChoosing(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	c.ApplyText(t, serviceYAML)
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // nothing is secret
	for i := range 8 {
		c.AddNode(t, fmt.Sprint("n", i), map[string]string{corev1.LabelHostname: fmt.Sprint("n", i), corev1.LabelTopologyZone: fmt.Sprint(i % 3)})
		addImages(t, c, fmt.Sprint("n", i), i)
	}
	c.ApplyText(t, seenYAML)
	bound(t, c, "seen", "n7")
	finder, err := live.NewFinder(c.Config(cluster.Admin))
	if err != nil {
		t.Fatal(err)
	}
	single := 0
	for i := range 20 {
		name := fmt.Sprint("p", i)
		create(t, c, choosingPod(r, name))
		_, node := c.PodScheduled(t, "default", name, cluster.Placed)
		choice := choiceFor(t, c, finder, name)
		if !slices.Contains(choice.Nodes, inspect.NodeName(node)) || len(choice.Doubts) > 0 {
			t.Errorf("pod %s: the scheduler chose %s, ours are %q; doubts %v, points %+v", name, node, choice.Nodes, choice.Doubts, choice.Scores())
		}
		if len(choice.Nodes) == 1 {
			single++
		}
	}
	if single < 10 {
		t.Errorf("for %d of 20 pods there is a single node, want more", single)
	}
}

const serviceYAML = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// seenYAML is a pod that needs what the last node says last: where it is bound, the scheduler has seen all
// nodes as they are.
const seenYAML = `
apiVersion: v1
kind: Pod
metadata: {name: seen}
spec: {containers: [{name: main, image: example.com/none, resources: {limits: {example.com/seen: "1"}}}]}
`

func addImages(t *testing.T, c *cluster.Cluster, name string, i int) {
	t.Helper()
	nodes := c.Client().CoreV1().Nodes()
	node, err := nodes.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if i%2 == 0 {
		node.Status.Images = []corev1.ContainerImage{{Names: []string{"example.com/train:v1"}, SizeBytes: 2 << 30}}
	}
	node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(fmt.Sprint(16 + 8*i))
	if i == 7 {
		node.Status.Allocatable["example.com/seen"] = resource.MustParse("1")
	}
	if _, err := nodes.UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func choosingPod(r *rand.Rand, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": []string{"web", "db"}[r.IntN(2)]}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: []string{"example.com/train:v1", "example.com/app"}[r.IntN(2)]}}
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprint(1 + r.IntN(4)))}
	if r.IntN(3) == 0 {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}}}},
		}}}}
	}
	return pod
}

func create(t *testing.T, c *cluster.Cluster, pod *corev1.Pod) {
	t.Helper()
	if _, err := c.Client().CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// choiceFor says which nodes may be chosen for a pod that is on a node now, as if it were not.
func choiceFor(t *testing.T, c *cluster.Cluster, finder *live.Finder, name string) scores.Choice {
	t.Helper()
	whole, err := c.Client().CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, c, cluster.Admin, live.Options{Resources: inspect.Resources()})
	at := slices.IndexFunc(got.Objects.Pods, func(p *corev1.Pod) bool { return p.Name == name })
	pod := got.Objects.Pods[at].DeepCopy()
	pod.Spec.NodeName = ""
	got.Objects.Pods = slices.Delete(got.Objects.Pods, at, at+1)
	s := inspect.New(got.Objects, inspect.Config{Features: got.Features, Health: got.Health, ServerVersion: got.ServerVersion})
	besides, err := finder.Choosing(t.Context(), []string{"default"})
	if err != nil || len(besides.Unread) > 0 {
		t.Fatalf("%v, not read: %q", err, besides.Unread)
	}
	options := scores.Options{Images: scores.ImagesOf(besides.Nodes), Whole: whole, Workloads: besides.Selecting}
	index := filters.NewIndex(s, nil)
	prepared := index.Prepare(pod)
	var nodes []scores.Candidate
	for _, node := range s.Nodes() {
		if on := inspect.NodeName(node.Name); prepared.On(on).Passes() {
			nodes = append(nodes, scores.Candidate{Node: on})
		}
	}
	return scores.Prepare(index, pod, options, nil).Choose(nodes)
}
