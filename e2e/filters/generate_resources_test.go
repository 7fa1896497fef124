package filters

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resources is the aspect of NodeResourcesFit.
var resources = aspect{cluster: (*generator).classesOfResources, node: (*generator).allocatable, pod: (*generator).requests}

const (
	gpu, fpga corev1.ResourceName = "example.com/gpu", "example.com/fpga"
	huge      corev1.ResourceName = "hugepages-2Mi"
	// byClass is what a device class provides under its own name.
	byClass = corev1.ResourceName(resourcev1.ResourceDeviceClassPrefix + "gpu-class")
)

// allocatable limits what a node has, and leaves some of it out.
func (g *generator) allocatable(node *corev1.Node) {
	amounts := map[corev1.ResourceName][]string{
		corev1.ResourceCPU:              {"1", "2", "3500m", "8", "0"},
		corev1.ResourceMemory:           {"1Gi", "2G", "4Gi", "6500Mi", "0"},
		corev1.ResourceEphemeralStorage: {"10Gi", "5G", "1Ti"},
		corev1.ResourcePods:             {"2", "4", "8", "110", "110"},
		gpu:                             {"0", "1", "2", "4"},
		fpga:                            {"0", "2"},
		huge:                            {"0", "64Mi", "1Gi"},
		byClass:                         {"0", "1"},
	}
	for _, name := range sorted(amounts) {
		switch {
		case g.chance(0.7):
			node.Status.Allocatable[name] = resource.MustParse(pick(g, amounts[name]...))
		case g.chance(0.1):
			delete(node.Status.Allocatable, name)
		}
	}
	node.Status.Capacity = maps.Clone(node.Status.Allocatable)
}

// classesOfResources are device classes that provide extended resources, several of them the same one.
func (g *generator) classesOfResources() {
	for i, class := range times(g, 3, func() *resourcev1.DeviceClass {
		class := &resourcev1.DeviceClass{}
		if g.chance(0.8) {
			class.Spec.ExtendedResourceName = new(string(pick(g, gpu, fpga)))
		}
		class.CreationTimestamp = metav1.NewTime(time.Unix(int64(g.IntN(3)), 0))
		return class
	}) {
		class.Name = pick(g, "gpu-class", fmt.Sprint("class-", i))
		if !has(g.objects.Classes, class.Name) {
			g.objects.Classes = append(g.objects.Classes, class)
		}
	}
}

// requests gives a pod all kinds of containers and what they ask for.
func (g *generator) requests(pod *corev1.Pod) {
	for i := range g.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("more-", i), Image: "example.com/app"})
	}
	for i := range g.IntN(4) {
		c := corev1.Container{Name: fmt.Sprint("init-", i), Image: "example.com/app"}
		if g.chance(0.5) {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for _, c := range containers(pod) {
		c.Resources = g.containerResources()
	}
	if g.chance(0.2) {
		pod.Spec.Overhead = g.amounts(corev1.ResourceCPU, corev1.ResourceMemory)
	}
	if g.chance(0.3) {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: g.amounts(corev1.ResourceCPU, corev1.ResourceMemory)}
		if g.chance(0.3) {
			pod.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6"), corev1.ResourceMemory: resource.MustParse("5Gi")}
		}
	}
	if pod.Spec.NodeName != "" && g.chance(0.4) {
		g.resize(pod)
	}
}

func (g *generator) containerResources() corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: g.amounts(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage)}
	if g.chance(0.15) {
		r.Requests, r.Limits = nil, r.Requests // the server makes requests of them
	}
	// What cannot be promised twice has equal requests and limits.
	both := corev1.ResourceList{}
	if g.chance(0.2) {
		both[pick(g, gpu, gpu, fpga, byClass)] = resource.MustParse(pick(g, "0", "1", "1", "2"))
	}
	if g.chance(0.1) {
		both[huge] = resource.MustParse(pick(g, "2Mi", "64Mi", "512Mi"))
	}
	for name, amount := range both {
		if r.Limits == nil {
			r.Limits = corev1.ResourceList{}
		}
		r.Limits[name] = amount
		if r.Requests != nil {
			r.Requests[name] = amount
		}
	}
	return r
}

// amounts are amounts of some of the resources.
func (g *generator) amounts(names ...corev1.ResourceName) corev1.ResourceList {
	amounts := map[corev1.ResourceName][]string{
		corev1.ResourceCPU:              {"0", "100m", "250m", "0.0005", "1", "1500m", "2"},
		corev1.ResourceMemory:           {"0", "64Mi", "100M", "512Mi", "1Gi", "1500000001", "100000000500m"},
		corev1.ResourceEphemeralStorage: {"1Gi", "3G"},
	}
	out := corev1.ResourceList{}
	for _, name := range names {
		if g.chance(0.5) {
			out[name] = resource.MustParse(pick(g, amounts[name]...))
		}
	}
	return out
}

// resize makes a pod on a node one whose resources are being changed.
func (g *generator) resize(pod *corev1.Pod) {
	for _, c := range containers(pod) {
		if g.chance(0.3) {
			continue
		}
		status := corev1.ContainerStatus{Name: c.Name}
		if g.chance(0.8) {
			status.AllocatedResources = g.amounts(corev1.ResourceCPU, corev1.ResourceMemory)
		}
		if g.chance(0.8) {
			status.Resources = &corev1.ResourceRequirements{Requests: g.amounts(corev1.ResourceCPU, corev1.ResourceMemory)}
		}
		if g.chance(0.3) { // names of init containers are looked for in both lists
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		} else {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
	}
	if g.chance(0.5) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: pick(g, corev1.PodReasonInfeasible, corev1.PodReasonDeferred),
		}}
	}
	if g.chance(0.4) {
		pod.Status.AllocatedResources = g.amounts(corev1.ResourceCPU, corev1.ResourceMemory)
	}
	if g.chance(0.4) {
		pod.Status.Resources = &corev1.ResourceRequirements{Requests: g.amounts(corev1.ResourceCPU, corev1.ResourceMemory)}
	}
}

// containers are all containers of a pod.
func containers(pod *corev1.Pod) []*corev1.Container {
	var out []*corev1.Container
	for i := range pod.Spec.InitContainers {
		out = append(out, &pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		out = append(out, &pod.Spec.Containers[i])
	}
	return out
}
