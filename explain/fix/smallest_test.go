package fix_test

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestSmallestSetFirst: three claims hold the three devices that are wanted. Neither to ask for one nor to
// release a claim helps alone. Both together are two changes, and to release all claims is three.
func TestSmallestSetFirst(t *testing.T) {
	o := explaintest.NodesWithDevices(3)
	for i := range 3 {
		held := explaintest.GPUClaim(1, "any")
		held.Name = fmt.Sprintf("held-%d", i)
		held.Status.Allocation = &resourcev1.AllocationResult{}
		held.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: explaintest.Driver, Pool: "n0", Device: fmt.Sprintf("d%02d", i)},
		}
		held.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: held.Name, UID: "uid"}}
		o.Claims = append(o.Claims, held)
	}
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), explaintest.GPUClaim(3, "any"), question.Options{})
	if err != nil || e.Conflict == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	if e.Conflict.Sole {
		t.Error("the conflict is said to be all that is in the way")
	}
	var got []string
	for i := range e.Fixes {
		got = append(got, fmt.Sprint(describeFix(&e.Fixes[i]), e.Fixes[i].Also))
	}
	want := []string{
		"ReduceCount n0 1 replace /spec/devices/requests/0/exactly/count 1 ml/held-2" + fmt.Sprint([]explain.FixKind{explain.ReleaseClaim}),
		"ReleaseClaim n0 1 ml/held-0 ml/held-1 ml/held-2[]", "AddNode  1 like n0[]", "AddDevices n0 1[]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("fixes %q\nwant %q", got, want)
	}
}
