package fix_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// heldNodes has nodes with so many devices each, which a claim of the node's name holds, all of them.
func heldNodes(numbers ...int) inspect.Objects {
	o := explaintest.NodesWithDevices(numbers...)
	for n := range numbers {
		o.Nodes[n].Labels = map[string]string{corev1.LabelHostname: o.Nodes[n].Name}
		for d := range o.Slices[n].Spec.Devices {
			held := explaintest.AllocatedClaim(o.Slices[n].Spec.Devices[d].Name+"-of-"+o.Nodes[n].Name, o.Nodes[n].Name, d)
			held.Status.Allocation.Devices.Results[0].Device = o.Slices[n].Spec.Devices[d].Name
			o.Claims = append(o.Claims, held)
		}
	}
	return o
}

// likeOf is the node of which an explanation proposes one more.
func likeOf(e *explain.Explanation) inspect.NodeName {
	for i := range e.Fixes {
		if e.Fixes[i].Kind == explain.AddNode {
			return e.Fixes[i].Like
		}
	}
	return ""
}

// TestOneMoreNode: of the kinds of nodes of which one more helps, the one is proposed of which there are
// most.
func TestOneMoreNode(t *testing.T) {
	for _, tt := range []struct {
		name  string
		nodes []int
		count int64
		want  inspect.NodeName
	}{
		{"the most common kind", []int{4, 2, 2, 4, 2, 1}, 2, "n1"},
		{"the most common kind that helps", []int{2, 4, 1, 1, 1}, 2, "n0"},
		{"none is large enough", []int{4, 2, 2}, 5, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(heldNodes(tt.nodes...)), explaintest.GPUClaim(tt.count, "any"), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := likeOf(e); got != tt.want {
				t.Errorf("one more node like %q, want %q: %+v", got, tt.want, e.Fixes)
			}
			for _, text := range e.NoHelp {
				if tt.want != "" {
					t.Errorf("said as well: %s", text)
				}
			}
		})
	}
}

// TestOneMoreNodeOfInstanceType: what a cloud calls a kind of node counts, whatever is different about the
// devices now.
func TestOneMoreNodeOfInstanceType(t *testing.T) {
	o := heldNodes(3, 2, 3, 3, 2, 1)
	for n, name := range []string{"small", "large", "small", "large", "large", "large"} {
		o.Nodes[n].Labels[corev1.LabelInstanceTypeStable] = name
	}
	e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), explaintest.GPUClaim(2, "any"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := likeOf(e); got != "n1" {
		t.Errorf("one more node like %q, want n1, which is large", got)
	}
}

// TestOneMoreNodeForPods: a new node has another name, so it is none for a pod that wants a node by its name.
func TestOneMoreNodeForPods(t *testing.T) {
	o := heldNodes(2)
	claim := explaintest.GPUClaim(2, "any")
	o.Claims = append(o.Claims, claim)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: "p"}}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(claim.Name)}}
	for selected, want := range map[string]inspect.NodeName{"": "n0", "n0": ""} {
		if pod.Spec.NodeSelector = nil; selected != "" {
			pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: selected}
		}
		e, err := question.PodObject(context.Background(), explaintest.NewCluster(o), pod, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := likeOf(e); got != want {
			t.Errorf("selects %q: one more node like %q, want %q: %+v", selected, got, want, e.Fixes)
		}
	}
}

// TestOneMoreNodeWhileOthersWait: what others are supposed to get cannot be released, but they do not get it
// on a node that is added. It is not said that this does not help, even where another node is proposed
// instead.
func TestOneMoreNodeWhileOthersWait(t *testing.T) {
	for _, tt := range []struct {
		nodes []int
		asked inspect.NodeName
		want  inspect.NodeName
	}{{[]int{2}, "", "n0"}, {[]int{2, 2}, "n0", ""}} {
		first, second := explaintest.GPUClaim(2, "any"), explaintest.GPUClaim(2, "any")
		second.Name = "second"
		c := explaintest.NewCluster(explaintest.NodesWithDevices(tt.nodes...))
		all, err := question.Objects(context.Background(), c, []metav1.Object{first, second}, question.Options{Node: tt.asked})
		if err != nil {
			t.Fatal(err)
		}
		if got := likeOf(all[1]); got != tt.want {
			t.Errorf("one more node like %q, want %q: %+v", got, tt.want, all[1].Fixes)
		}
		if len(all[1].NoHelp) > 0 {
			t.Errorf("%q", all[1].NoHelp)
		}
	}
}

// TestAddedNodesAreNotCordoned: a node that was just added is ready, whatever has become of the one that it
// is like.
func TestAddedNodesAreNotCordoned(t *testing.T) {
	o := heldNodes(2)
	o.Nodes[0].Spec.Unschedulable = true
	o.Nodes[0].Spec.Taints = []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: "team", Value: "ml", Effect: corev1.TaintEffectNoSchedule},
	}
	s := explaintest.NewCluster(o).Snapshot().With(func(o *inspect.Objects) {
		suppose.AddNode(o, "n0", false, func(name string) string { return name + "-new" })
	})
	added, ok := s.Node("n0-new")
	if !ok || added.Spec.Unschedulable || len(added.Spec.Taints) != 1 || added.Spec.Taints[0].Key != "team" {
		t.Errorf("%+v", added)
	}
	if old, _ := s.Node("n0"); !old.Spec.Unschedulable || !slices.ContainsFunc(old.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }) {
		t.Errorf("the node that it is like has changed: %+v", old.Spec)
	}
}
