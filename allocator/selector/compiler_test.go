package selector

import (
	"fmt"
	"testing"
)

// TestFeaturesBackAndForth: what is kept of environments does not grow with the number of times that features
// change.
func TestFeaturesBackAndForth(t *testing.T) {
	kept := func() int {
		n := 0
		trackers.Range(func(any, any) bool { n++; return true })
		return n
	}
	for i := range 20 {
		cache := NewLibrary().Cache(Features{ConsumableCapacity: i%2 == 0, ListTypeAttributes: i%4 < 2})
		program := cache.Selector(fmt.Sprintf("device.driver == 'a%d'", i))
		if reads := program.Reads(); reads.Everything {
			t.Fatalf("%s reads everything", program.Expression())
		}
	}
	if n := kept(); n > 4 {
		t.Errorf("%d environments are kept for 4 sets of features", n)
	}
}
