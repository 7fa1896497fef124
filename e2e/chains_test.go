package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// chainScenes is the number of scenes of TestChains, and chainNodes that of the nodes of each.
const chainScenes, chainNodes = 30, 3

// chainPriorities is how many priorities there are, so many that few pods of a scene have the same.
const chainPriorities = 12

// workload is what makes pods of a scene, and how many.
type workload struct {
	kind, name string
	pods, cpu  int
	priority   int
	sick       bool
	labels     string
}

var workloadHeads = map[string]string{
	"Deployment": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME, namespace: SCENE}, spec: {replicas: PODS, selector: {matchLabels: {app: NAME}}, template: TEMPLATE}}",
	"ReplicaSet": "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: NAME, namespace: SCENE}, spec: {replicas: PODS, selector: {matchLabels: {app: NAME}}, template: TEMPLATE}}",
	"Job":        "{apiVersion: batch/v1, kind: Job, metadata: {name: NAME, namespace: SCENE}, spec: {parallelism: PODS, completions: PODS, backoffLimit: 100, template: TEMPLATE}}",
	"DaemonSet":  "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: NAME, namespace: SCENE}, spec: {selector: {matchLabels: {app: NAME}}, template: TEMPLATE}}",
	"Pod":        "{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: SCENE, labels: LABELS}, spec: SPEC}",
}

// yaml is the workload as an object.
func (w *workload) yaml(scene string) string {
	labels := "{app: " + w.name + ", " + w.labels + "}"
	if w.sick {
		labels = "{sick: sick, " + labels[1:]
	}
	restart := "Always"
	if w.kind == "Job" {
		restart = "Never"
	}
	spec := fmt.Sprintf("{priorityClassName: p%d, restartPolicy: %s, terminationGracePeriodSeconds: 5, nodeSelector: {scene: %s}, containers: [{name: main, image: example.com/none, resources: {requests: {cpu: %d}}}]}",
		w.priority, restart, scene, w.cpu)
	text := strings.ReplaceAll(workloadHeads[w.kind], "TEMPLATE", "{metadata: {labels: LABELS}, spec: SPEC}")
	return strings.NewReplacer("NAME", w.name, "SCENE", scene, "PODS", fmt.Sprint(w.pods), "LABELS", labels, "SPEC", spec).Replace(text) + "\n---\n"
}

// budgetYAML is a budget for pods with a label, such as "app: web", that says something, such as
// "minAvailable: 1".
func budgetYAML(scene, name, label, says string) string {
	return fmt.Sprintf("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: %s}, spec: {selector: {matchLabels: {%s}}, %s}}\n---\n", name, scene, label, says)
}

// makePriorities makes the classes p0, p1, ….
func makePriorities(t *testing.T, c *cluster.Cluster, n int) {
	t.Helper()
	for value := range n {
		c.ApplyText(t, fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p%d}, value: %d}", value, 10*value))
	}
}

// addNarrowNode adds a node of a scene that has so many CPUs.
func addNarrowNode(t *testing.T, c *cluster.Cluster, scene, name string, cpu int) {
	t.Helper()
	c.ApplyText(t, fmt.Sprintf("{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {scene: %s, kubernetes.io/hostname: %s}}, status: {allocatable: {cpu: %d, memory: 64Gi, pods: 100}, capacity: {cpu: %d, memory: 64Gi, pods: 100}, conditions: [{type: Ready, status: 'True'}]}}",
		name, scene, name, cpu, cpu))
	node, err := c.Client().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err == nil {
		node.Spec.Taints = nil // which admission gives every new node
		_, err = c.Client().CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestChains has kubectl dra plan say whom kube-scheduler ends for the pods that wait in 30 scenes with
// PodDisruptionBudgets, and where all end up, also those that controllers make in the place of others. Then
// it starts the scheduler beside the controllers of budgets and workloads. What the plan is certain of must
// come true.
func TestChains(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"deployment-controller", "replicaset-controller", "job-controller", "disruption-controller"}})
	makePriorities(t, c, chainPriorities)
	r := startRunner(t, c, 0)
	scenes := make([]*chain, chainScenes)
	for i := range scenes {
		scenes[i] = &chain{Cluster: c, rand: rand.New(rand.NewPCG(uint64(i), 47)), name: fmt.Sprint("chain-", i)}
	}
	pods := 0
	for n := range chainNodes { // one node after the other, so that each is filled before the next one is there
		for _, s := range scenes {
			pods += s.fill(t, n)
		}
		r.settled(t, pods)
	}
	c.Halt(t, "kube-scheduler")
	for _, s := range scenes {
		s.ask(t)
	}
	for _, s := range scenes {
		s.ApplyText(t, s.asked)
	}
	c.Resume(t, "kube-scheduler")
	all := r.rest(t, cluster.DecidingTime+3)
	seen := map[string]int{}
	for _, s := range scenes {
		s.compare(t, all, r.ended, seen)
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%3d %s", seen[what], what)
	}
	for what, least := range map[string]int{"certain": chainScenes / 3, "ended, of a budget": 5, "spared, of a budget": 5, "placed again": chainScenes / 10, "left waiting again": chainScenes / 6} {
		if seen[what] < least {
			t.Errorf("%q came up %d times, want %d", what, seen[what], least)
		}
	}
}

