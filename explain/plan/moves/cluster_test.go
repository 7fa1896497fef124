package moves

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// farm is a cluster of nodes with eight GPUs each, of which every third has older ones.
func farm(nodes int) *inspect.Objects {
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

// template is a claim template for some GPUs.
func template(name string, count int64, selector string) *resourcev1.ResourceClaimTemplate {
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

// worker is a pod with a claim from a template.
func worker(name, template string) *corev1.Pod {
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

// small is a cluster of nodes with eight GPUs each, the first of which are old ones, and templates for them.
func small(nodes int) *inspect.Objects {
	o := farm(nodes)
	o.Templates = append(o.Templates, template("one", 1, ""), template("four", 4, ""), template("eight", 8, ""),
		template("old", 8, `device.attributes["gpu.example.com"].model == "v100"`),
		template("broken", 1, `device.attributes["gpu.example.com"].missing == "x"`))
	return o
}

// busy is two nodes: on the first a pod of a job with five devices, one of a daemon set and one of nobody, on
// the second a job's with two. A pod that wants eight waits.
func busy() *inspect.Objects {
	o := small(2)
	o.Templates[0] = template("one", 5, "")
	running(o, "five", "node-0000", "Job", 0, 1, 2, 3, 4)
	running(o, "orphan", "node-0000", "", 5)
	running(o, "daemon", "node-0000", "DaemonSet", 6)
	running(o, "two", "node-0001", "Job", 0, 1)
	for _, claim := range o.Claims {
		claim.Spec.Devices.Requests[0].Exactly.Count = int64(len(claim.Status.Allocation.Devices.Results))
	}
	o.Pods = append(o.Pods, worker("waits", "eight"))
	return o
}

// running is a pod on a node with a claim that was made for it, and its controller.
func running(o *inspect.Objects, name, node, controller string, devices ...int) *corev1.Pod {
	pod := worker(name, "one")
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

// fresh is the cluster of objects, of which nothing is known.
func fresh(o inspect.Objects) *scheduler.Cluster {
	return scheduler.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
}

// unreadable is a cluster of which some resources may not be listed.
func unreadable(o *inspect.Objects, resources ...inspect.Resource) *scheduler.Cluster {
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

// ofVolcano is a pod that another scheduler places.
func ofVolcano(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SchedulerName = "volcano"
	return pod
}
