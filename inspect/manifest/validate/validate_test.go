package validate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
)

// TestObject: problems come with their paths, in the order of the fields. Package manifest tests the rules,
// on objects as they are written.
func TestObject(t *testing.T) {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r"}, {Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "x", AllocationMode: resourcev1.DeviceAllocationModeAll,
	}}}
	want := []validate.Problem{
		{Path: "spec.devices.requests[0]", Message: `Required value: exactly one of exactly and firstAvailable must be set`},
		{Path: "spec.devices.requests[1].name", Message: `Duplicate value: "r"`},
	}
	if diff := cmp.Diff(want, validate.Object(claim)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if problems := validate.Object(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "s"}}); len(problems) > 0 {
		t.Errorf("a class of another API has problems: %v", problems)
	}
}

// TestAllocations: what has no problem is looked at without spelling out the paths of all its fields. In the
// largest clusters these are millions.
func TestAllocations(t *testing.T) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	slice.Spec = resourcev1.ResourceSliceSpec{Driver: "d.example.com", NodeName: ptr.To("n"), Pool: resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1}}
	for i := range 100 {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name:       fmt.Sprintf("d%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To("a")}, "numa": {IntValue: ptr.To(int64(0))}},
			Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("1Gi")}},
		})
	}
	if problems := validate.Object(slice); len(problems) > 0 {
		t.Fatal(problems)
	}
	if n := testing.AllocsPerRun(10, func() { validate.Object(slice) }); n > 2000 {
		t.Errorf("%v allocations for 100 devices", n)
	}
}
