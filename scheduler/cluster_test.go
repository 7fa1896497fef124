package scheduler

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestFiltersAreBuiltOnce: all questions about a cluster share one index, also those with another limit, and
// a cluster like it begins with that index, but says what is true of its own snapshot.
func TestFiltersAreBuiltOnce(t *testing.T) {
	of := func(names ...string) *inspect.Snapshot {
		var o inspect.Objects
		for _, name := range names {
			o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	}
	c := NewCluster(of("a"), Options{})
	index := c.Filters()
	if c.Filters() != index || c.WithStepLimit(7).Filters() != index {
		t.Error("the index was built again")
	}
	next := c.filters.next()
	if next.before != c.Filters() {
		t.Error("a cluster like it does not begin with its index")
	}
	if again := next.next(); again.before != c.Filters() {
		t.Error("an index that was never asked for is lost to the clusters after it")
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	like := NewCluster(of("a", "b"), Options{Like: c})
	if n := len(like.Filters().Prepare(pod).Snapshot().Nodes()); n != 2 {
		t.Errorf("it knows %d nodes", n)
	}
}

// TestClassDevices: whatever is published for a node counts, and is held unless only by admin access.
func TestClassDevices(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a"}}}
	slice := func(name string, change func(*resourcev1.ResourceSliceSpec)) *resourcev1.ResourceSlice {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: 9}, Devices: []resourcev1.Device{{Name: "0"}, {Name: "1", AllowMultipleAllocations: new(true)}},
		}}
		change(&s.Spec)
		return s
	}
	in := func(zone string) *corev1.NodeSelector {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}}
	}
	o := inspect.Objects{Nodes: []*corev1.Node{node}, Slices: []*resourcev1.ResourceSlice{
		slice("here", func(s *resourcev1.ResourceSliceSpec) { s.NodeName = new("n") }),
		slice("there", func(s *resourcev1.ResourceSliceSpec) { s.NodeName = new("other") }),
		slice("all", func(s *resourcev1.ResourceSliceSpec) { s.AllNodes = new(true) }),
		slice("zone-a", func(s *resourcev1.ResourceSliceSpec) { s.NodeSelector = in("a") }),
		slice("zone-b", func(s *resourcev1.ResourceSliceSpec) { s.NodeSelector = in("b") }),
		slice("each", func(s *resourcev1.ResourceSliceSpec) {
			s.PerDeviceNodeSelection, s.Devices[0].NodeName, s.Devices[1].NodeSelector = new(true), new("other"), in("a")
		}),
	}}
	for device, admin := range map[string]bool{"0": false, "1": true} {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: device}}
		claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Driver: "d", Pool: "here", Device: device, AdminAccess: &admin}, {Driver: "d", Pool: "there", Device: device},
		}}}
		o.Claims = append(o.Claims, claim)
	}
	c := NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), Options{})
	for expression, want := range map[string][2]int64{
		"": {7, 1}, `device.driver == "d"`: {7, 1}, `device.driver == "e"`: {0, 0}, `device.attributes["d"].none == 1`: {0, 0},
		"device.allowMultipleAllocations": {0, 0}, // which is not told
	} {
		class := &resourcev1.DeviceClass{}
		if expression != "" {
			class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
		}
		if all, held := c.ClassDevices(class, node); all != want[0] || held != want[1] {
			t.Errorf("%q: %d devices, %d held, want %v", expression, all, held, want)
		}
	}
}
