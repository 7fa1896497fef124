package allocator_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestTiedInALikeCluster: which slices several nodes share is found out again where the slices are others.
func TestTiedInALikeCluster(t *testing.T) {
	slice := func(name string, spec resourcev1.ResourceSliceSpec) *resourcev1.ResourceSlice {
		spec.Driver, spec.Pool = "gpu.example.com", resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}
		spec.Devices = []resourcev1.Device{{Name: "gpu-0"}}
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "c"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", Count: 1}}}
	claims := []*resourcev1.ResourceClaim{claim}
	s := inspect.New(inspect.Objects{
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		Slices:  []*resourcev1.ResourceSlice{slice("own", resourcev1.ResourceSliceSpec{NodeName: ptr.To("n1")})},
	}, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	before := allocator.NewCluster(s, allocator.Options{})
	if !before.Tied(t.Context(), claims) {
		t.Error("a pool of one node is not tied to it")
	}
	with := allocator.NewCluster(s.With(func(o *inspect.Objects) {
		o.Slices = append(o.Slices, slice("shelf", resourcev1.ResourceSliceSpec{AllNodes: ptr.To(true)}))
	}), allocator.Options{Like: before})
	if with.Tied(t.Context(), claims) {
		t.Error("a pool of all nodes is tied to one")
	}
	if !allocator.NewCluster(s, allocator.Options{Like: with}).Tied(t.Context(), claims) {
		t.Error("without the pool of all nodes again, the claim is not tied to its node")
	}
}
