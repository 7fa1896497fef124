package commit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// held is a claim that holds devices.
func held(name string, results ...resourcev1.DeviceRequestAllocationResult) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{}
	claim.Namespace, claim.Name = "ns", name
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	for _, r := range results {
		r.Driver, r.Pool = "d", "p"
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, r)
	}
	return claim
}

func whole(device string) resourcev1.DeviceRequestAllocationResult {
	return resourcev1.DeviceRequestAllocationResult{Device: device}
}

func share(device, amount string) resourcev1.DeviceRequestAllocationResult {
	id := types.UID(device + amount)
	return resourcev1.DeviceRequestAllocationResult{Device: device, ShareID: &id,
		ConsumedCapacity: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)}}
}

func admin(device string) resourcev1.DeviceRequestAllocationResult {
	yes := true
	return resourcev1.DeviceRequestAllocationResult{Device: device, AdminAccess: &yes}
}

func TestConflicts(t *testing.T) {
	w := newWorld(4)
	spec := &w.objects.Slices[0].Spec
	yes := true
	spec.Devices[1].AllowMultipleAllocations = &yes
	spec.Devices[1].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("10Gi")}}
	counter := func(n string) []resourcev1.DeviceCounterConsumption {
		return []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"slots": {Value: resource.MustParse(n)}}}}
	}
	spec.Devices[2].ConsumesCounters, spec.Devices[3].ConsumesCounters = counter("3"), counter("2")
	counters := w.objects.Slices[0].DeepCopy()
	counters.Name, counters.Spec.Devices = "counters", nil
	counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"slots": {Value: resource.MustParse("4")}}}}
	w.objects.Slices = append(w.objects.Slices, counters)

	device := func(name string) inspect.DeviceID { return inspect.DeviceID{Driver: "d", Pool: "p", Device: name} }
	b := []inspect.ClaimRef{ref("b")}
	tests := map[string]struct {
		ours  *resourcev1.ResourceClaim
		other []*resourcev1.ResourceClaim
		want  []DeviceConflict
	}{
		"different devices":         {held("a", whole("x0")), []*resourcev1.ResourceClaim{held("b", whole("x1"))}, nil},
		"one device":                {held("a", whole("x0")), []*resourcev1.ResourceClaim{held("b", whole("x0"))}, []DeviceConflict{{device("x0"), b}}},
		"admin access of another":   {held("a", whole("x0")), []*resourcev1.ResourceClaim{held("b", admin("x0"))}, nil},
		"admin access of ours":      {held("a", admin("x0")), []*resourcev1.ResourceClaim{held("b", whole("x0"))}, nil},
		"others among themselves":   {held("a", whole("x1")), []*resourcev1.ResourceClaim{held("b", whole("x0")), held("c", whole("x0"))}, nil},
		"shares that fit":           {held("a", share("x1", "4Gi")), []*resourcev1.ResourceClaim{held("b", share("x1", "6Gi"))}, nil},
		"shares that do not fit":    {held("a", share("x1", "5Gi")), []*resourcev1.ResourceClaim{held("b", share("x1", "6Gi"))}, []DeviceConflict{{device("x1"), b}}},
		"a share and the whole":     {held("a", share("x1", "1Gi")), []*resourcev1.ResourceClaim{held("b", whole("x1"))}, []DeviceConflict{{device("x1"), b}}},
		"counters overdrawn":        {held("a", whole("x2")), []*resourcev1.ResourceClaim{held("b", whole("x3"))}, []DeviceConflict{{device("x2"), b}}},
		"counters of one alone":     {held("a", whole("x2")), []*resourcev1.ResourceClaim{held("b", whole("x0"))}, nil},
		"counters and admin access": {held("a", whole("x2")), []*resourcev1.ResourceClaim{held("b", admin("x3"))}, nil},
		"a device that is gone":     {held("a", whole("gone")), []*resourcev1.ResourceClaim{held("b", whole("gone"))}, []DeviceConflict{{device("gone"), b}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLedger(w.snapshot(), append(test.other, test.ours))
			got := l.conflicts(map[inspect.ClaimRef]bool{ref("a"): true})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreadableAnnouncement(t *testing.T) {
	w := newWorld(1, "a", "z")
	w.claims[ref("z")].Annotations = map[string]string{Annotation: "{", "other": "stays"}
	w.claims[ref("z")].Finalizers = []string{resourcev1.Finalizer, "other"}
	if _, _, err := (&process{w: w}).committer("1").Allocate(t.Context(), wanting("a")); err != nil {
		t.Fatal(err)
	}
	inOrder(t, w, "a")
	z := w.claims[ref("z")]
	if z.Annotations["other"] != "stays" || len(z.Finalizers) != 1 || z.Finalizers[0] != "other" {
		t.Errorf("annotations %v, finalizers %v", z.Annotations, z.Finalizers)
	}
}
