package inspect

import (
	"iter"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// CounterID names a counter of a pool.
type CounterID struct{ Set, Counter string }

// CounterLevels are amounts of the counters of a pool, such as what is left of them. They can be negative
// when devices were allocated that together consume too much.
type CounterLevels map[CounterID]resource.Quantity

// Refill sets the counters of a set to their full amounts.
func (l CounterLevels) Refill(set *resourcev1.CounterSet) {
	for name, counter := range set.Counters {
		l[CounterID{set.Name, name}] = counter.Value
	}
}

// Take subtracts what a device consumes. Counters that do not exist are passed over.
func (l CounterLevels) Take(device *resourcev1.Device) {
	for id, amount := range Consumption(device) {
		if left, ok := l[id]; ok {
			left = left.DeepCopy()
			left.Sub(amount)
			l[id] = left
		}
	}
}

// Short returns the first counter, in the order of Consumption, of which too little is left for a device. It
// returns nil if the device fits.
func (l CounterLevels) Short(device *resourcev1.Device) *CounterID {
	for id, amount := range Consumption(device) {
		if left, ok := l[id]; !ok || left.Cmp(amount) < 0 {
			return &id
		}
	}
	return nil
}

// Consumption yields what a device consumes of the counters of its pool, in the order in which the device
// lists the sets, and of each set by the names of the counters.
func Consumption(device *resourcev1.Device) iter.Seq2[CounterID, resource.Quantity] {
	return func(yield func(CounterID, resource.Quantity) bool) {
		for i := range device.ConsumesCounters {
			c := &device.ConsumesCounters[i]
			for _, name := range slices.Sorted(maps.Keys(c.Counters)) {
				if !yield(CounterID{c.CounterSet, name}, c.Counters[name].Value) {
					return
				}
			}
		}
	}
}
