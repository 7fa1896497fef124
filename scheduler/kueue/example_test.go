package kueue_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// Kueue admits a workload as soon as there is quota. Whether its pods would then find devices, all of them,
// is asked of the allocator: here there is quota for eight GPUs, but there are only four.
func Example() {
	objects := inspect.Objects{
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		Nodes:   []*corev1.Node{exampleNode("n1"), exampleNode("n2")},
		Slices:  []*resourcev1.ResourceSlice{exampleSlice("n1"), exampleSlice("n2")},
		ResourceFlavors: []*kueuev1beta2.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "all"},
			Spec: kueuev1beta2.ResourceFlavorSpec{NodeLabels: map[string]string{"pool": "gpus"}}}},
		LocalQueues: []*kueuev1beta2.LocalQueue{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "queue"},
			Spec: kueuev1beta2.LocalQueueSpec{ClusterQueue: "all"}}},
	}
	objects.ClusterQueues = []*kueuev1beta2.ClusterQueue{{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: kueuev1beta2.ClusterQueueSpec{
		NamespaceSelector: &metav1.LabelSelector{},
		ResourceGroups: []kueuev1beta2.ResourceGroup{{CoveredResources: []corev1.ResourceName{"gpus"}, Flavors: []kueuev1beta2.FlavorQuotas{{
			Name: "all", Resources: []kueuev1beta2.ResourceQuota{{Name: "gpus", NominalQuota: resource.MustParse("8")}},
		}}}},
	}}}
	for _, job := range []struct {
		name             string
		devices, workers int
	}{{"small", 1, 2}, {"wide", 4, 1}, {"large", 1, 6}} {
		claim := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu",
			Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(job.devices)},
		}}}}
		objects.Templates = append(objects.Templates, &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: job.name}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: claim},
		})
		set := kueuev1beta2.PodSet{Name: "main", Count: int32(job.workers)}
		set.Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new(job.name)}}
		objects.KueueWorkloads = append(objects.KueueWorkloads, &kueuev1beta2.Workload{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: job.name},
			Spec:       kueuev1beta2.WorkloadSpec{QueueName: "queue", PodSets: []kueuev1beta2.PodSet{set}},
		})
	}
	config := kueue.DefaultConfig()
	config.DeviceClassMappings = []kueue.DeviceClassMapping{{Resource: "gpus", DeviceClasses: []string{"gpu"}}}
	state := kueue.New(&objects, config, time.Now())
	cluster := scheduler.NewCluster(inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})

	for _, w := range objects.KueueWorkloads {
		decision := state.Decide(w.Namespace, w.Name)
		fmt.Printf("%s: %s", w.Name, decision.Outcome)
		if decision.Outcome != kueue.Fits {
			fmt.Printf(", %s\n", decision.Reasons[0].Message)
			continue
		}
		var pods []*corev1.Pod
		for i := range decision.PodSets[0].Count {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("%s-%d", w.Name, i)}, Spec: *w.Spec.PodSets[0].Template.Spec.DeepCopy()}
			pod.Spec.NodeSelector = objects.ResourceFlavors[0].Spec.NodeLabels // as Kueue does when it admits
			pods = append(pods, pod)
		}
		answer, err := plan.Place(context.Background(), cluster, pods, plan.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf(", and its pods would find devices: %t\n", len(answer.Replay.Pending) == 0 && answer.Replay.Certain)
	}
	// Output:
	// large: Fits, and its pods would find devices: false
	// small: Fits, and its pods would find devices: true
	// wide: Waits, insufficient unused quota for gpus in flavor all, 4 more needed
}

func exampleNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "gpus"}}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}}
}

func exampleSlice(node string) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}},
	}}
}
