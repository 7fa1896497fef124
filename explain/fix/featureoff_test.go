package fix_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// without explains a claim while a feature gate is off.
func without(t *testing.T, gate inspect.Gate, o inspect.Objects, claim *resourcev1.ResourceClaim) *explain.Explanation {
	t.Helper()
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{gate: false})
	c := scheduler.NewCluster(inspect.New(o, inspect.Config{Features: features}), scheduler.Options{})
	e, err := question.ClaimObject(context.Background(), c, claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func turnsOn(e *explain.Explanation, gate inspect.Gate) bool {
	return slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool {
		return f.Kind == explain.EnableFeature && f.Nodes == 1 && strings.Contains(f.Message, string(gate))
	})
}

// TestSlicesIgnoredWithoutAFeature: slices that the scheduler passes over while a gate is off are not said to
// be missing. The gate is named, and to turn it on is a fix, whether or not the pool has other slices.
func TestSlicesIgnoredWithoutAFeature(t *testing.T) {
	grouped := func(o *inspect.Objects, i int) {
		o.Slices[i].Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{
			CounterSet: "set", CompatibilityGroups: []string{"a"}, Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse("1")}},
		}}
		counters := o.Slices[i].DeepCopy()
		counters.Name += "-counters"
		counters.Spec.Devices = nil
		counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse("1")}}}}
		o.Slices[i].Spec.Pool.ResourceSliceCount, counters.Spec.Pool.ResourceSliceCount = 2, 2
		o.Slices = append(o.Slices, counters)
	}
	o := explaintest.NodesWithDevices(1)
	grouped(&o, 0)
	e := without(t, inspect.GateDeviceCompatibilityGroups, o, explaintest.GPUClaim(1, "any"))
	if !turnsOn(e, inspect.GateDeviceCompatibilityGroups) {
		t.Errorf("%s: %+v", e.Message, e.Fixes)
	}
	for _, g := range e.Groups {
		for _, r := range g.Reasons {
			if r.Code == allocator.PoolIncomplete {
				t.Errorf("said of a pool that is complete: %s", r.Message)
			}
		}
	}
	if !strings.Contains(e.Message, "is off, so slices of pool gpu.example.com/n0 are ignored") {
		t.Error(e.Message)
	}
}

// TestSayingSomethingOfAdminAccess: while the feature is off, a claim may not even say that it wants no admin
// access.
func TestSayingSomethingOfAdminAccess(t *testing.T) {
	claim := explaintest.GPUClaim(1, "any")
	claim.Spec.Devices.Requests[0].Exactly.AdminAccess = ptr.To(false)
	e := without(t, inspect.GateAdminAccess, explaintest.NodesWithDevices(1), claim)
	if e.Verdict != explain.Invalid || !turnsOn(e, inspect.GateAdminAccess) {
		t.Errorf("%s: %+v", e.Verdict, e.Fixes)
	}
}

// TestNothingHelpsAlone: where no single change helps, that is said.
func TestNothingHelpsAlone(t *testing.T) {
	claim := explaintest.GPUClaim(20, "any")
	second := *claim.Spec.Devices.Requests[0].DeepCopy()
	second.Name = "more"
	second.Exactly.Selectors = explaintest.CELSelectors(explaintest.Attribute + `missing == "x"`)
	claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, second)
	e := without(t, inspect.GateAdminAccess, explaintest.NodesWithDevices(40), claim)
	if e.Verdict != explain.Invalid || len(e.Fixes) > 0 || len(e.NoHelp) != 1 {
		t.Errorf("%s: %s; fixes %+v, %v", e.Verdict, e.Message, e.Fixes, e.NoHelp)
	}
}
