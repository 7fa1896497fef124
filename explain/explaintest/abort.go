package explaintest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Uneven is a node for each list of attributes: one GPU that has them, each with the value 4.
func Uneven(attributes ...string) inspect.Objects {
	var o inspect.Objects
	for n, list := range attributes {
		device := resourcev1.Device{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
		for _, name := range strings.Fields(list) {
			device.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(4))}
		}
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: NodeName(n)}})
		o.Slices = append(o.Slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: NodeName(n)}, Spec: resourcev1.ResourceSliceSpec{
			Driver: BigDriver, NodeName: ptr.To(NodeName(n)), Pool: resourcev1.ResourcePool{Name: NodeName(n), Generation: 1, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{device},
		}})
	}
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}
	return o
}

const Field = `device.attributes["gpu.example.com"].`
