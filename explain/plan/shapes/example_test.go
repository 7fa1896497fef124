package shapes_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/plan/shapes"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Three pods need two CPUs each, and the only node of the cluster has four.
func ExampleFind() {
	objects := inspect.Objects{Nodes: []*corev1.Node{{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110"),
		}},
	}}}
	for i := range 3 {
		objects.Pods = append(objects.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprint("worker-", i)},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			}}}},
		})
	}
	snapshot := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})

	kinds, err := shapes.OfCluster(snapshot, objects.Pods)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := shapes.Find(context.Background(), cluster, objects.Pods, kinds, shapes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range answer.Shapes {
		fmt.Println(a.Count, "more like", a.Name, a.Verdict)
	}
	// Output: 1 more like n1 Fits
}
