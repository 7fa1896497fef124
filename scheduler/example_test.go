package scheduler_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// A node with two CPUs refuses a pod that wants four.
func Example() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourcePods: resource.MustParse("110"),
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
	}}}
	snapshot := inspect.New(inspect.Objects{Nodes: []*corev1.Node{node}}, inspect.Config{
		Features: inspect.DefaultFeatures(inspect.NewestMinor),
	})

	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
	for _, refusal := range cluster.Filters().Prepare(pod).On("node-1").Refusals {
		fmt.Printf("%s: %s\n", refusal.Plugin, refusal.Message)
	}
	// Output:
	// NodeResourcesFit: the pod asks for 4 CPUs; of 2, 2 are left
}
