package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// devices is the aspect of DynamicResources. The allocator has comparisons of its own; here claims meet the
// other filters.
var devices = aspect{cluster: (*generator).slices, pod: (*generator).resourceClaims, made: (*generator).claimsOfDevices}

const (
	deviceDriver = "gpu.example.com"
	deviceClass  = "gpu.example.com"
)

// deviceRequests are what templates ask for, by the name of the template.
var deviceRequests = map[string]resourcev1.DeviceRequest{
	"one":    {Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}},
	"two":    {Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2}},
	"all":    {Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeAll}},
	"large":  {Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].model == "large"`}}}}},
	"either": {FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "two", DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2}, {Name: "one", DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}},
	"gone":   {Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gone.example.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}},
}

// slices publishes devices on most nodes, and makes claims that several pods may use.
func (g *generator) slices() {
	g.objects.Classes = append(g.objects.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: deviceClass}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
	}})
	for _, node := range g.objects.Nodes {
		if g.chance(0.2) {
			continue
		}
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node.Name + "-gpus"}}
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: deviceDriver, NodeName: new(node.Name), Pool: resourcev1.ResourcePool{Name: node.Name, Generation: 1, ResourceSliceCount: 1}}
		for i := range 1 + g.IntN(3) {
			model := pick(g, "small", "small", "large")
			device := resourcev1.Device{Name: fmt.Sprint("gpu-", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}}}
			device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("16Gi")}}
			if g.chance(0.1) {
				device.Taints = []resourcev1.DeviceTaint{{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			}
			slice.Spec.Devices = append(slice.Spec.Devices, device)
		}
		g.objects.Slices = append(g.objects.Slices, slice)
	}
	for _, name := range sorted(deviceRequests) {
		g.objects.Templates = append(g.objects.Templates, &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: claimSpec(name)},
		})
	}
	for i := range 2 {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("shared-", i), Namespace: "default"}, Spec: claimSpec("one")}
		claim.UID = types.UID("uid-of-" + claim.Name)
		if g.chance(0.5) {
			g.allocate(claim, g.anyNode().Name, "someone")
		}
		g.objects.Claims = append(g.objects.Claims, claim)
	}
}

func claimSpec(template string) resourcev1.ResourceClaimSpec {
	request := deviceRequests[template]
	request.Name = "gpu"
	return *(&resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{request}}}).DeepCopy()
}

// allocate gives a claim a free device of a node, if there is one.
func (g *generator) allocate(claim *resourcev1.ResourceClaim, node, pod string) {
	used := map[string]bool{}
	for _, other := range g.objects.Claims {
		if a := other.Status.Allocation; a != nil {
			used[a.Devices.Results[0].Pool+"/"+a.Devices.Results[0].Device] = true
		}
	}
	for _, slice := range g.objects.Slices {
		for i := range slice.Spec.Devices {
			name := slice.Spec.Devices[i].Name
			if slice.Spec.Pool.Name != node || used[node+"/"+name] {
				continue
			}
			claim.Status.Allocation = &resourcev1.AllocationResult{
				AllocationTimestamp: &metav1.Time{Time: someTime},
				Devices:             resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: deviceDriver, Pool: node, Device: name}}},
				NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
					Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
				}}}}},
			}
			claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod, UID: types.UID(pod)}}
			return
		}
	}
}

// resourceClaims lets a pod use claims: made for it from a template, or one that other pods use, too.
func (g *generator) resourceClaims(pod *corev1.Pod) {
	for i := range 1 + g.IntN(2) {
		entry := corev1.PodResourceClaim{Name: fmt.Sprint("claim-", i)}
		if g.chance(0.8) {
			entry.ResourceClaimTemplateName = new(pick(g, sorted(deviceRequests)...))
		} else {
			entry.ResourceClaimName = new(pick(g, "shared-0", "shared-1", "shared-2"))
		}
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, entry)
		pod.Spec.Containers[0].Resources.Claims = append(pod.Spec.Containers[0].Resources.Claims, corev1.ResourceClaim{Name: entry.Name})
	}
}

// claimsOfDevices makes the claims of a pod, as the controller does, and allocates them for a pod on a node.
func (g *generator) claimsOfDevices(pod *corev1.Pod) {
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if entry.ResourceClaimTemplateName == nil || pod.Spec.NodeName == "" && g.chance(0.05) {
			continue
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: pod.Name + "-" + entry.Name, Namespace: pod.Namespace}}
		claim.UID = types.UID("uid-of-" + claim.Name)
		claim.Annotations = map[string]string{resourcev1.PodResourceClaimAnnotation: entry.Name}
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}}
		claim.Spec = claimSpec(*entry.ResourceClaimTemplateName)
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: new(claim.Name)})
		switch {
		case pod.Spec.NodeName != "":
			g.allocate(claim, pod.Spec.NodeName, pod.Name)
		case g.chance(0.1):
			g.allocate(claim, g.anyNode().Name, pod.Name)
		}
		g.objects.Claims = append(g.objects.Claims, claim)
	}
}
