package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPodDefaults: what the API server fills in and the scheduler looks at is there for pods from files too.
func TestPodDefaults(t *testing.T) {
	o := readObjects(t, `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml, labels: {app: a, rev: "7"}}
spec:
  hostNetwork: true
  resources: {limits: {memory: 4Gi, cpu: "9"}}
  initContainers:
  - {name: init, image: i, resources: {limits: {cpu: "3"}}}
  containers:
  - name: main
    image: i
    resources: {requests: {cpu: "1"}, limits: {cpu: "2", memory: 1Gi, example.com/gpu: "1"}}
    ports: [{containerPort: 80}, {containerPort: 81, hostPort: 8081, protocol: UDP}]
  volumes:
  - {name: disk, rbd: {monitors: [m], image: i}}
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {matchLabels: {app: a}}, matchLabelKeys: [rev, none]}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {}, mismatchLabelKeys: [rev]}
      - {topologyKey: zone, labelSelector: {matchExpressions: [{key: rev, operator: In, values: ["7"]}]}, matchLabelKeys: [rev]}
      - {topologyKey: zone, matchLabelKeys: [rev]}
`)
	spec := o.Pods[0].Spec
	list := func(amounts ...string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i := 0; i < len(amounts); i += 2 {
			out[corev1.ResourceName(amounts[i])] = resource.MustParse(amounts[i+1])
		}
		return out
	}
	in := func(operator metav1.LabelSelectorOperator) []metav1.LabelSelectorRequirement {
		return []metav1.LabelSelectorRequirement{{Key: "rev", Operator: operator, Values: []string{"7"}}}
	}
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"restart policy", spec.RestartPolicy, corev1.RestartPolicyAlways},
		{"requests of the init container", spec.InitContainers[0].Resources.Requests, list("cpu", "3")},
		{"requests of the container", spec.Containers[0].Resources.Requests, list("cpu", "1", "memory", "1Gi", "example.com/gpu", "1")},
		{"requests of the pod", spec.Resources.Requests, list("cpu", "3", "memory", "1Gi")},
		{"ports", spec.Containers[0].Ports, []corev1.ContainerPort{
			{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}, {ContainerPort: 81, HostPort: 8081, Protocol: corev1.ProtocolUDP},
		}},
		{"pool", spec.Volumes[0].RBD.RBDPool, "rbd"},
		{"affinity", spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions, in(metav1.LabelSelectorOpIn)},
		{"anti-affinity", spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions, in(metav1.LabelSelectorOpNotIn)},
		{"what the server merged", spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[1].LabelSelector.MatchExpressions, in(metav1.LabelSelectorOpIn)},
		{"no selector", spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[2].LabelSelector, (*metav1.LabelSelector)(nil)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestPodWithoutLimitsRequestsNothing: neither ports nor requests are made up.
func TestPodWithoutLimitsRequestsNothing(t *testing.T) {
	o := readObjects(t, `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec:
  resources: {requests: {cpu: "1"}}
  containers: [{name: main, image: i, ports: [{containerPort: 80}]}]
`)
	spec := o.Pods[0].Spec
	if spec.Containers[0].Resources.Requests != nil || spec.Containers[0].Ports[0].HostPort != 0 || len(spec.Resources.Requests) != 1 {
		t.Errorf("%+v", spec)
	}
}

func TestNodeAndNamespaceDefaults(t *testing.T) {
	o := readObjects(t, `
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {cpu: "4"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {capacity: {cpu: "4"}, allocatable: {cpu: "3"}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ml}}
`)
	for i, want := range []string{"4", "3"} {
		if got := o.Nodes[i].Status.Allocatable.Cpu().String(); got != want {
			t.Errorf("node %s: %s, want %s", o.Nodes[i].Name, got, want)
		}
	}
	if got := o.Namespaces[0].Labels["kubernetes.io/metadata.name"]; got != "ml" || o.Namespaces[0].Status.Phase != corev1.NamespaceActive {
		t.Errorf("%+v", o.Namespaces[0])
	}
}

// TestAlphaPodGroup: so does Kubernetes 1.36 write them; unknown fields are told.
func TestAlphaPodGroup(t *testing.T) {
	r, err := ReadBytes("f", []byte(`
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: g, namespace: ml}
spec:
  podGroupTemplateRef: {workload: {workloadName: w, podGroupTemplateName: t}}
  schedulingPolicy: {gang: {minCount: 3}}
  disruptionMode: Pod
  minCount: 4
`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := r.Objects.PodGroups[0]
	if g.APIVersion != "scheduling.k8s.io/v1beta1" || g.Spec.SchedulingPolicy.Gang.MinCount != 3 || g.Spec.WorkloadRef.TemplateName != "t" || g.Spec.DisruptionMode.Single == nil {
		t.Errorf("%+v", g)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Path != "spec.minCount" {
		t.Errorf("warnings: %v", r.Warnings)
	}
}
