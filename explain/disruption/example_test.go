package disruption_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Before a node is drained one asks where its pods go.
func ExamplePlay() {
	objects := inspect.Objects{
		Nodes: []*corev1.Node{node("n1"), node("n2")},
		Pods:  []*corev1.Pod{pod("web", "n1", "ReplicaSet"), pod("shell", "n1", "")},
	}
	snapshot := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})

	answer, err := disruption.Play(context.Background(), cluster, disruption.Drain(snapshot, "n1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, gone := range answer.Gone {
		if gone.Again != nil {
			fmt.Println(gone.Subject.Name, gone.Then, "on", gone.Again.Node)
		} else {
			fmt.Println(gone.Subject.Name, gone.Then)
		}
	}
	// Output:
	// shell Gone
	// web Placed on n2
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}}
}

func pod(name, node, owner string) *corev1.Pod {
	out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}, Spec: corev1.PodSpec{NodeName: node}}
	if owner != "" {
		out.OwnerReferences = []metav1.OwnerReference{{Kind: owner, Name: "owner", Controller: ptr.To(true)}}
	}
	return out
}
