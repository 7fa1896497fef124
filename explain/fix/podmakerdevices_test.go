package fix_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// deviceDriver is the driver, and the class, of the devices of a problem.
const deviceDriver = "gpu.example.com"

func (g problemMaker) deviceClasses(o *inspect.Objects) {
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: deviceDriver}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{selecting(fmt.Sprintf("device.driver == %q", deviceDriver))},
	}}}
}

func selecting(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

// publish adds the devices of a node. A few nodes have none.
func (g problemMaker) publish(o *inspect.Objects, node string) {
	if g.once(6) {
		return
	}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-gpus"}}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver: deviceDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}
	for i := range 1 + g.rand.IntN(5) {
		device := resourcev1.Device{Name: fmt.Sprint("gpu-", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model": {StringValue: ptr.To(oneOf(g, "a", "a", "b"))}, "numa": {IntValue: ptr.To(int64(i % 2))},
		}}
		if g.once(8) {
			device.Taints = []resourcev1.DeviceTaint{{Key: "broken", Value: "yes", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
		}
		slice.Spec.Devices = append(slice.Spec.Devices, device)
	}
	o.Slices = append(o.Slices, slice)
}

// hold gives a free device of its node to a pod, if there is one: in a claim that is made for it, or in one
// of its own.
func (g problemMaker) hold(o *inspect.Objects, pod *corev1.Pod) {
	taken := map[string]bool{}
	for _, claim := range o.Claims {
		for _, r := range claim.Status.Allocation.Devices.Results {
			taken[r.Pool+" "+r.Device] = true
		}
	}
	for _, slice := range o.Slices {
		for i := range slice.Spec.Devices {
			name := slice.Spec.Devices[i].Name
			if slice.Spec.Pool.Name != pod.Spec.NodeName || taken[slice.Spec.Pool.Name+" "+name] {
				continue
			}
			claim := claimOf("c-"+pod.Name, request("r", 1))
			claim.Status.Allocation = &resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: deviceDriver, Pool: slice.Spec.Pool.Name, Device: name}}},
				NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
					Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{pod.Spec.NodeName},
				}}}}},
			}
			o.Claims = append(o.Claims, claim)
			if g.once(6) {
				return // nobody uses it any more
			}
			claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim.Name}}
			return
		}
	}
}

// wantDevices lets the pod want devices, by a claim or a template.
func (g problemMaker) wantDevices(o *inspect.Objects, pod *corev1.Pod) {
	requests := []resourcev1.DeviceRequest{g.deviceRequest("r0")}
	if g.once(4) {
		requests = append(requests, g.deviceRequest("r1"))
	}
	claim := claimOf("wanted", requests...)
	if g.once(3) {
		claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(deviceDriver + "/" + oneOf(g, "numa", "model")))}}
	}
	if g.once(2) {
		o.Claims = append(o.Claims, claim)
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim.Name}}
		return
	}
	template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: "template"}}
	template.Spec.Spec = claim.Spec
	o.Templates = append(o.Templates, template)
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template.Name}}
}

func (g problemMaker) deviceRequest(name string) resourcev1.DeviceRequest {
	r := request(name, int64(1+g.rand.IntN(3)))
	if g.once(3) {
		r.Exactly.Selectors = []resourcev1.DeviceSelector{selecting(fmt.Sprintf("device.attributes[%q].model == %q", deviceDriver, oneOf(g, "a", "b")))}
	}
	return r
}

func request(name string, count int64) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: deviceDriver, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
	}}
}

func claimOf(name string, requests ...resourcev1.DeviceRequest) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: name, UID: types.UID(name)}}
	claim.Spec.Devices.Requests = requests
	return claim
}
