package inspect

import (
	"slices"
)

// CounterSetStatus is a counter set of a pool, most often a physical device that can be cut into partitions,
// with what is left of it.
type CounterSetStatus struct {
	Set string
	// Counters are those of the set, sorted by name.
	Counters []CounterStatus
	// Devices are those that draw on the set before any other, sorted by name.
	Devices []*DeviceStatus
	// Fits says how many more of each kind of the Devices still fit, as in PoolStatus: if nothing else is
	// taken.
	Fits []KindFit
}

// CounterSets returns the counter sets of a pool, sorted by name. There are none where the scheduler counts
// none.
func (i *Inventory) CounterSets(id PoolID) []CounterSetStatus {
	pool := i.Pool(id)
	if pool == nil {
		return nil
	}
	var sets []CounterSetStatus
	for _, c := range pool.Counters { // sorted by set
		if n := len(sets); n == 0 || sets[n-1].Set != c.Set {
			sets = append(sets, CounterSetStatus{Set: c.Set})
		}
		last := &sets[len(sets)-1]
		last.Counters = append(last.Counters, c)
	}
	drawing := make([][]DeviceStatus, len(sets))
	devices := i.Stock(id).Devices
	for n := range devices {
		d := &devices[n]
		if len(d.Device.ConsumesCounters) == 0 {
			continue
		}
		first := d.Device.ConsumesCounters[0].CounterSet
		at := slices.IndexFunc(sets, func(s CounterSetStatus) bool { return s.Set == first })
		if at >= 0 {
			sets[at].Devices = append(sets[at].Devices, d)
			drawing[at] = append(drawing[at], *d)
		}
	}
	for at := range sets {
		sets[at].Fits = kindFits(drawing[at], i.levels[id])
	}
	return sets
}
