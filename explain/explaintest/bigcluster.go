package explaintest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// BigCluster has a number of nodes with 8 GPUs each, which are of four models, one on a node, and on two NUMA
// nodes. Every GPU has a different serial number. Half of the GPUs are allocated, each to a claim that one
// running pod uses.
func BigCluster(nodes int) inspect.Objects {
	var o inspect.Objects
	o.Classes = []*resourcev1.DeviceClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu"},
		Spec:       resourcev1.DeviceClassSpec{Selectors: CELSelectors(`device.driver == "gpu.example.com"`)},
	}}
	models := []string{"A100", "H100", "L40S", "B200"}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		o.Nodes = append(o.Nodes, Node(name, corev1.LabelHostname, name))
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name + "-gpu"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: Driver, NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d", d),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
					"model":         {StringValue: ptr.To(models[n%len(models)])},
					"numa":          {IntValue: ptr.To(int64(d / 4))},
					"uuid":          {StringValue: ptr.To(fmt.Sprintf("GPU-%05d-%d", n, d))},
					"driverVersion": {VersionValue: ptr.To("550.54.15")},
				},
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse([]string{"40Gi", "80Gi", "48Gi", "180Gi"}[n%4])}},
			})
			if (n+d)%2 == 0 {
				user := fmt.Sprintf("held-%05d-%d", n, d)
				o.Claims = append(o.Claims, AllocatedClaim(user, name, d))
				o.Pods = append(o.Pods, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: user, UID: "1"},
					Spec:       corev1.PodSpec{NodeName: name, ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(user)}}},
					Status:     corev1.PodStatus{Phase: corev1.PodRunning},
				})
			}
		}
		o.Slices = append(o.Slices, slice)
	}
	return o
}

// AllocatedClaim is a claim of the namespace "team" that has a GPU of a node of BigCluster, reserved for the
// pod of the same name.
func AllocatedClaim(name, node string, device int) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
		Status: resourcev1.ResourceClaimStatus{
			Allocation: &resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
					{Request: "gpu", Driver: Driver, Pool: node, Device: fmt.Sprintf("gpu-%d", device)}}},
				NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
					{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}},
			},
			ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: "1"}},
		},
	}
}

// BigQuestions are claims that fit on no node of BigCluster, by the reason: "selector", "occupancy" or
// "constraint".
func BigQuestions() map[string]*resourcev1.ResourceClaim {
	claim := func(count int64, selector string, constraints ...resourcev1.DeviceConstraint) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "question"}}
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}}}
		if selector != "" {
			c.Spec.Devices.Requests[0].Exactly.Selectors = CELSelectors(selector)
		}
		c.Spec.Devices.Constraints = constraints
		return c
	}
	return map[string]*resourcev1.ResourceClaim{
		"selector":   claim(1, `device.attributes["gpu.example.com"].model == "H100" && device.capacity["gpu.example.com"].memory.compareTo(quantity("96Gi")) >= 0`),
		"occupancy":  claim(5, ""),
		"constraint": claim(3, "", resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(Driver + "/numa"))}),
	}
}
