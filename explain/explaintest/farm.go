package explaintest

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Farm is a cluster of nodes with eight GPUs each, of which every third has older ones.
func Farm(nodes int) *inspect.Objects {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}}
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("512Gi"), corev1.ResourcePods: resource.MustParse("110")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
		model := "a100"
		if i%3 == 0 {
			model = "v100"
		}
		slice := &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
			},
		}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name:       fmt.Sprintf("gpu-%d", d),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To(model)}},
			})
		}
		o.Slices = append(o.Slices, slice)
	}
	return o
}

// Template is a claim template for some GPUs.
func Template(name string, count int64, selector string) *resourcev1.ResourceClaimTemplate {
	request := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
	if selector != "" {
		request.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}}
	}
	return &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "gpus", Exactly: request}},
		}}},
	}
}

// Worker is a pod with a claim from a template.
func Worker(name, template string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "example.com/train:1", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")},
				Claims:   []corev1.ResourceClaim{{Name: "gpus"}},
			}}},
			ResourceClaims: []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimTemplateName: ptr.To(template)}},
		},
	}
}

// Workers are pods with claims from a template, prefix-0000 and so on.
func Workers(n int, prefix, template string) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		out = append(out, Worker(fmt.Sprintf("%s-%04d", prefix, i), template))
	}
	return out
}

// SmallFarm is a [Farm] with templates for its GPUs, which are old ones on the first node.
func SmallFarm(nodes int) *inspect.Objects {
	o := Farm(nodes)
	o.Templates = append(o.Templates, Template("one", 1, ""), Template("four", 4, ""), Template("eight", 8, ""),
		Template("old", 8, `device.attributes["gpu.example.com"].model == "v100"`),
		Template("broken", 1, `device.attributes["gpu.example.com"].missing == "x"`))
	return o
}

// AddRunning adds a pod on a node of a [Farm], with its controller and a claim that was made for it from the
// first template.
func AddRunning(o *inspect.Objects, name, node, controller string, devices ...int) *corev1.Pod {
	pod := Worker(name, "one")
	pod.Spec.NodeName = node
	if controller != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: controller, Name: "owner", Controller: ptr.To(true)}}
	}
	claim := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name + "-gpus", OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: name, UID: pod.UID, Controller: ptr.To(true)}}},
		Spec:       o.Templates[0].Spec.Spec,
		Status: resourcev1.ResourceClaimStatus{
			ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: pod.UID}},
			Allocation:  &resourcev1.AllocationResult{},
		},
	}
	claim.Spec = *claim.Spec.DeepCopy()
	for _, d := range devices {
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "gpus", Driver: "gpu.example.com", Pool: node, Device: fmt.Sprintf("gpu-%d", d),
		})
	}
	pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpus", ResourceClaimName: ptr.To(claim.Name)}}
	o.Claims, o.Pods = append(o.Claims, claim), append(o.Pods, pod)
	return pod
}

// BusyFarm is a [SmallFarm] of two nodes: on the first a pod of a job with five devices, one of a daemon set
// and one of nobody, on the second a job's with two. A pod that wants eight waits.
func BusyFarm() *inspect.Objects {
	o := SmallFarm(2)
	o.Templates[0] = Template("one", 5, "")
	AddRunning(o, "five", "node-0000", "Job", 0, 1, 2, 3, 4)
	AddRunning(o, "orphan", "node-0000", "", 5)
	AddRunning(o, "daemon", "node-0000", "DaemonSet", 6)
	AddRunning(o, "two", "node-0001", "Job", 0, 1)
	for _, claim := range o.Claims {
		claim.Spec.Devices.Requests[0].Exactly.Count = int64(len(claim.Status.Allocation.Devices.Results))
	}
	o.Pods = append(o.Pods, Worker("waits", "eight"))
	return o
}

// ModelDevice is a device of a model.
func ModelDevice(name, model string) resourcev1.Device {
	return resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To(model)}}}
}

// Unreadable is a cluster of which some resources may not be listed.
func Unreadable(o *inspect.Objects, resources ...inspect.Resource) *scheduler.Cluster {
	own := *o
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range resources {
		health[r] = inspect.Health{State: inspect.Forbidden, Message: "cannot list " + string(r)}
		switch r {
		case inspect.Pods:
			own.Pods = nil
		case inspect.Claims:
			own.Claims = nil
		}
	}
	return scheduler.NewCluster(inspect.New(own, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health}), scheduler.Options{})
}

// AddRandomNode adds a node with few CPUs and up to three devices of two models, which are called d0 and so
// on.
func AddRandomNode(rng *rand.Rand, o *inspect.Objects, name string) {
	one := Farm(1)
	node, slice := one.Nodes[0], one.Slices[0]
	node.Name, node.Labels[corev1.LabelHostname], slice.Name, slice.Spec.NodeName, slice.Spec.Pool.Name = name, name, name, ptr.To(name), name
	node.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(int64(1+rng.IntN(4)), resource.DecimalSI)
	slice.Spec.Devices = nil
	for d := range rng.IntN(4) {
		slice.Spec.Devices = append(slice.Spec.Devices, ModelDevice(fmt.Sprintf("d%d", d), []string{"a100", "v100"}[rng.IntN(2)]))
	}
	o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
}
