package fix_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

const gpu corev1.ResourceName = "example.com/gpu"

// amounts are so many of each resource, in the order of pairs.
func amounts(name corev1.ResourceName, text string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(text)}
}

// runningPod is a pod on a node.
func runningPod(name, node string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name)}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	p.Spec.NodeName, p.Spec.Containers = node, []corev1.Container{{Name: "main"}}
	change(p)
	return p
}

func port(number int32, protocol corev1.Protocol) corev1.ContainerPort {
	return corev1.ContainerPort{ContainerPort: number, HostPort: number, Protocol: protocol}
}

func near(app string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: corev1.LabelHostname}
}

// TestEditsOfPods: what a fix changes of the pod is what is in the way, and nothing else.
func TestEditsOfPods(t *testing.T) {
	for _, tt := range []struct {
		name string
		node func(*corev1.Node) // of 64 CPUs and 256Gi
		pods []*corev1.Pod
		spec func(*corev1.PodSpec)
		// conflict is the kind of the only requirement of the conflict.
		conflict explain.RequirementKind
		want     []string // no fix of other kinds that changes the pod
	}{
		{"a container after an init container", nil, nil, func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "first", Resources: corev1.ResourceRequirements{Requests: amounts(corev1.ResourceCPU, "1")}}}
			s.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, "70")
		}, explain.ResourceRequired, []string{"ReduceRequest n 1 replace /spec/containers/0/resources/requests/cpu \"64\""}},
		{"an init container", nil, nil, func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "first", Resources: corev1.ResourceRequirements{Requests: amounts(corev1.ResourceCPU, "70")}}}
		}, explain.ResourceRequired, []string{"ReduceRequest n 1 replace /spec/initContainers/0/resources/requests/cpu \"64\""}},
		{"of two containers the one that can", nil, nil, func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, "1")
			s.Containers = append(s.Containers, corev1.Container{Name: "more", Resources: corev1.ResourceRequirements{Requests: amounts(corev1.ResourceCPU, "70")}})
		}, explain.ResourceRequired, []string{"ReduceRequest n 1 replace /spec/containers/1/resources/requests/cpu \"63\""}},
		{"a limit alone is a request", nil, nil, func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Limits = amounts(corev1.ResourceMemory, "300Gi")
		}, explain.ResourceRequired, []string{"ReduceRequest n 1 replace /spec/containers/0/resources/limits/memory \"256Gi\""}},
		{"the limit of what can be promised twice stays", nil, nil, func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Limits: amounts(corev1.ResourceCPU, "80"), Requests: amounts(corev1.ResourceCPU, "70")}
		}, explain.ResourceRequired, []string{"ReduceRequest n 1 replace /spec/containers/0/resources/requests/cpu \"64\""}},
		{"limit and request of what cannot be", func(n *corev1.Node) { n.Status.Allocatable[gpu] = resource.MustParse("2") }, nil, func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Limits: amounts(gpu, "3"), Requests: amounts(gpu, "3")}
		}, explain.ResourceRequired, []string{"ReduceRequest n 1 replace /spec/containers/0/resources/limits/example.com~1gpu \"2\" replace /spec/containers/0/resources/requests/example.com~1gpu \"2\""}},
		{"overhead", nil, nil, func(s *corev1.PodSpec) { s.Overhead = amounts(corev1.ResourceCPU, "70") }, explain.ResourceRequired, nil},
		{"one of two protocols, which is not named", nil, []*corev1.Pod{runningPod("other", "n", func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{port(80, corev1.ProtocolTCP)}
		})}, func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{port(80, corev1.ProtocolUDP), port(80, "")}
		}, explain.PortRequired, []string{"ReduceRequest n 1 remove /spec/containers/0/ports/1/hostPort", "MovePod n 1"}},
		{"a port in the network of the node", nil, []*corev1.Pod{runningPod("other", "n", func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{port(80, corev1.ProtocolTCP)}
		})}, func(s *corev1.PodSpec) {
			s.HostNetwork, s.Containers[0].Ports = true, []corev1.ContainerPort{port(80, corev1.ProtocolTCP)}
		}, explain.PortRequired, []string{"MovePod n 1"}},
		{"two taints, none tolerated", func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule}, {Key: "b", Effect: corev1.TaintEffectNoExecute}}
		}, nil, func(*corev1.PodSpec) {}, explain.NodeTaintRequired, []string{
			`TolerateTaint n 1 add /spec/tolerations [{"effect":"NoSchedule","key":"a","operator":"Equal","value":"1"}] add /spec/tolerations/- {"effect":"NoExecute","key":"b","operator":"Exists"}`}},
		{"another taint tolerated", func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "b", Effect: corev1.TaintEffectNoExecute}, {Key: "c", Effect: corev1.TaintEffectPreferNoSchedule}}
		}, nil, func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
		}, explain.NodeTaintRequired, []string{
			`TolerateTaint n 1 add /spec/tolerations/- {"effect":"NoExecute","key":"b","operator":"Exists"}`}},
		{"a cordoned node has a taint", func(n *corev1.Node) {
			n.Spec.Unschedulable, n.Spec.Taints = true, []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		}, nil, func(*corev1.PodSpec) {}, explain.CordonRequired, []string{"UncordonNode n 1"}},
		{"two of three terms", nil, []*corev1.Pod{runningPod("c", "n", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "c"} })}, func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{near("c")}}}
			s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{near("c"), near("d"), near("c")}}
		}, explain.PodAffinityRequired, []string{
			"DropConstraint n 1 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/2 remove /spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0"}},
		{"a node affinity", nil, nil, func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}}}}}}
		}, explain.NodeAffinityRequired, []string{"RelaxSelector n 1 remove /spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"}},
		{"a label with a slash", nil, nil, func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"d.io/x~y": "1"} }, explain.NodeAffinityRequired, []string{
			"RelaxSelector n 1 remove /spec/nodeSelector/d.io~1x~0y"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := explaintest.Node("n", corev1.LabelHostname, "n")
			if tt.node != nil {
				tt.node(node)
			}
			pod := explaintest.NewPod(tt.spec)
			o := inspect.Objects{Nodes: []*corev1.Node{node}, Pods: append(tt.pods, pod), Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}}}
			e, err := question.PodObject(t.Context(), explaintest.NewCluster(o), pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != explain.Unsatisfiable || e.Conflict == nil || len(e.Conflict.Requirements) != 1 || e.Conflict.Requirements[0].Kind != tt.conflict {
				t.Fatalf("%s: %s %+v", e.Verdict, e.Message, e.Conflict)
			}
			checkFixes(t, e, tt.want...)
			for i := range e.Fixes {
				if f := &e.Fixes[i]; len(f.Patch) > 0 {
					patched(t, pod, f.Patch)
					if !slices.ContainsFunc(tt.want, func(want string) bool { return strings.HasPrefix(want, string(f.Kind)+" ") }) {
						t.Errorf("unexpected: %s", describeFix(f))
					}
				}
			}
		})
	}
}

