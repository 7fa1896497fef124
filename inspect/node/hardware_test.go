package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestHardware has a GPU that DRA knows by both names and a device plugin by the other one, a part of it, and the same
// address on another node.
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
