package validate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/validate"
)

// TestObject: problems come with their paths, in the order of the fields. Package manifest tests the rules, on
// objects as they are written.
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
