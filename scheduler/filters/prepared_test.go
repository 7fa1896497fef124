package filters

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestNominated: the scheduler has made room on a node for pods that are not there yet.
func TestNominated(t *testing.T) {
	nominated := func(name string, priority int32, scheduler, cpu string) *corev1.Pod {
		pod := testPod(name, "", "cpu", cpu)
		pod.Spec.Priority, pod.Spec.SchedulerName, pod.Status.NominatedNodeName = ptr.To(priority), scheduler, "n"
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080}}
		return pod
	}
	const lacks = `InsufficientResources "cpu" the pod asks for 2 CPUs; of 8, 1 is left`
	for name, test := range map[string]struct {
		nominated *corev1.Pod
		priority  int32
		want      string
	}{
		"of the same priority":        {nominated("x", 5, "", "7"), 5, lacks},
		"of a higher one":             {nominated("x", 6, corev1.DefaultSchedulerName, "7"), 5, lacks},
		"of a lower one":              {nominated("x", 4, "", "7"), 5, ""},
		"the pod itself":              {nominated("p", 5, "", "7"), 5, ""},
		"that leaves enough":          {nominated("x", 5, "", "6"), 5, ""},
		"of another scheduler":        {nominated("x", 5, "batch", "7"), 5, `?  "nominated cpu" another scheduler has made room there for pod default/x; with it, the pod asks for 2 CPUs; of 8, 1 is left`},
		"of another, of lower":        {nominated("x", 4, "batch", "7"), 5, ""},
		"of another, leaves enough":   {nominated("x", 5, "batch", "6"), 5, ""},
		"of the same, without a name": {nominated("x", 5, corev1.DefaultSchedulerName, "7"), 5, lacks},
	} {
		s := live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}, Pods: []*corev1.Pod{test.nominated}})
		pod := testPod("p", "", "cpu", "2")
		pod.Spec.Priority = ptr.To(test.priority)
		if got := said(NodeResourcesFit, pod, "n", s); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	s := live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}, Pods: []*corev1.Pod{nominated("x", 0, "", "7")}})
	x := NewIndex(s, nil)
	pod := testPod("p", "", "cpu", "2")
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080}}
	if got := x.Prepare(pod).On("n").Refusals; len(got) != 2 || got[0].Plugin != NodePorts {
		t.Errorf("all plugins see the nominated pod: %+v", got)
	}
	if left := x.Left("n", "cpu"); left != 8000 {
		t.Errorf("the pod was counted for good: %d left", left)
	}
}

// TestUnknown: what was not read is a doubt, unless the answer is no anyway.
func TestUnknown(t *testing.T) {
	pod := waiting(func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{"zone": "a"}
		p.Spec.Containers[0].Resources.Requests = list("cpu", "2")
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
		p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	})
	doubts := func(o Outcome) string {
		var out []string
		for _, d := range o.Doubts {
			out = append(out, fmt.Sprint(d.Plugin, " ", d.Resource))
		}
		return strings.Join(out, ", ")
	}
	assumed := NewIndex(live(inspect.Objects{}), nil)
	name := inspect.NodeName(assumed.nodes[0].Name)
	const all = "NodeUnschedulable nodes, TaintToleration nodes, NodeAffinity nodes, NodeResourcesFit nodes, NodeDeclaredFeatures nodes"
	if got := doubts(assumed.Prepare(pod).On(name)); got != all {
		t.Errorf("without nodes: %s", got)
	}
	tolerant := waiting(func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	if got := doubts(assumed.Prepare(tolerant).On(name)); got != "NodeResourcesFit nodes" {
		t.Errorf("of a pod that tolerates everything, without nodes: %s", got)
	}

	node := roomy(func(n *corev1.Node) {
		n.Labels, n.Status.DeclaredFeatures = pod.Spec.NodeSelector, []string{"RestartAllContainersOnContainerExits"}
	})
	objects := inspect.Objects{Nodes: []*corev1.Node{node}}
	for state, want := range map[inspect.HealthState]string{
		inspect.Synced: "", inspect.NotRead: "NodePorts pods, NodeResourcesFit pods", inspect.Narrowed: "NodePorts pods, NodeResourcesFit pods",
	} {
		s := live(objects).WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: {State: state}})
		if got := doubts(NewIndex(s, nil).Prepare(pod).On("n")); got != want {
			t.Errorf("pods %q: %s", state, got)
		}
	}
	if got := doubts(NewIndex(snapshotOf(objects), nil).Prepare(pod).On("n")); got != "" {
		t.Errorf("files without pods: %s", got)
	}
	big := testPod("p", "", "cpu", "20")
	s := live(objects).WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Forbidden}})
	if o := NewIndex(s, nil).Prepare(big).On("n"); len(o.Doubts) > 0 || len(o.Refusals) != 1 {
		t.Errorf("more than there is, whatever other pods take: %+v", o)
	}
	nominated := testPod("x", "", "cpu", "1")
	nominated.Status.NominatedNodeName = "n"
	s = s.With(func(o *inspect.Objects) { o.Pods = append(o.Pods, nominated) })
	if got := NewIndex(s, nil).Prepare(pod).On("n").Doubts; len(got) != 2 || slices.Contains(got[1:], got[0]) {
		t.Errorf("each doubt is told once: %+v", got)
	}
}
