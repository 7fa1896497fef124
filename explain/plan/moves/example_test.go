package moves_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/plan/moves"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// A large pod needs a whole node. Each of two nodes runs a small pod.
func ExampleMakeRoom() {
	important, usual, large := pod("web-a", "n1", "1"), pod("web-b", "n2", "1"), pod("large", "", "8")
	important.Spec.Priority = ptr.To[int32](10)
	objects := inspect.Objects{
		Nodes: []*corev1.Node{node("n1"), node("n2")},
		Pods:  []*corev1.Pod{important, usual, large},
	}
	snapshot := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})

	answer, err := moves.MakeRoom(context.Background(), cluster, large)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Verdict)
	for _, m := range answer.Moves {
		fmt.Println(m.Pod.Name, "goes from", m.From, "to", m.To)
	}
	fmt.Println(answer.Subject.Name, "then fits on", answer.Target.Node)
	// Output:
	// Feasible
	// web-b goes from n2 to n1
	// large then fits on n2
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110"),
	}}}
}

func pod(name, node, cpus string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: "1", Controller: ptr.To(true)},
		}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)},
		}}}},
	}
}