// chain is a scene: nodes that are full, and pods that wait.
type chain struct {
	*cluster.Cluster
	rand   *rand.Rand
	name   string
	made   int
	before map[string]*corev1.Pod
	// budgeted are those of them that a budget protects.
	budgeted map[string]bool
	asked    string
	answer   plannedAnswer
	text     string
}

// fill adds a node, with pods that leave at most one CPU, and a budget for some of them. It returns how many
// pods those are.
func (s *chain) fill(t *testing.T, n int) (pods int) {
	t.Helper()
	text := ""
	if n == 0 {
		text = "{apiVersion: v1, kind: Namespace, metadata: {name: " + s.name + "}}\n---\n"
	}
	cpu := 2 + s.rand.IntN(3)
	addNarrowNode(t, s.Cluster, s.name, fmt.Sprintf("%s-n%d", s.name, n), cpu)
	for free := cpu - s.rand.IntN(2); free > 0; {
		w := workload{kind: []string{"Deployment", "Deployment", "ReplicaSet", "Job", "Pod"}[s.rand.IntN(5)], pods: 1, cpu: 1 + s.rand.IntN(min(2, free)), priority: s.rand.IntN(chainPriorities - 3)}
		if w.kind != "Pod" && 2*w.cpu <= free && s.rand.IntN(3) == 0 {
			w.pods = 2
		}
		w.labels = fmt.Sprint("tier: t", s.rand.IntN(2))
		w.name = fmt.Sprintf("w%d", s.made)
		s.made++
		text += w.yaml(s.name)
		if s.rand.IntN(4) == 0 {
			text += budgetYAML(s.name, w.name, "app: "+w.name, []string{"minAvailable: 1", "maxUnavailable: 1", "maxUnavailable: 0"}[s.rand.IntN(3)])
		}
		free, pods = free-w.pods*w.cpu, pods+w.pods
	}
	if n < 2 && s.rand.IntN(3) > 0 {
		tier := fmt.Sprint("t", n)
		text += budgetYAML(s.name, tier, "tier: "+tier, []string{"minAvailable: 1", "minAvailable: 2", "minAvailable: 3", "maxUnavailable: 1", "maxUnavailable: 50%", "minAvailable: 60%"}[s.rand.IntN(6)])
	}
	s.ApplyText(t, text)
	return pods
}

