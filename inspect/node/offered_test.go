package node_test

import (
	"slices"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// TestOfferedTwice: a device of DRA and one of a device plugin are the same if they have the same PCI address
// or UUID, however it is written.
func TestOfferedTwice(t *testing.T) {
	const uuid = "gpu-11111111-2222-3333-4444-555555555555"
	for name, test := range map[string]struct {
		attribute, value, id string
		want                 bool
	}{
		"the same address":                {"resource.kubernetes.io/pciBusID", "0000:81:00.0", "0000:81:00.0", true},
		"an address without a domain":     {"pci", "0000:81:00.0", "81:00.0", true},
		"an address with a longer domain": {"pci", "00000000:81:00.0", "0000:81:00.0", true},
		"another domain":                  {"pci", "00010000:81:00.0", "0000:81:00.0", false},
		"a share of it":                   {"pci", "0000:8A:00.1", "0000:8a:00.1::1", true},
		"the same UUID":                   {"uuid", "GPU-11111111-2222-3333-4444-555555555555", uuid, true},
		"what it belongs to":              {"parentUUID", uuid, uuid, false},
		"another address":                 {"pci", "0000:81:00.0", "0000:82:00.0", false},
		"no function of a device":         {"pci", "81:00.8", "81:00.8", false},
		"neither address nor UUID":        {"name", "gpu-0", "gpu-0", false},
	} {
		t.Run(name, func(t *testing.T) {
			on := "n1"
			device := resourcev1.Device{Name: "g", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				resourcev1.QualifiedName(test.attribute): {StringValue: &test.value},
			}}
			s := inspect.New(inspect.Objects{Slices: []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.test", NodeName: &on, Pool: resourcev1.ResourcePool{Name: on, ResourceSliceCount: 1}, Devices: []resourcev1.Device{device}}}}}, inspect.Config{})
			v := viewOf(node.View{Allocatable: node.Allocatable{Devices: []node.PluginDevice{{Resource: "example.test/gpu", ID: test.id}, {Resource: "example.test/gpu", ID: test.id + "::9"}}}})
			twice := slices.DeleteFunc(problemCodes(t, node.Join(v, s, "n1")), func(code string) bool { return code != string(node.OfferedTwice) })
			if (len(twice) == 1) != test.want || len(twice) > 1 {
				t.Errorf("offered twice: %v, want %v", twice, test.want)
			}
		})
	}
}
