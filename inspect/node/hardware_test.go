package node_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

const gpuUUID = "gpu-11111111-2222-3333-4444-555555555555"

func TestHardwareName(t *testing.T) {
	for text, want := range map[string]string{
		"0000:81:00.0": "0000:81:00.0", "81:00.0": "0000:81:00.0", "00000000:81:00.0": "0000:81:00.0", "00010000:81:00.0": "10000:81:00.0", "0000:8A:00.1": "0000:8a:00.1",
		"GPU-11111111-2222-3333-4444-555555555555": gpuUUID, "11111111-2222-3333-4444-555555555555": "11111111-2222-3333-4444-555555555555",
		"": "", "gpu-0": "", "pci0000:81": "", "81:00.8": "", "0000:81:00.0/": "",
	} {
		if got := node.HardwareName(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestHardware has a GPU that DRA knows by both names and a device plugin by the other one, a part of it, and
// the same address on another node.
func TestHardware(t *testing.T) {
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	slice := func(on string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "hw-" + on}, Spec: resourcev1.ResourceSliceSpec{Driver: "hw.example.test", NodeName: &on,
			Pool: resourcev1.ResourcePool{Name: on, ResourceSliceCount: 1}, Devices: devices}}
	}
	attributes := func(a map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
		return a
	}
	claim := claimObject("c", "u")
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "hw.example.test", Pool: "n1", Device: "whole"}}}}
	s := cluster(inspect.Objects{Claims: []*resourcev1.ResourceClaim{claim}, Slices: []*resourcev1.ResourceSlice{
		slice("n1", resourcev1.Device{Name: "whole", Attributes: attributes(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"uuid": text("GPU-11111111-2222-3333-4444-555555555555"), "resource.kubernetes.io/pciBusID": text("0000:81:00.0"), "numaNode": {IntValue: new(int64(1))}, "ifName": text("eth1")})},
			resourcev1.Device{Name: "part", Attributes: attributes(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"parentUUID": text(gpuUUID), "uuid": text("mig-99999999-2222-3333-4444-555555555555")})},
			resourcev1.Device{Name: "other", Attributes: attributes(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"uuid": text("gpu-0")})}),
		slice("n2", resourcev1.Device{Name: "far", Attributes: attributes(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"pci": text("81:00.0")})}),
	}})
	use := node.PluginDevice{Resource: "example.com/gpu", ID: "0000:81:00.0"}
	v := viewOf(node.View{
		Pods:        []node.Pod{{Ref: inspect.PodRef{Namespace: "ml", Name: "p"}, Containers: []node.Container{{Name: "main", Devices: []node.PluginDevice{use}}}}},
		Allocatable: node.Allocatable{Devices: []node.PluginDevice{{Resource: "example.com/shared", ID: gpuUUID + "::1"}}},
		Registered:  []node.RegisteredDevices{{Resource: "example.com/gpu", IDs: []string{"0000:81:00.0", "0000:82:00.0"}}, {Resource: "example.com/part", IDs: []string{"mig-99999999-2222-3333-4444-555555555555"}}},
		Claims: []node.PreparedClaim{{Claim: ref("c"), Devices: []node.PreparedDevice{
			{Device: node.Device{DeviceID: inspect.DeviceID{Driver: "hw.example.test", Pool: "n1", Device: "whole"}}, CDI: []string{"x=1"}}, {Device: dra("n1", "gpu-0", "")}}}},
	})
	find := func(name string, on inspect.NodeName) (names, devices []string, h node.Hardware) {
		h = node.FindHardware(name, on, node.Join(v, s, "n1"), v, s)
		for _, d := range h.Devices {
			kind := "is"
			if d.Part {
				kind = "part"
			}
			devices = append(devices, d.ID.Device+" "+kind+" by "+d.Attribute)
		}
		for _, p := range h.Plugins {
			devices = append(devices, p.Resource+"="+p.ID+" healthy "+string(p.Healthy))
		}
		return h.Names, devices, h
	}
	plugins := []string{"example.com/gpu=0000:81:00.0 healthy No", "example.com/shared=" + gpuUUID + "::1 healthy Yes"}
	names, devices, h := find(gpuUUID, "n1")
	if diff := cmp.Diff([]string{gpuUUID, "0000:81:00.0"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append([]string{"part part by parentUUID", "whole is by uuid"}, plugins...), devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	whole := h.Devices[1]
	if whole.NUMA != "1" || whole.Interface != "eth1" || len(whole.Claims) != 1 || !cmp.Equal(whole.Claims[0].Devices[0].CDI, []string{"x=1"}) || len(whole.Claims[0].Devices) != 1 {
		t.Errorf("device %+v", whole)
	}
	if !h.Twice || len(h.Plugins[0].Containers) != 1 || len(h.Plugins[1].Containers) != 0 {
		t.Errorf("held twice: %v; plugins %+v", h.Twice, h.Plugins)
	}
	if _, devices, _ := find("0000:81:00.0", "n1"); !cmp.Equal(devices, append([]string{"whole is by resource.kubernetes.io/pciBusID"}, plugins...)) {
		t.Errorf("by address on n1: %q", devices)
	}
	if _, devices, _ := find("0000:81:00.0", ""); len(devices) != 4 || devices[1] != "far is by pci" {
		t.Errorf("by address on any node: %q", devices)
	}
	if _, devices, h := find("0000:82:00.0", "n1"); !cmp.Equal(devices, []string{"example.com/gpu=0000:82:00.0 healthy No"}) || h.Twice {
		t.Errorf("of a device plugin alone: %q", devices)
	}
}

// TestHardwareIdentity: neither another device of a plugin nor another plugin's device of the same id is the
// one that is meant, and what a device belongs to is no name of its own.
func TestHardwareIdentity(t *testing.T) {
	const address, other, function = "0000:81:00.0", "0000:82:00.0", "0000:81:00.2"
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	claim := claimObject("c", "u")
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "hw.example.test", Pool: "n1", Device: "vf"}}}}
	s := cluster(inspect.Objects{Claims: []*resourcev1.ResourceClaim{claim}, Slices: []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "hw"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "hw.example.test", NodeName: new("n1"), Pool: resourcev1.ResourcePool{Name: "n1", ResourceSliceCount: 1}, Devices: []resourcev1.Device{
			{Name: "vf", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"pfPCIBusID": text(address), "uuidRoot": text(other), "pciBusID": text(function), "numa": {StringValue: new("1")}, "numaNodes": {IntValue: new(int64(7))}, "interfaceName": text("eth1"),
			}},
		},
	}}}})
	used, idle, others := node.PluginDevice{Resource: "example.com/a", ID: address}, node.PluginDevice{Resource: "example.com/a", ID: other}, node.PluginDevice{Resource: "example.com/b", ID: address}
	unknown := node.PluginDevice{Resource: "example.com/c", ID: "0000:83:00.0"}
	v := viewOf(node.View{
		Pods:        []node.Pod{{Ref: inspect.PodRef{Namespace: "ml", Name: "p"}, Containers: []node.Container{{Name: "main", Devices: []node.PluginDevice{used, unknown}}}}},
		Allocatable: node.Allocatable{Devices: []node.PluginDevice{used}},
		Registered:  []node.RegisteredDevices{{Resource: idle.Resource, IDs: []string{idle.ID}}, {Resource: others.Resource, IDs: []string{others.ID, function}}},
	})
	type found struct {
		names   []string
		plugins string
		devices int
		part    bool
		twice   bool
	}
	for name, want := range map[string]found{
		address:    {[]string{address}, "example.com/a Yes 1 1, example.com/b No 0 0, ", 1, true, true},
		other:      {[]string{other}, "example.com/a No 0 0, ", 1, true, false},
		function:   {[]string{function}, "example.com/b No 0 0, ", 1, false, false},
		unknown.ID: {[]string{unknown.ID}, "example.com/c No 1 0, ", 0, false, false},
	} {
		r := node.Join(v, s, "n1")
		r.Health = []node.DeviceHealth{{Resource: used.Resource, ID: used.ID}}
		h := node.FindHardware(name, "n1", r, v, s)
		plugins := ""
		for _, p := range h.Plugins {
			plugins += fmt.Sprintf("%s %s %d %d, ", p.Resource, p.Healthy, len(p.Containers), len(p.Health))
		}
		if len(h.Devices) != want.devices || plugins != want.plugins || !slices.Equal(h.Names, want.names) || h.Twice != want.twice {
			t.Errorf("%s: %q, plugins %q, %+v, twice %t", name, h.Names, plugins, h.Devices, h.Twice)
		}
		if len(h.Devices) == 1 && (h.Devices[0].Part != want.part || h.Devices[0].NUMA != "" || h.Devices[0].Interface != "eth1") {
			t.Errorf("%s: %+v", name, h.Devices[0])
		}
	}
}

