package fit_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// crowdedNode is a cluster of one node with many devices, which have different serial numbers.
func crowdedNode(devices int) inspect.Objects {
	const node = "crowded"
	o := inspect.Objects{
		Nodes:   []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: node}}},
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: explaintest.CELSelectors(`device.driver == "gpu.example.com"`)}}},
	}
	const perSlice = 100
	for d := range devices {
		if d%perSlice == 0 {
			o.Slices = append(o.Slices, &resourcev1.ResourceSlice{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("slice-%05d", d)},
				Spec: resourcev1.ResourceSliceSpec{Driver: explaintest.Driver, NodeName: ptr.To(node), Pool: resourcev1.ResourcePool{
					Name: node, Generation: 1, ResourceSliceCount: int64((devices + perSlice - 1) / perSlice)}},
			})
		}
		s := &o.Slices[len(o.Slices)-1].Spec
		s.Devices = append(s.Devices, resourcev1.Device{
			Name: fmt.Sprintf("gpu-%05d", d),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: ptr.To("H100")}, "numa": {IntValue: ptr.To(int64(d % 8))}, "uuid": {StringValue: ptr.To(fmt.Sprintf("GPU-%05d", d))},
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
		})
	}
	return o
}

// crowdedQuestions are claims of which more copies are counted.
func crowdedQuestions() map[string]*resourcev1.ResourceClaim {
	numa := resourcev1.FullyQualifiedName(explaintest.Driver + "/numa")
	plain, pair, selected := explaintest.GPUClaim(1, "gpu"), explaintest.GPUClaim(2, "gpu", resourcev1.DeviceConstraint{MatchAttribute: &numa}), explaintest.GPUClaim(1, "gpu")
	selected.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(`device.attributes["gpu.example.com"].uuid.endsWith("0")`)
	return map[string]*resourcev1.ResourceClaim{"plain": plain, "pair": pair, "selected": selected}
}

// BenchmarkFit counts the copies that fit on a crowded node.
func BenchmarkFit(b *testing.B) {
	for _, name := range []string{"plain", "pair", "selected"} {
		for _, devices := range []int{500, 2000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", name, devices), func(b *testing.B) {
				o, claim := crowdedNode(devices), crowdedQuestions()[name]
				b.ReportAllocs()
				for b.Loop() {
					s := inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
					f, err := fit.Claim(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), claim, question.Options{})
					if err != nil || f.Total == 0 {
						b.Fatal(err, f)
					}
					b.ReportMetric(float64(f.Total), "copies")
				}
			})
		}
	}
}

// TestFitOfCrowdedNode checks what counting costs. All copies are the same claim, which is examined once. To
// examine every copy takes 2 GB for 10,000 devices, and minutes for pairs that have to have something in
// common.
func TestFitOfCrowdedNode(t *testing.T) {
	tests := []struct {
		question        string
		devices, copies int
		atLeast         bool
		bytes           uint64
	}{
		{"plain", 500, 500, false, 50 << 20},
		{"pair", 500, 248, false, 50 << 20}, // 4 NUMA nodes of 63 devices, 4 of 62
		{"plain", 10_000, 1024, true, 150 << 20},
		{"selected", 2_000, 200, false, 100 << 20},
	}
	for _, tt := range tests {
		s := inspect.New(crowdedNode(tt.devices), inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
		claim := crowdedQuestions()[tt.question]
		bytes := allocatedBy(func() {
			f, err := fit.Claim(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), claim, question.Options{})
			if err != nil || f.Total != tt.copies || f.AtLeast != tt.atLeast {
				t.Errorf("%s of %d: %+v, want %d copies: %v", tt.question, tt.devices, f, tt.copies, err)
			}
		})
		if bytes > tt.bytes {
			t.Errorf("%s of %d: %d MiB allocated, want at most %d", tt.question, tt.devices, bytes>>20, tt.bytes>>20)
		}
	}
}

// allocatedBy is the number of bytes that f allocates.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
