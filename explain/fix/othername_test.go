package fix_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

const cpuOfDriver = explaintest.Driver + "/cpu"

// sharedCPUs is a node with a device of 40 CPUs that several claims can share, named with the domain of the
// driver.
func sharedCPUs() inspect.Objects {
	o := explaintest.NodesWithDevices(1)
	d := &o.Slices[0].Spec.Devices[0]
	d.AllowMultipleAllocations = ptr.To(true)
	d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{cpuOfDriver: {Value: resource.MustParse("40")}}
	d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"numaNodeID": {IntValue: ptr.To(int64(0))}}
	return o
}

// cpuClaim asks for an amount of a capacity, or for no amount if the name is "".
func cpuClaim(name resourcev1.QualifiedName, amount string) *resourcev1.ResourceClaim {
	claim := explaintest.GPUClaim(1, "any")
	if name != "" {
		claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{
			Requests: map[resourcev1.QualifiedName]resource.Quantity{name: resource.MustParse(amount)},
		}
	}
	return claim
}

// held is a claim that has a share of the device.
func held(amount string) *resourcev1.ResourceClaim {
	claim := cpuClaim(cpuOfDriver, amount)
	claim.Name = "held"
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{
		Request: "gpu", Driver: explaintest.Driver, Pool: "n0", Device: "d00", ShareID: ptr.To[types.UID]("3b7e9a52-3f4a-4b0c-9b59-5d7d5f0b6a11"),
		ConsumedCapacity: map[resourcev1.QualifiedName]resource.Quantity{cpuOfDriver: resource.MustParse(amount)},
	}}}}
	return claim
}

func explained(t *testing.T, o inspect.Objects, claim *resourcev1.ResourceClaim, minor int) *explain.Explanation {
	t.Helper()
	c := scheduler.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(minor)}), scheduler.Options{})
	e, err := question.ClaimObject(context.Background(), c, claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCapacityByItsName: the fix of a capacity that no device has by its name is the name that devices have
// for it.
func TestCapacityByItsName(t *testing.T) {
	for _, name := range []resourcev1.QualifiedName{"cpu", "cpus", "other.example.com/cpu"} {
		e := explained(t, sharedCPUs(), cpuClaim(name, "8"), inspect.NewestMinor)
		if len(e.Fixes) == 0 || e.Fixes[0].Kind != explain.UseCapacity || !strings.Contains(e.Fixes[0].Message, "ask for the capacity "+cpuOfDriver) {
			t.Errorf("%s: %+v", name, e.Fixes)
			continue
		}
		want := []explain.PatchOperation{
			{Op: "remove", Path: "/spec/devices/requests/0/exactly/capacity/requests/" + strings.ReplaceAll(string(name), "/", "~1")},
			{Op: "add", Path: "/spec/devices/requests/0/exactly/capacity/requests/gpu.example.com~1cpu", Value: "8"},
		}
		if got := e.Fixes[0].Patch; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: patch %v", name, got)
		}
		if !strings.Contains(e.Conflict.Requirements[0].Actual, "but there is "+cpuOfDriver) {
			t.Errorf("%s: %s", name, e.Conflict.Requirements[0].Sentence())
		}
	}
	if e := explained(t, sharedCPUs(), cpuClaim("memory", "8"), inspect.NewestMinor); len(e.Fixes) != 1 || e.Fixes[0].Kind != explain.ReduceCapacity {
		t.Errorf("a capacity that nothing resembles: %+v", e.Fixes)
	}
}

// TestCapacityWithoutDomain: since 1.38 a capacity without a domain is that of the driver, also for what is
// said of it.
func TestCapacityWithoutDomain(t *testing.T) {
	for name, want := range map[resourcev1.QualifiedName]explain.Verdict{"cpu": explain.Allocatable, cpuOfDriver: explain.Allocatable, "memory": explain.Unsatisfiable} {
		if e := explained(t, sharedCPUs(), cpuClaim(name, "8"), 38); e.Verdict != want {
			t.Errorf("%s: %s, want %s: %v", name, e.Verdict, want, e.Partial)
		}
	}
	o := sharedCPUs()
	o.Claims = append(o.Claims, held("10"))
	e := explained(t, o, cpuClaim("cpu", "38"), 38)
	if !strings.Contains(e.Message, "no more than 30 can be had") || len(e.Fixes) == 0 || !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Message == "ask for 30 of cpu instead of 38" }) {
		t.Errorf("%q, fixes %+v", e.Message, e.Fixes)
	}
}

// TestLessOfImplied: who asks for no amount gets the whole, or the default of the policy; to ask for what is
// left helps.
func TestLessOfImplied(t *testing.T) {
	for _, tt := range []struct{ standard, held, needed, left string }{{"", "10", "40", "30"}, {"20", "25", "20", "15"}} {
		o := sharedCPUs()
		o.Claims = append(o.Claims, held(tt.held))
		if tt.standard != "" {
			capacity := o.Slices[0].Spec.Devices[0].Capacity[cpuOfDriver]
			capacity.RequestPolicy = &resourcev1.CapacityRequestPolicy{
				Default: ptr.To(resource.MustParse(tt.standard)), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: ptr.To(resource.MustParse("1"))},
			}
			o.Slices[0].Spec.Devices[0].Capacity[cpuOfDriver] = capacity
		}
		e := explained(t, o, cpuClaim("", ""), inspect.NewestMinor)
		if want := "none has " + tt.needed + " of " + cpuOfDriver + " left"; !strings.Contains(e.Message, want) {
			t.Errorf("%q lacks %q", e.Message, want)
		}
		found := false
		for i := range e.Fixes {
			f := &e.Fixes[i]
			if f.Kind == explain.ReduceCapacity && f.Message == "ask for at most "+tt.left+" of "+cpuOfDriver {
				found = len(f.Patch) == 1 && f.Patch[0].Op == "add" && f.Patch[0].Path == "/spec/devices/requests/0/exactly/capacity"
			}
		}
		if !found {
			t.Errorf("no fix asks for %s: %+v", tt.left, e.Fixes)
		}
	}
}

// TestAttributeByItsName: of a constraint on an attribute that no device has, the names that devices have are
// told, and one with which it fits is a fix.
func TestAttributeByItsName(t *testing.T) {
	o := sharedCPUs()
	claim := explaintest.GPUClaim(1, "any", resourcev1.DeviceConstraint{MatchAttribute: ptr.To[resourcev1.FullyQualifiedName]("resource.kubernetes.io/numaNode")})
	e := explained(t, o, claim, inspect.NewestMinor)
	if e.Conflict == nil || !strings.Contains(e.Conflict.Requirements[0].Actual, "no device here has it, but there is gpu.example.com/numaNodeID") {
		t.Errorf("conflict %+v", e.Conflict)
	}
	if len(e.Fixes) == 0 || len(e.Fixes[0].Patch) != 1 || e.Fixes[0].Patch[0].Value != "gpu.example.com/numaNodeID" {
		t.Errorf("fixes %+v", e.Fixes)
	}
}
