package plan_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// A queue that admits pods in sets asks before it does whether all of a set find a node.
func ExamplePlace() {
	objects := inspect.Objects{
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		Nodes:   []*corev1.Node{node("n1"), node("n2")},
		Slices:  []*resourcev1.ResourceSlice{gpus("n1", 2), gpus("n2", 2)},
		Templates: []*resourcev1.ResourceClaimTemplate{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "gpu"},
			Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
				Name:    "gpu",
				Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
			}}}}},
		}},
	}
	snapshot := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})

	for _, workers := range []int{4, 5} {
		var pods []*corev1.Pod
		for i := range workers {
			pods = append(pods, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("worker-%d", i)},
				Spec:       corev1.PodSpec{ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}}},
			})
		}
		answer, err := plan.Place(context.Background(), cluster, pods, plan.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		admit := len(answer.Replay.Pending) == 0 && answer.Replay.Certain
		fmt.Println(workers, "workers:", answer.Joint.Verdict, "admit:", admit)
		if answer.Joint.Verdict == explain.Infeasible {
			fmt.Println("because", answer.Joint.Message)
		}
	}
	// Output:
	// 4 workers: Feasible admit: true
	// 5 workers: Infeasible admit: false
	// because there is room for 4 pods like worker-0 in the whole cluster, if nothing else is placed, and 5 are wanted
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}}
}

func gpus(node string, n int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}}
	for i := range n {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i)})
	}
	return slice
}
