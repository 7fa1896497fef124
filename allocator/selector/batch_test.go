package selector_test

import (
	"context"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// TestBatch: a batch says of each device what the program says, also of those that differ only in whether
// they are shared, in their driver, or in that they cannot be converted.
func TestBatch(t *testing.T) {
	device := func(model string, shared bool) *resourcev1.Device {
		return &resourcev1.Device{AllowMultipleAllocations: ptr.To(shared), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}}}
	}
	broken := &resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {}}}
	devices := []*resourcev1.Device{device("A", false), device("A", true), device("B", false), {}, broken, device("A", false), {}, broken}
	for _, expression := range []string{
		`device.attributes["d.example.com"].model == "A"`, `device.allowMultipleAllocations`, `device.driver == "d.example.com"`, `no expression`,
	} {
		cache := func() *selector.Program {
			return selector.NewCache(selector.Features{ConsumableCapacity: true}).Selector(expression)
		}
		batch, ask := cache().Batch(), cache()
		for i, device := range devices {
			for _, driver := range []string{"d.example.com", "e.example.com"} {
				d := device.DeepCopy() // a device has one driver
				ok, err := batch.Match(context.Background(), driver, d)
				want, failure := ask.Match(context.Background(), driver, d)
				if ok != want || (err == nil) != (failure == nil) {
					t.Errorf("%s: device %d of %s: %t %v, want %t %v", expression, i, driver, ok, err, want, failure)
				}
			}
		}
	}
}
