package explaintest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// EqualDevices is a cluster of nodes with so many equal devices each.
func EqualDevices(devices ...int) inspect.Objects {
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}}
	for i, n := range devices {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: NodeName(i)}}
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &node.Name,
			Pool: resourcev1.ResourcePool{Name: node.Name, Generation: 1, ResourceSliceCount: 1},
		}}
		for d := range n {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("d%02d", d)})
		}
		o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
	}
	return o
}
