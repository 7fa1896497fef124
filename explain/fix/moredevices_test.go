package fix_test

import (
	"context"
	"slices"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// TestAddDevices adds the device that a fix says in words, and checks that it helps.
func TestAddDevices(t *testing.T) {
	e, err := question.Claim(context.Background(), explaintest.DemoCluster(t), inspect.ClaimRef{Namespace: "ml", Name: "train-0"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Message == "add 1 device like gpu-0 to gpu-b-04" }) {
		t.Fatalf("no such fix: %+v", e.Fixes)
	}
	o, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, slice := range o.Slices {
		if slice.Spec.Pool.Name == "gpu-b-04" && slice.Spec.Driver == "gpu.example.com" {
			like := slice.Spec.Devices[0].DeepCopy()
			like.Name = "gpu-8"
			slice.Spec.Devices = append(slice.Spec.Devices, *like)
		}
	}
	at := slices.IndexFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == "train-0" })
	claim := o.Claims[at]
	if !fitsOn(t, o, claim, "gpu-b-04") {
		t.Error("a ninth GPU does not help")
	}
}

// TestAddDevicesOfOtherNodes asks for devices of several drivers, which no node has. Devices like those of
// other nodes have to be added.
func TestAddDevicesOfOtherNodes(t *testing.T) {
	request := func(name, class string) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
		}}
	}
	gpu, mig, fpga := request("gpu", "gpu.example.com"), request("mig", "mig.example.com"), request("fpga", "fpga.example.com")
	for _, tt := range []struct {
		name     string
		requests []resourcev1.DeviceRequest
		want     string
	}{
		{"one", []resourcev1.DeviceRequest{gpu, mig}, "add 1 device like mig.example.com/mig-01/gpu-0 to gpu-b-04"},
		// The only FPGA that reaches gpu-b-04 is held.
		{"two", []resourcev1.DeviceRequest{gpu, fpga, mig}, "add 1 device like fpga-0 and 1 device like mig.example.com/mig-01/gpu-0 to gpu-b-04"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "mixed"}}
			claim.Spec.Devices.Requests = tt.requests
			e, err := question.ClaimObject(context.Background(), explaintest.DemoCluster(t), claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Fixes) != 1 || e.Fixes[0].Kind != explain.AddDevices || e.Fixes[0].Message != tt.want {
				t.Errorf("fixes %+v", e.Fixes)
			}
		})
	}
}

// TestFewestDevices: of the devices that could be added, that one is proposed of which fewest are needed. The
// claim wants four on one NUMA node. The first has eight, of which two can be had, and the second, whose
// devices come last, has three.
func TestFewestDevices(t *testing.T) {
	o := numaNode(8, 3)
	for i := range o.Slices[0].Spec.Devices {
		d := &o.Slices[0].Spec.Devices[i]
		d.Attributes["uuid"] = resourcev1.DeviceAttribute{StringValue: ptr.To("uuid of " + d.Name)}
		if i < 6 {
			d.Taints = []resourcev1.DeviceTaint{{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
		}
	}
	claim := explaintest.GPUClaim(4, "any", resourcev1.DeviceConstraint{MatchAttribute: ptr.To[resourcev1.FullyQualifiedName]("gpu.example.com/numa")})
	e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Message == "add 1 device like d08 to n0" }) {
		t.Errorf("no single device of the second NUMA node among %+v", e.Fixes)
	}
}
