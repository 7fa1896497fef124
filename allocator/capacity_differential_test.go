package allocator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestDifferentialOfCapacities draws one capacity, its policy and a request from amounts that lie on
// and beside every boundary of the arithmetic: whole units, thousandths, what is neither, negative ones,
// the largest 64-bit numbers and larger ones.
func TestDifferentialOfCapacities(t *testing.T) {
	n := effort.Of(15_000, 1_000)
	rng := rand.New(rand.NewPCG(1, 2))
	amount := func(amounts ...string) *resource.Quantity { // "" is none
		text := amounts[rng.IntN(len(amounts))]
		if text == "" {
			return nil
		}
		return quantity(text)
	}
	outcomes := map[outcome]int{}
	for range n {
		capacity := resourcev1.DeviceCapacity{Value: *amount("10", "8Gi", "2500m", "1u", "0", "9223372036854775807", "18446744073709551616", "-1")}
		if rng.IntN(8) > 0 {
			capacity.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: amount("", "", "1", "1000m", "0", "100u", "2500m", "18446744073709551616", "-1")}
			switch rng.IntN(5) {
			case 0:
			case 1:
				for range 1 + rng.IntN(3) {
					capacity.RequestPolicy.ValidValues = append(capacity.RequestPolicy.ValidValues, *amount("0", "1", "4", "2500m", "1u", "18446744073709551616"))
				}
			default:
				r := &resourcev1.CapacityRequestPolicyRange{
					Min: amount("", "0", "1", "200m", "100u", "-3", "9223372036854775", "9223372036854775807"),
					Max: amount("", "", "8", "2500m", "100u", "9223372036854775807", "18446744073709551616"),
				}
				if r.Min != nil { // a step without a minimum, or of zero, makes the scheduler panic
					r.Step = amount("", "1", "3", "100m", "250m", "1u", "1Gi", "-1", "4611686018427387904")
				}
				capacity.RequestPolicy.ValidRange = r
			}
		}
		request := exactly("r", 1)
		if wanted := amount("", "0", "1", "2", "9", "500m", "250m", "1500m", "100u", "9223372036854775", "9223372036854775807",
			"9223372036854775808", "18446744073709551616", "1e30", "-1"); wanted != nil {
			request.Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"mem": *wanted}}
		}
		q := plainQuestion(1, request, exactly("another", int64(rng.IntN(2))))
		yes := true
		q.objects.Slices[0].Spec.Devices[0].AllowMultipleAllocations = &yes
		q.objects.Slices[0].Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"mem": capacity}
		q.setGates(map[inspect.Gate]bool{inspect.GateFractionalCapacityRange: rng.IntN(3) > 0})
		got := compare(q, nil)
		if got.differs != "" || got.panics > 0 {
			t.Fatalf("%s\n%s", fmt.Sprint(got), q)
		}
		outcomes[got.ours[0].outcome]++
	}
	t.Log(outcomes)
	for _, kind := range []outcome{gotDevices, gotNothing, gotAbort} {
		if outcomes[kind] < n/10 {
			t.Errorf("%s: only %d of %d", kind, outcomes[kind], n)
		}
	}
}
