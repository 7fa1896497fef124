package bench

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// TestHideSharing checks that everything that evaluates or shows an expression agrees about
// allowMultipleAllocations.
func TestHideSharing(t *testing.T) {
	const expression = "device.allowMultipleAllocations"
	for _, hide := range []bool{false, true} {
		device := &resourcev1.Device{Name: "d", AllowMultipleAllocations: ptr.To(true)}
		cache := selector.NewCache(selector.Features{ConsumableCapacity: true, HideSharing: hide})
		for name, c := range map[string]*selector.Cache{"cache": cache, "fresh cache": cache.Fresh()} {
			if ok, err := c.Selector(expression).Match(t.Context(), "driver", device); err != nil || ok == hide {
				t.Errorf("%s, hidden %v: match %v, %v", name, hide, ok, err)
			}
			terms := c.Terms(t.Context(), expression, "driver", device)
			if want := map[bool]string{false: "true", true: "false"}[hide]; len(terms) != 1 || terms[0].Match == hide || terms[0].Reads[0].Value != want {
				t.Errorf("%s, hidden %v: terms %+v", name, hide, terms)
			}
			trial, err := New(c, []Subject{{Driver: "driver", Device: device}}).Try(t.Context(), expression)
			if err != nil {
				t.Fatal(err)
			}
			if got := trial.Outcomes[0].Result == Match; got == hide {
				t.Errorf("%s, hidden %v: the bench says match %v", name, hide, got)
			}
		}
		if device.AllowMultipleAllocations == nil {
			t.Error("the device was changed")
		}
	}
}
