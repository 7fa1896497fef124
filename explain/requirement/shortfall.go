package requirement

import (
	"context"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// Shortfall is how much a node lacks. Of nodes with the same things in the way, the one that lacks least is
// the nearest.
type Shortfall struct {
	// Devices is the number of devices that are missing.
	Devices int
	// Capacity is the largest part of a requested capacity that is missing, in thousandths.
	Capacity int
}

// ShortfallOn returns what a node lacks for all requests, of alternatives for the one that lacks least.
func ShortfallOn(ctx context.Context, b *whatif.Sandbox) Shortfall {
	type place struct{ claim, request int }
	best := map[place]Shortfall{}
	for _, r := range b.RequestsExamined(ctx) {
		lacks := Shortfall{Devices: r.Needed, Capacity: capacityShortfall(b, &r)}
		for d := range r.Devices {
			if len(r.Devices[d].Failures) == 0 && lacks.Devices > 0 {
				lacks.Devices--
			}
		}
		at := place{r.Claim, r.Request}
		if other, ok := best[at]; !ok || lacks.Devices < other.Devices || lacks.Devices == other.Devices && lacks.Capacity < other.Capacity {
			best[at] = lacks
		}
	}
	var sum Shortfall
	for _, lacks := range best {
		sum.Devices += lacks.Devices
		sum.Capacity = max(sum.Capacity, lacks.Capacity)
	}
	return sum
}

// capacityShortfall is the part that is missing, on the device of a request that has most left, of the
// capacity of which most is missing. It is 0 if the devices have too little of none.
func capacityShortfall(b *whatif.Sandbox, r *allocator.ExaminedRequest) int {
	asked := *whatif.FieldsOf(b.Q.Claims, whatif.RefOf(r)).Capacity
	if asked == nil {
		return 0
	}
	most := 0
	for _, name := range slices.Sorted(maps.Keys(asked.Requests)) {
		wanted := asked.Requests[name]
		if left, ok := mostLeft(b, r, name); ok && wanted.Sign() > 0 && left.Cmp(wanted) < 0 {
			most = max(most, int(1000*(1-left.AsApproximateFloat64()/wanted.AsApproximateFloat64())))
		}
	}
	return most
}

// mostLeft is the most that a device of a request has left of a capacity. The result is false if no device
// has it.
func mostLeft(b *whatif.Sandbox, r *allocator.ExaminedRequest, name resourcev1.QualifiedName) (most resource.Quantity, found bool) {
	for _, d := range devicesFor(r) {
		if capacity, ok := d.Device.Capacity[name]; ok {
			if left := amountLeft(b, d.ID, name, capacity.Value); !found || left.Cmp(most) > 0 {
				most, found = left, true
			}
		}
	}
	return most, found
}