// TestMachine has a directory as Linux makes it: devices by their addresses are links.
func TestMachine(t *testing.T) {
	k := newKubelet(t)
	const device = "sys/devices/pci0000:80/0000:81:00.0"
	k.write(t, device+"/numa_node", "1\n")
	k.write(t, device+"/net/eth1/mtu", "1500\n")
	k.write(t, device+"/net/eth0/mtu", "1500\n")
	k.write(t, "sys/devices/pci0000:80/0000:82:00.0/numa_node", "-1\n")
	k.write(t, "sys/bus/pci/drivers/mlx5_core/bind", "")
	link := func(to, name string) {
		t.Helper()
		name = filepath.Join(k.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o750), os.Symlink(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("../../../../bus/pci/drivers/mlx5_core", device+"/driver")
	for _, address := range []string{"0000:81:00.0", "0000:82:00.0"} {
		link("../../../devices/pci0000:80/"+address, "sys/bus/pci/devices/"+address)
	}
	link("../../../../../../..", "sys/bus/pci/devices/0000:83:00.0")
	if err := makePipe(filepath.Join(k.dir, "sys/devices/pci0000:80/0000:82:00.0/net")); err != nil {
		t.Fatal(err)
	}
	got := node.ReadMachine(filepath.Join(k.dir, "sys"), []string{gpuUUID, "0000:81:00.0", "0000:82:00.0", "0000:83:00.0", "0000:84:00.0", "../0000:81:00.0"})
	want := []node.Machine{{Address: "0000:81:00.0", NUMA: new(int64(1)), Interfaces: []string{"eth0", "eth1"}, Driver: "mlx5_core"}, {Address: "0000:82:00.0"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	if got := node.ReadMachine(filepath.Join(k.dir, "none"), []string{"0000:81:00.0"}); got != nil {
		t.Errorf("of nowhere: %+v", got)
	}
}

// gpu is a device of driver gpu.example.test with a NUMA node and, if it is given, a PCI address.
func gpu(name, address string, numa int64) resourcev1.Device {
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"numa": {IntValue: &numa}}}
	if address != "" {
		d.Attributes["resource.kubernetes.io/pciBusID"] = resourcev1.DeviceAttribute{StringValue: &address}
	}
	return d
}

// TestPossibleHardware has worlds of which only one names what its devices are.
func TestPossibleHardware(t *testing.T) {
	plugin := func(resource, id string, numa ...int64) node.PluginDevice {
		return node.PluginDevice{Resource: resource, ID: id, NUMA: numa}
	}
	const address, other = "0000:81:00.0", "0000:82:00.0"
	for name, test := range map[string]struct {
		devices []resourcev1.Device
		plugins []node.PluginDevice
		want    []string
	}{
		"the plugin says nothing":     {[]resourcev1.Device{gpu("g", address, 1)}, []node.PluginDevice{plugin("example.test/gpu", "0", 0), plugin("example.test/gpu", "1", 1), plugin("example.test/gpu", "2")}, []string{"example.test/gpu=1", "example.test/gpu=2"}},
		"the plugin says another one": {[]resourcev1.Device{gpu("g", address, 1)}, []node.PluginDevice{plugin("example.test/gpu", other, 1)}, nil},
		"another vendor":              {[]resourcev1.Device{gpu("g", address, 1)}, []node.PluginDevice{plugin("other.test/gpu", "0"), plugin("st/gpu", "0"), plugin("le.test/gpu", "1")}, nil},
		"it is proved":                {[]resourcev1.Device{gpu("g", address, 1)}, []node.PluginDevice{plugin("example.test/gpu", "0"), plugin("example.test/gpu", address+"::0"), plugin("example.test/gpu", address+"::1")}, nil},
		"DRA says nothing":            {[]resourcev1.Device{gpu("g", "", 1), gpu("h", other, 1)}, []node.PluginDevice{plugin("example.test/gpu", address)}, []string{"gpu.example.test/n1/g"}},
	} {
		t.Run(name, func(t *testing.T) {
			on := "n1"
			s := inspect.New(inspect.Objects{Slices: []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.test", NodeName: &on, Pool: resourcev1.ResourcePool{Name: on, ResourceSliceCount: 1}, Devices: test.devices}}}}, inspect.Config{})
			v := viewOf(node.View{Allocatable: node.Allocatable{Devices: test.plugins}})
			r := node.Join(v, s, "n1")
			h := node.FindHardware(address, "n1", r, v, s)
			var got []string
			for _, d := range h.PossibleDevices {
				got = append(got, d.String())
			}
			for _, d := range h.PossiblePlugins {
				got = append(got, d.Resource+"="+d.ID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("possibly the same (-want +got):\n%s", diff)
			}
			twice := slices.DeleteFunc(problemCodes(t, r), func(code string) bool { return code != string(node.OfferedTwice) })
			if proved := len(h.Devices) > 0 && len(h.Plugins) > 0; proved != (len(twice) == 1) {
				t.Errorf("offered twice: %v, proved: %v", twice, proved)
			}
		})
	}
}

// TestHardwareInUse has a card whose driver reports an interface, and which a container's status calls
// unhealthy.
func TestHardwareInUse(t *testing.T) {
	claim := claimObject("c", "u")
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "hw.example.test", Pool: "n1", Device: "card"}}}}
	claim.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "hw.example.test", Pool: "n1", Device: "other", NetworkData: &resourcev1.NetworkDeviceData{InterfaceName: "net0"}},
		{Driver: "hw.example.test", Pool: "n1", Device: "card", NetworkData: &resourcev1.NetworkDeviceData{InterfaceName: "net1", IPs: []string{"10.0.0.5/24"}, HardwareAddress: "0a:00"}}}
	pod := withHealth(podObject("p", corev1.PodRunning, "c"), "claim:c", unit("hw.example.test/n1/card", corev1.ResourceHealthStatusUnhealthy))
	pod = withHealth(pod, "example.com/nic", unit("0000:81:00.0", corev1.ResourceHealthStatusHealthy))
	on := "n1"
	s := cluster(inspect.Objects{Claims: []*resourcev1.ResourceClaim{claim}, Pods: []*corev1.Pod{pod}, Slices: []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "hw"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "hw.example.test", NodeName: &on, Pool: resourcev1.ResourcePool{Name: on, ResourceSliceCount: 1}, Devices: []resourcev1.Device{gpu("card", "0000:81:00.0", 1)}}}}})
	v := viewOf(node.View{Allocatable: node.Allocatable{Devices: []node.PluginDevice{{Resource: "example.com/nic", ID: "0000:81:00.0"}}}})
	h := node.FindHardware("0000:81:00.0", "n1", node.Join(v, s, "n1"), v, s)
	if len(h.Devices) != 1 || len(h.Plugins) != 1 {
		t.Fatalf("%+v", h)
	}
	if diff := cmp.Diff([]node.DeviceNetwork{{Claim: ref("c"), Interface: "net1", Addresses: []string{"10.0.0.5/24"}, Hardware: "0a:00"}}, h.Devices[0].Networks); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	if d := h.Devices[0].Health; len(d) != 1 || d[0].State != corev1.ResourceHealthStatusUnhealthy {
		t.Errorf("health of the device: %+v", d)
	}
	if d := h.Plugins[0].Health; len(d) != 1 || d[0].State != corev1.ResourceHealthStatusHealthy {
		t.Errorf("health of the device of a device plugin: %+v", d)
	}
}
