package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// fleet makes GPUs as large clusters have them: 5,000 nodes of 8, four models, a serial number each.
func fleet(n int) []Subject {
	subjects := make([]Subject, n)
	for i := range subjects {
		model := []string{"A100", "H100", "H200", "B200"}[i/64%4]
		memory := []string{"40Gi", "80Gi", "141Gi", "192Gi"}[i/64%4]
		str := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
		subjects[i] = Subject{Driver: "gpu.example.com", Device: &resourcev1.Device{
			Name: fmt.Sprintf("gpu-%d", i%8),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"type": str("gpu"), "productName": str("Example " + model), "architecture": str("Hopper"), "uuid": str(fmt.Sprintf("GPU-%08d", i)),
				"index": {IntValue: ptr.To(int64(i % 8))}, "driverVersion": {VersionValue: ptr.To([]string{"550.54.15", "580.65.6"}[i/512%2])},
				"cudaComputeCapability": {VersionValue: ptr.To("9.0.0")}, "resource.kubernetes.io/pcieRoot": str(fmt.Sprintf("pci%04d:00", i%4)),
				"resource.kubernetes.io/pciBusID": str(fmt.Sprintf("0000:%02x:00.0", i%8)), "brand": str("Example"),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
		}}
	}
	return subjects
}

const fourTerms = `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].productName == "Example H100" && ` +
	`device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0 && device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("560.0.0"))`

// BenchmarkTry tries a selector of four terms on 40,000 devices, whole and term by term, and compares
// with the scheduler's program run on each device for the whole alone.
//
//   - cold: the bench is new, nothing of the devices was looked at.
//   - typed: the bench is warm, the selector is new, as with every key that a user types.
//   - serials: the selector reads a value that is different on each device, so nothing is shared.
func BenchmarkTry(b *testing.B) {
	subjects := fleet(40_000)
	cache := selector.NewCache(selector.Features{ConsumableCapacity: true})
	warm := New(cache, subjects)
	n := 0
	variant := func() string { // another selector each time, so that nothing of it is known
		n++
		return fmt.Sprintf(`%s && %d == %d`, fourTerms, n, n)
	}
	measure := func(b *testing.B, bench func() *Bench, expression func() string) {
		one := time.Duration(1<<63 - 1)
		for range 2 { // the better of two, so that the ratio is not flattered
			one = min(one, evaluateEach(b, subjects, expression()))
		}
		var took time.Duration
		for b.Loop() {
			source, on := expression(), bench()
			start := time.Now()
			trial, err := on.Try(context.Background(), source)
			took += time.Since(start)
			if err != nil || trial.Failed > 0 || trial.Matched == 0 {
				b.Fatalf("%v, %+v", err, trial)
			}
		}
		each := took / time.Duration(b.N)
		b.ReportMetric(float64(each.Microseconds())/1000, "ms")
		b.ReportMetric(float64(one.Microseconds())/1000, "upstream-ms")
		b.ReportMetric(float64(one)/float64(each), "times-faster")
	}
	b.Run("cold", func(b *testing.B) {
		measure(b, func() *Bench { return New(cache, subjects) }, variant)
	})
	b.Run("typed", func(b *testing.B) {
		if _, err := warm.Try(context.Background(), variant()); err != nil {
			b.Fatal(err)
		}
		measure(b, func() *Bench { return warm }, variant)
	})
	b.Run("serials", func(b *testing.B) {
		measure(b, func() *Bench { return warm }, func() string {
			return variant() + ` && device.attributes["gpu.example.com"].uuid.startsWith("GPU-")`
		})
	})
}

// evaluateEach runs the scheduler's program on each device.
func evaluateEach(b *testing.B, subjects []Subject, expression string) time.Duration {
	start := time.Now()
	program := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, cel.Options{DisableCostEstimation: true})
	matched := 0
	for _, s := range subjects {
		ok, _, err := program.DeviceMatches(context.Background(), cel.Device{
			Driver: s.Driver, AllowMultipleAllocations: s.Device.AllowMultipleAllocations, Attributes: s.Device.Attributes, Capacity: s.Device.Capacity,
		})
		if err != nil {
			b.Fatal(err)
		}
		if ok {
			matched++
		}
	}
	if matched == 0 {
		b.Fatal("nothing matches")
	}
	return time.Since(start)
}
