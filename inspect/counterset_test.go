package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// TestCounterSets: of each physical device, what still fits; together the sets have what the pool has.
func TestCounterSets(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	all := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health()}).Inventory()
	seen := 0
	for _, stock := range all.Stocks {
		pool := &stock.Pool
		var counters []inspect.CounterStatus
		devices, fits := 0, map[string]int{}
		for _, set := range all.CounterSets(pool.ID) {
			seen++
			counters = append(counters, set.Counters...)
			devices += len(set.Devices)
			for _, k := range set.Fits {
				fits[k.Kind] += k.Fits
			}
		}
		if diff := cmp.Diff(pool.Counters, counters); diff != "" {
			t.Errorf("counters of %s (-pool +sets):\n%s", pool.ID, diff)
		}
		if want := pool.Devices.Total - pool.Whole.Total; len(pool.Counters) > 0 && devices != want {
			t.Errorf("%s has %d devices that draw on counters, its sets %d", pool.ID, want, devices)
		}
		for _, k := range pool.Fits { // devices of the demo draw on one set each
			if fits[k.Kind] != k.Fits {
				t.Errorf("%d × %s fit into %s, %d into its sets", k.Fits, k.Kind, pool.ID, fits[k.Kind])
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d counter sets, want 4", seen)
	}
	if sets := all.CounterSets(inspect.PoolID{Driver: "none"}); sets != nil {
		t.Errorf("a pool that does not exist has %v", sets)
	}
}