// ask makes pods that wait, asks about them, and takes them away again: a scene of which it is not known what
// happens would make that unknown of all.
func (s *chain) ask(t *testing.T) {
	t.Helper()
	list, err := s.Client().CoreV1().Pods(s.name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	budgets, err := s.Client().PolicyV1().PodDisruptionBudgets(s.name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.before, s.budgeted = map[string]*corev1.Pod{}, map[string]bool{}
	for i := range list.Items {
		pod := &list.Items[i]
		s.before[s.name+"/"+pod.Name] = pod
		s.budgeted[s.name+"/"+pod.Name] = slices.ContainsFunc(budgets.Items, func(b policyv1.PodDisruptionBudget) bool {
			selector, _ := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			return selector.Matches(labels.Set(pod.Labels))
		})
	}
	priorities := s.rand.Perm(6)
	for i := range 1 + s.rand.IntN(3) {
		w := workload{kind: "Pod", name: fmt.Sprint("asked-", i), cpu: 1 + s.rand.IntN(3), priority: chainPriorities - 6 + priorities[i], labels: "tier: none"}
		s.asked += w.yaml(s.name)
	}
	s.ApplyText(t, s.asked)
	result := s.Plugin(t, cluster.Admin, "plan", "pending", "-n", s.name, "-o", "json")
	result.JSON(t, &s.answer)
	s.text = result.Stdout
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	if err := s.Client().CoreV1().Pods(s.name).DeleteCollection(t.Context(), now, metav1.ListOptions{LabelSelector: "tier=none"}); err != nil {
		t.Fatal(err)
	}
}

// compare compares what has happened with what was said.
func (s *chain) compare(t *testing.T, all, ended map[string]*corev1.Pod, seen map[string]int) {
	t.Helper()
	victims := map[string]bool{}
	for name, pod := range ended {
		if pod.Namespace == s.name && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Reason == corev1.PodReasonPreemptionByScheduler }) {
			victims[name] = true
		}
	}
	places := map[string][]string{} // of what was asked by name, and of what came again by controller
	for name, pod := range all {
		if pod.Namespace == s.name && s.before[name] == nil {
			places[whose(pod)] = append(places[whose(pod)], pod.Spec.NodeName)
		}
	}
	replay := &s.answer.Replay
	for i := range replay.Pending {
		if p := &replay.Pending[i]; p.Verdict != "Unknown" && all[p.Pod] != nil && all[p.Pod].Spec.NodeName != "" {
			t.Errorf("%s: %s was to be left waiting, and is on %s\n%s", s.name, p.Pod, all[p.Pod].Spec.NodeName, s.text)
		}
	}
	said, want := map[string]bool{}, map[string][]string{}
	for _, p := range replay.Placed {
		want[p.Pod] = append(want[p.Pod], onlyNode(p.Node, p.AnyOf))
	}
	for _, p := range replay.Pending {
		want[p.Pod] = append(want[p.Pod], "")
	}
	for i := range replay.Preempted {
		g := &replay.Preempted[i]
		said[g.Pod] = true
		g.comesBack(want, s.name)
	}
	alike := maps.Equal(said, victims) && maps.EqualFunc(want, places, sameNodes)
	if !replay.Certain {
		seen["not certain: "+strings.ReplaceAll(strings.Join(replay.Doubts[:min(1, len(replay.Doubts))], ""), s.name, "SCENE")]++
		if alike {
			seen["not certain, and as it was played"]++
		}
		return
	}
	seen["certain"]++
	if !alike {
		t.Errorf("%s: ended are %v, want %v; the others are on %v, want %v\n%s", s.name, victims, said, places, want, s.text)
	}
	s.count(victims, seen)
}

// anyNode stands for a node that kube-scheduler may choose among others.
const anyNode = "any"

// onlyNode is a node that is the only one of so many, or anyNode.
func onlyNode(node string, of int) string {
	if of > 1 {
		return anyNode
	}
	return node
}

// comesBack adds where the controller of a pod that goes has another one.
func (g *goneAnswer) comesBack(want map[string][]string, namespace string) {
	switch whose := namespace + " " + g.Controller; {
	case g.Again != nil:
		want[whose] = append(want[whose], onlyNode(g.Again.Node, g.Again.AnyOf))
	case g.Controller != "":
		want[whose] = append(want[whose], "")
	}
}

// sameNodes reports whether pods are on the nodes that were said.
func sameNodes(want, are []string) bool {
	slices.Sort(want)
	slices.Sort(are)
	if !slices.Contains(want, anyNode) {
		return slices.Equal(want, are)
	}
	waiting := func(nodes []string) int {
		return len(slices.DeleteFunc(slices.Clone(nodes), func(node string) bool { return node != "" }))
	}
	return len(want) == len(are) && waiting(want) == waiting(are)
}

// whose is the name of a pod that nobody makes again, and otherwise who does.
func whose(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return pod.Namespace + " " + owner.Kind + " " + owner.Name
	}
	return pod.Namespace + "/" + pod.Name
}

// count counts what a plan was certain of.
func (s *chain) count(victims map[string]bool, seen map[string]int) {
	if len(victims) == 0 {
		return
	}
	seen["ended, certain"]++
	for name := range s.before {
		if s.budgeted[name] && victims[name] {
			seen["ended, of a budget"]++
		} else if s.budgeted[name] {
			seen["spared, of a budget"]++
		}
	}
	for _, g := range s.answer.Replay.Preempted {
		switch {
		case g.Again != nil:
			seen["placed again"]++
		case g.Controller != "":
			seen["left waiting again"]++
		}
		if strings.Contains(g.Cause, "/w") {
			seen["ended in turn"]++
		}
	}
}
