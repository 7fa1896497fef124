package fix_test

import (
	"context"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestWiderConstraint asks for two devices on one PCIe root in a cluster that has them only on one NUMA node.
// An attribute that all devices have in common is not proposed.
func TestWiderConstraint(t *testing.T) {
	o := explaintest.NodesWithDevices(4)
	for i := range o.Slices[0].Spec.Devices {
		o.Slices[0].Spec.Devices[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"resource.kubernetes.io/pcieRoot": {StringValue: ptr.To(string(rune('a' + i)))},
			"numa":                            {IntValue: ptr.To(int64(i / 2))},
			"odd":                             {BoolValue: ptr.To(i%2 == 1)},
			"model":                           {StringValue: ptr.To("m")},
		}
	}
	claim := explaintest.GPUClaim(2, "any", resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("resource.kubernetes.io/pcieRoot"))})
	e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, `DropConstraint n0 1 replace /spec/devices/constraints/0/matchAttribute "gpu.example.com/numa"`, "DropConstraint n0 1 remove /spec/devices/constraints/0")
	for i := range e.Fixes {
		if len(e.Fixes[i].Patch) > 0 && !fitsOn(t, o, patched(t, claim, e.Fixes[i].Patch), "n0") {
			t.Errorf("does not help: %+v", e.Fixes[i])
		}
		if strings.Contains(e.Fixes[i].Message, "model") {
			t.Errorf("no constraint at all: %+v", e.Fixes[i])
		}
	}
}
