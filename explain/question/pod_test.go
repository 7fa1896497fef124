package question_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// uses lets a pod use claims.
func uses(p *corev1.PodSpec, claims ...string) {
	for _, c := range claims {
		p.ResourceClaims = append(p.ResourceClaims, corev1.PodResourceClaim{Name: c, ResourceClaimName: ptr.To(c)})
	}
}

// TestPods explains pods in the demo cluster. Four nodes have four free GPUs or more: gpu-a-02,
// gpu-a-03, gpu-b-03 and gpu-b-04; the last two have 80 GiB.
func TestPods(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	tests := []struct {
		name    string
		pod     *corev1.Pod
		verdict explain.Verdict
		nodes   string // that can have it, or the first reason
		message string
	}{
		{"four and two GPUs", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "train-1", "sweep-3") }), explain.Allocatable, "gpu-b-04", ""},
		{"four GPUs twice", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "train-1", "train-1") }),
			explain.Unsatisfiable, "fits by itself, but not together with gpus of train-1", "cannot be scheduled"},
		{"one claim", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "train-1") }), explain.Allocatable, "gpu-b-03 gpu-b-04", ""},
		{"node selector", explaintest.NewPod(func(p *corev1.PodSpec) {
			uses(p, "train-1")
			p.NodeSelector = map[string]string{"kubernetes.io/hostname": "gpu-b-04"}
		}), explain.Allocatable, "gpu-b-04", ""},
		{"node selector that no node has", explaintest.NewPod(func(p *corev1.PodSpec) {
			uses(p, "train-1")
			p.NodeSelector = map[string]string{"zone": "mars"}
		}), explain.Unsatisfiable, "zone=mars", ""},
		{"missing claim", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "nothing") }), explain.Unsatisfiable, "", `resourceclaim "nothing" does not exist`},
		{"missing template", explaintest.NewPod(func(p *corev1.PodSpec) {
			p.ResourceClaims = []corev1.PodResourceClaim{{Name: "x", ResourceClaimTemplateName: ptr.To("nothing")}}
		}), explain.Unsatisfiable, "", `resourceclaimtemplate "nothing" does not exist`},
		{"no claims", explaintest.NewPod(func(*corev1.PodSpec) {}), explain.Allocatable, "cpu-01 cpu-02 gpu-a-01 gpu-a-02 gpu-a-03 gpu-a-04 gpu-b-01 gpu-b-02 gpu-b-03 gpu-b-04 mig-01 mig-02", "can be scheduled on 12 of 12 nodes"},
		{"an allocated claim", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "pretrain-0") }), explain.Allocated, "", "has all its devices: 8 devices in 1 claim"},
		{"an allocated claim, on another node", explaintest.NewPod(func(p *corev1.PodSpec) {
			uses(p, "pretrain-0")
			p.NodeSelector = map[string]string{corev1.LabelHostname: "gpu-b-01"}
		}), explain.Unsatisfiable, "the devices of the allocated claim pretrain-0 cannot be used from the node", "has all its devices, but cannot be scheduled on any of 12 nodes"},
		{"allocated claims on two nodes", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "pretrain-0", "pretrain-1") }),
			explain.Unsatisfiable, "the devices of the allocated claim pretrain-1 cannot be used from the node", "has all its devices, but cannot be scheduled on any of 12 nodes"},
		{"devices that are elsewhere", explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "pretrain-0", "train-1") }),
			explain.Unsatisfiable, "", "no device of class gpu-80gb.example.com reaches a node that the pod may use"},
		{"extended resources", explaintest.NewPod(func(p *corev1.PodSpec) {
			p.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("5")}
		}), explain.Allocatable, "gpu-b-04", ""},
		{"too many extended resources", explaintest.NewPod(func(p *corev1.PodSpec) {
			p.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("7")}
		}), explain.Unsatisfiable, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := question.PodObject(context.Background(), cluster, tt.pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != tt.verdict || !strings.Contains(e.Message, tt.message) {
				t.Fatalf("%s: %s", e.Verdict, e.Message)
			}
			if e.Verdict == explain.Allocatable {
				if got := fittingNodes(cluster, e); got != tt.nodes {
					t.Errorf("nodes %s, want %s", got, tt.nodes)
				}
				return
			}
			if tt.nodes != "" && !gives(e, tt.nodes) {
				t.Errorf("no node gives the reason %q", tt.nodes)
			}
		})
	}
}

