package preemption_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func podAsking(name, node, cpu string, priority int32) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}
	pod.Spec.NodeName, pod.Spec.Priority = node, &priority
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	return pod
}

func fullNodes(nodes int) inspect.Objects {
	var o inspect.Objects
	for i := range nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%03d", i)}}
		node.Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("8Gi"),
			corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceEphemeralStorage: resource.MustParse("8Gi"),
		}
		o.Nodes = append(o.Nodes, node)
		for k := range 4 {
			o.Pods = append(o.Pods, podAsking(fmt.Sprintf("p%03d-%d", i, k), node.Name, "2", 0))
		}
	}
	return o
}

// TestManyNodes: in a large cluster it is enough to know that there are more nodes than the scheduler looks
// at.
func TestManyNodes(t *testing.T) {
	for nodes, want := range map[int]string{20: "on one of 20 nodes, for example", 400: "on one of at least "} {
		e, err := question.PodObject(t.Context(), explaintest.NewCluster(fullNodes(nodes)), podAsking("p", "", "4", 100), question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := e.Preemption
		if p == nil || p.Outcome != explain.PreemptionPossible || p.Determined || len(p.Nodes) < 20 || !strings.Contains(p.Message, want) {
			t.Errorf("%d nodes: %+v, want %q", nodes, p, want)
		}
	}
}

// TestUnknownPriority: what a priority class stands for is not read.
func TestUnknownPriority(t *testing.T) {
	pod := podAsking("p", "", "4", 0)
	pod.Spec.Priority, pod.Spec.PriorityClassName = nil, "high"
	victim := fullNodes(1)
	for _, other := range victim.Pods {
		other.Spec.Priority = ptr.To[int32](-1)
	}
	e, err := question.PodObject(t.Context(), explaintest.NewCluster(victim), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := e.Preemption; p == nil || p.Outcome != explain.PreemptionUnknown || p.Victims != nil || !strings.Contains(p.Message, "class high") {
		t.Errorf("%+v", p)
	}
}

// TestOneNode: of one node nothing is said, unless there is no other.
func TestOneNode(t *testing.T) {
	for nodes, said := range map[int]bool{1: true, 2: false} {
		e, err := question.PodObject(t.Context(), explaintest.NewCluster(fullNodes(nodes)), podAsking("p", "", "4", 100), question.Options{Node: "n000"})
		if err != nil || (e.Preemption != nil) != said {
			t.Errorf("%d nodes: %+v, %v", nodes, e.Preemption, err)
		}
	}
}
