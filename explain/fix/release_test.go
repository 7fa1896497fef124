package fix_test

import (
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// heldBy has one node of which each device is held by a claim, held-0 and so on, that is reserved for so many
// pods.
func heldBy(pods ...int) inspect.Objects {
	o := explaintest.NodesWithDevices(len(pods))
	for i, n := range pods {
		c := explaintest.GPUClaim(1, "any")
		c.Name = fmt.Sprintf("held-%d", i)
		c.Status.Allocation = &resourcev1.AllocationResult{}
		c.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: explaintest.Driver, Pool: "n0", Device: fmt.Sprintf("d%02d", i)},
		}
		for p := range n {
			name := fmt.Sprintf("pod-%d-%d", i, p)
			c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: types.UID(name)})
		}
		o.Claims = append(o.Claims, c)
	}
	return o
}

// TestReleasesDisturbLeast: of the claims that could be released, those are named whose release disturbs the
// fewest pods.
func TestReleasesDisturbLeast(t *testing.T) {
	for _, tt := range []struct {
		pods  []int
		count int64
		want  string
	}{
		{[]int{5, 4, 3, 2, 1}, 1, "held-4, held-3, held-2"},
		{[]int{1, 2, 3, 4, 5}, 1, "held-0, held-1, held-2"},
		{[]int{5, 1, 4, 2}, 2, "held-1 held-3"},
		{[]int{5, 4, 3, 2, 1}, 3, "held-2 held-3 held-4"},
	} {
		claim := explaintest.GPUClaim(tt.count, "any")
		e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(heldBy(tt.pods...)), claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range e.Fixes {
			var names []string
			for _, h := range f.Claims {
				names = append(names, h.Claim.Name)
			}
			if f.Kind == explain.ReleaseClaim && len(f.Also) == 0 {
				got = append(got, strings.Join(names, " "))
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%d devices of claims with %v pods: released are %q, want %q", tt.count, tt.pods, got, tt.want)
		}
	}
}

// TestTaintsByEffect: a device with a taint. Both effects keep it from a claim that does not tolerate them,
// and what is proposed is to tolerate the one that it is.
func TestTaintsByEffect(t *testing.T) {
	for effect, want := range map[resourcev1.DeviceTaintEffect]string{
		resourcev1.DeviceTaintEffectNone:       "",
		resourcev1.DeviceTaintEffectNoSchedule: "broken:NoSchedule",
		resourcev1.DeviceTaintEffectNoExecute:  "broken:NoExecute",
	} {
		o, claim := explaintest.NodesWithDevices(1), explaintest.GPUClaim(1, "any")
		o.Slices[0].Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "broken", Effect: effect}}
		e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Verdict == explain.Allocatable; got != (want == "") || got != fitsOn(t, o, claim, "n0") {
			t.Errorf("%s: %s", effect, e.Verdict)
		}
		if want == "" {
			continue
		}
		if e.Conflict == nil || len(e.Conflict.Requirements) != 1 || e.Conflict.Requirements[0].Taint != want {
			t.Errorf("%s: conflict %+v, want the taint", effect, e.Conflict)
		}
		if len(e.Fixes) == 0 || e.Fixes[0].Kind != explain.TolerateTaint || !fitsOn(t, o, patched(t, claim, e.Fixes[0].Patch), "n0") {
			t.Errorf("%s: fixes %+v, want one that tolerates the taint", effect, e.Fixes)
		}
	}
}