// fittingNodes are the names of the nodes that are in no group.
func fittingNodes(c *scheduler.Cluster, e *explain.Explanation) string {
	refused := map[inspect.NodeName]bool{}
	for _, g := range e.Groups {
		for _, n := range g.Nodes {
			refused[n] = true
		}
	}
	var fits []string
	for _, n := range c.Snapshot().Nodes() {
		if !refused[inspect.NodeName(n.Name)] {
			fits = append(fits, n.Name)
		}
	}
	return strings.Join(fits, " ")
}

// gives reports whether some group gives a reason with the text.
func gives(e *explain.Explanation, message string) bool {
	return slices.ContainsFunc(e.Groups, func(g explain.Group) bool {
		return slices.ContainsFunc(g.Reasons, func(r explain.Reason) bool { return strings.Contains(r.Message, message) })
	})
}

// TestPodOfTemplate explains a pod whose claim has not been created yet.
func TestPodOfTemplate(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	templates := cluster.Snapshot().Objects().Templates
	if len(templates) == 0 {
		t.Fatal("the demo cluster has no templates")
	}
	template := templates[0]
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimTemplateName: &template.Name}}
	})
	pod.Namespace = template.Namespace
	e, err := question.PodObject(context.Background(), cluster, pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := question.Template(context.Background(), cluster, template.Namespace, template.Name, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != want.Verdict || e.Nodes != want.Nodes {
		t.Errorf("pod: %s %+v, template: %s %+v", e.Verdict, e.Nodes, want.Verdict, want.Nodes)
	}
	if !slices.ContainsFunc(e.Waits, func(n explain.Note) bool { return strings.Contains(n.Message, "has not been created yet") }) {
		t.Errorf("the missing claim is not mentioned: %+v", e.Waits)
	}
}

// TestExtendedResourcesDependOnNode checks that no claim is needed where a device plugin provides the GPUs.
func TestExtendedResourcesDependOnNode(t *testing.T) {
	snapshot := explaintest.DemoCluster(t).Snapshot().With(func(o *inspect.Objects) {
		for i, node := range o.Nodes {
			if node.Name == "cpu-01" {
				n := node.DeepCopy()
				n.Status.Allocatable["example.com/gpu"] = resource.MustParse("8")
				o.Nodes[i] = n
			}
		}
	})
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		p.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("6")}
	})
	e, err := question.PodObject(context.Background(), cluster, pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fittingNodes(cluster, e); e.Verdict != explain.Allocatable || got != "cpu-01 gpu-b-04" {
		t.Errorf("%s on %s, want Allocatable on cpu-01 gpu-b-04", e.Verdict, got)
	}
}

// TestFullClaim checks that no more pods than the API allows can use a claim.
func TestFullClaim(t *testing.T) {
	snapshot := explaintest.DemoCluster(t).Snapshot().With(func(o *inspect.Objects) {
		for i, c := range o.Claims {
			if c.Name == "pretrain-0" {
				full := c.DeepCopy()
				full.Status.ReservedFor = make([]resourcev1.ResourceClaimConsumerReference, resourcev1.ResourceClaimReservedForMaxSize)
				o.Claims[i] = full
			}
		}
	})
	e, err := question.PodObject(context.Background(), scheduler.NewCluster(snapshot, scheduler.Options{}),
		explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "pretrain-0") }), question.Options{})
	if err != nil || e.Verdict != explain.Unsatisfiable || !strings.Contains(e.Message, "reserved for 256 consumers") {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestDevicesOfTheNode: nodes that look alike to the claims of a pod have devices of their own. Where a
// filter refuses the first of them, the devices are those of another.
func TestDevicesOfTheNode(t *testing.T) {
	o := explaintest.NodesWithDevices(2, 2, 2)
	o.Nodes[0].Spec.Unschedulable = true
	o.Claims = []*resourcev1.ResourceClaim{explaintest.GPUClaim(1, "any")}
	o.Claims[0].Namespace, o.Claims[0].Name = "ml", "gpu"
	pod := explaintest.NewPod(func(p *corev1.PodSpec) { uses(p, "gpu") })
	e, err := question.PodObject(t.Context(), explaintest.NewCluster(o), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Allocatable || e.Nodes.Allocatable != 2 {
		t.Fatalf("%s: %d nodes", e.Message, e.Nodes.Allocatable)
	}
	if a := e.Allocation; string(a.Node) != explaintest.NodeName(1) || a.Devices[0].ID.Pool != explaintest.NodeName(1) {
		t.Errorf("node %s, device %s", a.Node, a.Devices[0].ID)
	}
}
