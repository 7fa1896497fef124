package nodes

import "github.com/kubectl-dra/kubectl-dra/inspect"

// cuts knows what partitions are cut from. A pool may be that of many nodes, so that it is looked at once.
type cuts struct {
	all *inspect.Inventory
	// totals are what there is of each counter, by the pool, and the set and the counter.
	totals map[inspect.PoolID]map[[2]string]float64
}

// of returns how much each of some partitions takes of its counter set, from 0 to 1: of the counter of which
// it takes most.
func (c *cuts) of(devices []*inspect.DeviceStatus) []float64 {
	parts := make([]float64, len(devices))
	for i, d := range devices {
		totals := c.in(d.ID.PoolID())
		for _, consumed := range d.Device.ConsumesCounters {
			for name, counter := range consumed.Counters {
				if total := totals[[2]string{consumed.CounterSet, name}]; total > 0 {
					parts[i] = max(parts[i], counter.Value.AsApproximateFloat64()/total)
				}
			}
		}
		parts[i] = min(1, parts[i]) // what takes more than there is fits nowhere
	}
	return parts
}

func (c *cuts) in(id inspect.PoolID) map[[2]string]float64 {
	totals, known := c.totals[id]
	if known {
		return totals
	}
	totals = map[[2]string]float64{}
	if pool := c.all.Pool(id); pool != nil {
		for i := range pool.Counters {
			counter := &pool.Counters[i]
			totals[[2]string{counter.Set, counter.Counter}] = counter.Total.AsApproximateFloat64()
		}
	}
	c.totals[id] = totals
	return totals
}