// TestOwnConstraints: a pod that its profile spreads gets a constraint of its own, which is a wish.
func TestOwnConstraints(t *testing.T) {
	config, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [{name: PodTopologySpread, "+
		"args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}]}}]}]\n"), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	pod := explaintest.NewPod(func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, "8")
	})
	pod.Labels, pod.UID = map[string]string{"app": "web"}, "u"
	o := inspect.Objects{Nodes: []*corev1.Node{explaintest.Node("n0", corev1.LabelHostname, "n0"), explaintest.Node("n1", corev1.LabelHostname, "n1")}, Pods: []*corev1.Pod{
		pod, runningPod("web", "n0", func(p *corev1.Pod) { p.Labels = pod.Labels }),
		runningPod("full", "n1", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, "64") }),
	}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "s"}, Spec: corev1.ServiceSpec{Selector: pod.Labels}}
	s := inspect.New(o, inspect.Config{
		Features: inspect.DefaultFeatures(inspect.NewestMinor), Scheduler: config, Selecting: &inspect.Selecting{Services: []*corev1.Service{service}},
	})
	e, err := question.PodObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, `DropConstraint n0 1 add /spec/topologySpreadConstraints [{"labelSelector":{"matchLabels":{"app":"web"}},"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway"}]`)
	for i := range e.Fixes {
		if f := &e.Fixes[i]; f.Kind == explain.DropConstraint {
			own := patched(t, pod, f.Patch)
			if e, err := question.PodObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), own, question.Options{}); err != nil || e.Verdict != explain.Allocatable {
				t.Errorf("with the constraint the pod is %s: %v", e.Verdict, err)
			}
		}
	}
	const want = "node n0 would have 2 pods with app=web, 2 more than node n1, which has the fewest; maxSkew of the defaultConstraints of its profile is 1"
	if !strings.Contains(e.Conflict.Requirements[0].Actual, want) {
		t.Errorf("%+v, want %q", e.Conflict.Requirements[0], want)
	}
}

// TestEndOfPodsFreesDevices: with a pod end the claims that nobody else uses, and only these.
func TestEndOfPodsFreesDevices(t *testing.T) {
	for _, tt := range []struct {
		name   string
		shared bool
		want   []string
	}{
		{"of its own claim", false, []string{"ReleaseClaim n0 1 ml/held"}}, // by the same command as to end the pod
		{"not of one that another pod uses, too", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(1)
			held := explaintest.AllocatedClaim("held", "n0", 0)
			held.Namespace, held.Status.Allocation.Devices.Results[0].Device = "ml", "d00"
			held.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: "other"}}
			o.Pods = append(o.Pods, runningPod("other", "n0", func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, "60")
				p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "g", ResourceClaimName: ptr.To("held")}}
			}))
			if tt.shared {
				held.Status.ReservedFor = append(held.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "elsewhere", UID: "elsewhere"})
			}
			wanted := explaintest.GPUClaim(1, "any")
			wanted.Namespace, wanted.Name = "ml", "wanted"
			o.Claims = append(o.Claims, held, wanted)
			pod := podWith("wanted")
			pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: amounts(corev1.ResourceCPU, "10")}}}
			e, err := question.PodObject(t.Context(), explaintest.NewCluster(o), pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkFixes(t, e, tt.want...)
			for i := range e.Fixes {
				if tt.want == nil && e.Fixes[i].Kind == explain.MovePod {
					t.Errorf("its device is not free: %+v", e.Fixes[i])
				}
			}
		})
	}
}

// TestConflictWhereLessHelps: the conflict is shown of the node where a smaller request would do.
func TestConflictWhereLessHelps(t *testing.T) {
	o := inspect.Objects{Nodes: []*corev1.Node{explaintest.Node("n0"), explaintest.Node("n1")}}
	for node, cpus := range map[string]string{"n0": "64", "n1": "60"} {
		o.Pods = append(o.Pods, runningPod("on-"+node, node, func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, cpus) }))
	}
	pod := explaintest.NewPod(func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests = amounts(corev1.ResourceCPU, "8") })
	e, err := question.PodObject(t.Context(), explaintest.NewCluster(o), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Conflict == nil || e.Conflict.Node != "n1" {
		t.Errorf("%+v", e.Conflict)
	}
}
