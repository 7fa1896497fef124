package explaintest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Driver is the driver of the devices of NodesWithDevices, NodesWithAttributes and BigCluster.
const Driver = "gpu.example.com"

// Attribute is what comes before the name of an attribute of Driver in an expression.
const Attribute = `device.attributes["` + Driver + `"].`

// NodeName is the name of node n of NodesWithDevices and NodesWithAttributes.
func NodeName(n int) string { return fmt.Sprintf("n%d", n) }

// NodesWithDevices has a node for each number, with so many equal devices, d00 and so on. Each node has a
// pool and a slice of its name. Class "any" selects every device.
func NodesWithDevices(numbers ...int) inspect.Objects {
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}}
	for n, number := range numbers {
		var devices []resourcev1.Device
		for d := range number {
			devices = append(devices, resourcev1.Device{Name: fmt.Sprintf("d%02d", d)})
		}
		addNode(&o, NodeName(n), devices)
	}
	return o
}

// NodesWithAttributes has a node for each list of names, separated by blanks. The node has one device, gpu-0,
// with an attribute of value 4 for each name. Pools, slices and class are those of NodesWithDevices.
func NodesWithAttributes(lists ...string) inspect.Objects {
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}}
	for n, list := range lists {
		device := resourcev1.Device{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
		for _, name := range strings.Fields(list) {
			device.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(4))}
		}
		addNode(&o, NodeName(n), []resourcev1.Device{device})
	}
	return o
}

// addNode adds a node, and a slice for its devices that is a pool by itself.
func addNode(o *inspect.Objects, name string, devices []resourcev1.Device) {
	o.Nodes = append(o.Nodes, Node(name))
	o.Slices = append(o.Slices, &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: Driver, NodeName: &name, Devices: devices,
			Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
		},
	})
}

// Node is a node with room for any pod of a test.
func Node(name string, labels ...string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i := 0; i+1 < len(labels); i += 2 {
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[labels[i]] = labels[i+1]
	}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return node
}
