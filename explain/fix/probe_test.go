package fix_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestCountBetween: three devices of the first request leave none for the second, whose selector fails on
// d01. With one device for the first the scheduler gives up; with two it finds d02 for the second.
func TestCountBetween(t *testing.T) {
	o := explaintest.NodesWithDevices(3)
	for _, i := range []int{0, 2} {
		o.Slices[0].Spec.Devices[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"x": {IntValue: ptr.To(int64(4))}}
	}
	claim := explaintest.GPUClaim(3, "any")
	second := *claim.Spec.Devices.Requests[0].DeepCopy()
	second.Name, second.Exactly.Count, second.Exactly.Selectors = "second", 1, explaintest.CELSelectors(explaintest.Attribute+"x == 4")
	claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, second)
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil || e.Verdict != explain.Unsatisfiable {
		t.Fatalf("%+v, %v", e, err)
	}
	checkFixes(t, e, "ReduceCount n0 1 replace /spec/devices/requests/0/exactly/count 2")
	changed := claim.DeepCopy()
	for count, want := range map[int64]bool{1: false, 2: true, 3: false} {
		if changed.Spec.Devices.Requests[0].Exactly.Count = count; fitsOn(t, o, changed, "n0") != want {
			t.Errorf("with %d devices the scheduler's allocator says something else", count)
		}
	}
}

// TestSelectorThatDoesNotCompile: it is behind one that is false for every device, and has to go as well.
func TestSelectorThatDoesNotCompile(t *testing.T) {
	o := explaintest.NodesWithAttributes("a")
	claim := explaintest.GPUClaim(1, "any")
	exact(claim).Selectors = explaintest.CELSelectors(explaintest.Attribute+"a == 5", explaintest.Attribute+"a = 4")
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil || e.Verdict != explain.Unsatisfiable || len(e.Fixes) == 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	f := &e.Fixes[0]
	if !fitsOn(t, o, patched(t, claim, f.Patch), "n0") {
		t.Errorf("%s: the scheduler's allocator finds nothing with %v", f.Message, f.Patch)
	}
	if len(f.OtherBlockers) != 1 || !f.OtherBlockers[0].Fails || f.OtherBlockers[0].Term != explaintest.Attribute+"a = 4" {
		t.Errorf("%s: also in the way %+v; want the selector that does not compile", f.Message, f.OtherBlockers)
	}
}
