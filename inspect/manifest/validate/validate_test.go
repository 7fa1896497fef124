package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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

// TestSince: 1.38 refuses some of what older API servers accept.
func TestSince(t *testing.T) {
	version := func(s string) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
		return map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"v": {VersionValue: &s}}
	}
	two := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}, {}}}
	requests := func(names ...resourcev1.QualifiedName) map[resourcev1.QualifiedName]resource.Quantity {
		out := map[resourcev1.QualifiedName]resource.Quantity{}
		for _, name := range names {
			out[name] = resource.MustParse("1")
		}
		return out
	}
	below := map[resourcev1.QualifiedName]resource.Quantity{"a": resource.MustParse("-1")}
	var many []resourcev1.QualifiedName
	for i := range 33 {
		many = append(many, resourcev1.QualifiedName(fmt.Sprint("x", i)))
	}
	device := func(d resourcev1.Device, perDevice bool) *resourcev1.ResourceSlice {
		d.Name = "d"
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d.example.com", Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1}, Devices: []resourcev1.Device{d},
		}}
		if s.Spec.AllNodes = ptr.To(true); perDevice {
			s.Spec.AllNodes, s.Spec.PerDeviceNodeSelection = nil, ptr.To(true)
		}
		return s
	}
	claim := func(requests, consumed map[resourcev1.QualifiedName]resource.Quantity) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}}
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "x", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, Capacity: &resourcev1.CapacityRequirements{Requests: requests},
		}}}
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "r", Driver: "d.example.com", Pool: "p", Device: "d", ConsumedCapacity: consumed},
		}}}
		return c
	}
	for name, test := range map[string]struct {
		object metav1.Object
		want   string // the path, or "" if nothing is refused
		since  int
	}{
		"two slashes":               {device(resourcev1.Device{Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"a/b/c": {}}}, false), "spec.devices[0].capacity[a/b/c]", 38},
		"two terms of a device":     {device(resourcev1.Device{NodeSelector: two}, true), "spec.devices[0].nodeSelector.nodeSelectorTerms", 38},
		"19 digits":                 {device(resourcev1.Device{Attributes: version("1.2.1234567890123456789")}, false), "spec.devices[0].attributes[v].version", 38},
		"19 digits of a preview":    {device(resourcev1.Device{Attributes: version("1.2.3-rc.1234567890123456789+b")}, false), "spec.devices[0].attributes[v].version", 38},
		"18 digits":                 {device(resourcev1.Device{Attributes: version("1.2.123456789012345678")}, false), "", 0},
		"19 digits of a build":      {device(resourcev1.Device{Attributes: version("1.2.3+1234567890123456789")}, false), "", 0},
		"19 digits and letters":     {device(resourcev1.Device{Attributes: version("1.2.3-a1234567890123456789-1")}, false), "", 0},
		"capacity of a request":     {claim(requests("a-b"), nil), "spec.devices.requests[0].exactly.capacity.requests[a-b]", 38},
		"33 capacities":             {claim(requests(many...), nil), "spec.devices.requests[0].exactly.capacity.requests", 38},
		"capacity that is used":     {claim(nil, requests("/b")), "status.allocation.devices.results[0].consumedCapacity[/b]", 38},
		"capacities that are fine":  {claim(requests("a", "d.example.com/a"), requests("a")), "", 0},
		"33 capacities are used":    {claim(nil, requests(many...)), "status.allocation.devices.results[0].consumedCapacity", 38},
		"less than nothing":         {claim(below, nil), "spec.devices.requests[0].exactly.capacity.requests[a]", 38},
		"less than nothing is used": {claim(nil, below), "status.allocation.devices.results[0].consumedCapacity[a]", 38},
		"name of an attribute":      {device(resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a-b": {IntValue: ptr.To(int64(1))}}}, false), "spec.devices[0].attributes[a-b]", 0},
	} {
		problems := validate.Object(test.object)
		if (test.want == "") != (len(problems) == 0) || len(problems) > 0 && (problems[0].Path != test.want || problems[0].Since != test.since) {
			t.Errorf("%s: %+v", name, problems)
		}
		if len(problems) > 0 && strings.HasSuffix(problems[0].Message, " (from Kubernetes 1.38 on)") != (test.since == 38) {
			t.Errorf("%s: %s", name, problems[0].Message)
		}
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
