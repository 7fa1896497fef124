package commit

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestSharedAndWhole has two claims hold one device, as shares or as a whole.
func TestSharedAndWhole(t *testing.T) {
	for name, tt := range map[string]struct {
		shareable   bool
		ours, other bool // a share
		conflict    bool
	}{
		"both as a whole": {conflict: true},
		"a whole beside the share of a device that was":   {other: true},
		"a whole beside the share of a shareable device":  {shareable: true, other: true, conflict: true},
		"a share beside a whole of a shareable device":    {shareable: true, ours: true, conflict: true},
		"two shares of a shareable device":                {shareable: true, ours: true, other: true},
		"two shares of a device that is no longer shared": {ours: true, other: true},
	} {
		t.Run(name, func(t *testing.T) {
			slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
				Driver: "d", Pool: resourcev1.ResourcePool{Name: "p"},
				Devices: []resourcev1.Device{{Name: "d1", AllowMultipleAllocations: &tt.shareable}},
			}}
			snapshot := inspect.New(inspect.Objects{Slices: []*resourcev1.ResourceSlice{slice}}, inspect.Config{})
			claims := []*resourcev1.ResourceClaim{holderOf("ours", tt.ours), holderOf("other", tt.other)}
			conflicts := newLedger(snapshot, claims).conflicts(map[inspect.ClaimRef]bool{inspect.RefOf(claims[0]): true})
			if (len(conflicts) > 0) != tt.conflict {
				t.Errorf("conflicts %v, want any: %v", conflicts, tt.conflict)
			}
		})
	}
}

func holderOf(name string, share bool) *resourcev1.ResourceClaim {
	result := resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: "d", Pool: "p", Device: "d1"}
	if share {
		id := types.UID("share-of-" + name)
		result.ShareID = &id
	}
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{
			Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{result}},
		}},
	}
}
