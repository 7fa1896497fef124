package detail

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// classOf is a class of the devices of a model, and a cluster of nodes with eight devices each, of two
// models.
func classOf(tb testing.TB, nodes int) (*screen.World, *resourcev1.DeviceClass) {
	tb.Helper()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "h100"}}
	for _, expression := range []string{`device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].model == "H100"`} {
		class.Spec.Selectors = append(class.Spec.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}})
	}
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{class}}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &name, Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
		for i := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"uuid":  {StringValue: ptr.To(fmt.Sprintf("%s-%d", name, i))},
				"model": {StringValue: ptr.To([]string{"H100", "A100"}[n%2])},
			}})
		}
		o.Slices = append(o.Slices, slice)
	}
	return screentest.World(tb, o), class
}

// TestClassCost: to count the devices of a class costs no memory for each of them that looks like others to
// its selectors.
func TestClassCost(t *testing.T) {
	var worlds []*screen.World // each knows nothing of the devices yet
	for range 3 {
		w, _ := classOf(t, 500)
		w.Cluster()
		w.Devices()
		worlds = append(worlds, w)
	}
	_, class := classOf(t, 1)
	cost := testing.AllocsPerRun(len(worlds)-1, func() {
		s, w := &sheet{}, worlds[0]
		worlds = worlds[1:]
		addMatching(t.Context(), s, w, class)
		if got := s.parts[0].line.String(); got != "2000 devices, 2000 of them free" {
			t.Fatal(got)
		}
	})
	if cost > 2000 { // with some for each device it is 8,000 and more
		t.Errorf("%.0f allocations for 4,000 devices of two models", cost)
	}
}

// BenchmarkClass counts the devices that a class selects in a cluster of 200,000.
func BenchmarkClass(b *testing.B) {
	w, class := classOf(b, 25_000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		w = screentest.World(b, *w.Snapshot.Objects()) // which knows nothing of the devices yet
		w.Cluster()
		w.Devices()
		b.StartTimer()
		s := &sheet{}
		addMatching(b.Context(), s, w, class)
		if got := s.parts[0].line.String(); got != "100000 devices, 100000 of them free" {
			b.Fatal(got)
		}
	}
}
