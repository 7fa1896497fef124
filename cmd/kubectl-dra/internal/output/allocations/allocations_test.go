package allocations

import (
	"bytes"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDryRunsSaySo(t *testing.T) {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "a"}}
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Driver: "d", Pool: "p", Device: "x"}}
	for mode, want := range map[string]string{
		"":       "ml/a: d/p/x\nml/a: deallocated\n",
		"client": "ml/a: d/p/x (dry run)\nml/a: deallocated (dry run)\n",
		"server": "ml/a: d/p/x (server dry run)\nml/a: deallocated (server dry run)\n",
	} {
		var out bytes.Buffer
		if err := PrintAllocations(&out, []*resourcev1.ResourceClaim{claim}, mode); err != nil {
			t.Fatal(err)
		}
		if err := PrintDeallocations(&out, []*resourcev1.ResourceClaim{claim}, mode); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q: got %q, want %q", mode, out.String(), want)
		}
	}
}
