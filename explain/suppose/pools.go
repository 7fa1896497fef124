package suppose

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Pools that are changed hypothetically.

// plenty stands for an amount that never runs out.
const plenty = int64(1) << 50

// changeSlices replaces some slices of a pool by changed copies. The others stay the same objects, of which
// much is known already.
func changeSlices(o *inspect.Objects, pool inspect.PoolID, which func(*resourcev1.ResourceSlice) bool, change func(*resourcev1.ResourceSlice)) {
	for i, slice := range o.Slices {
		if inspect.PoolOf(slice) == pool && which(slice) {
			o.Slices[i] = slice.DeepCopy()
			change(o.Slices[i])
		}
	}
}

// RaisePool makes counters of a pool plenty: those of a name, or all if that is "".
func RaisePool(o *inspect.Objects, pool inspect.PoolID, name string) {
	hasCounters := func(s *resourcev1.ResourceSlice) bool { return len(s.Spec.SharedCounters) > 0 }
	changeSlices(o, pool, hasCounters, func(s *resourcev1.ResourceSlice) {
		for i := range s.Spec.SharedCounters {
			counters := s.Spec.SharedCounters[i].Counters
			for counter, c := range counters {
				if name == "" || counter == name {
					c.Value = *resource.NewQuantity(plenty, c.Value.Format)
					counters[counter] = c
				}
			}
		}
	})
}

// CompletePool makes a pool complete with the slices of its newest generation that are published, and takes
// out of them what makes the pool invalid.
func CompletePool(o *inspect.Objects, pool inspect.PoolID) {
	newest := inspect.NewestSlices(slices.DeleteFunc(slices.Clone(o.Slices), func(s *resourcev1.ResourceSlice) bool {
		return inspect.PoolOf(s) != pool
	}))
	var current []*resourcev1.ResourceSlice
	isNewest := func(s *resourcev1.ResourceSlice) bool { return slices.Contains(newest, s) }
	changeSlices(o, pool, isNewest, func(s *resourcev1.ResourceSlice) {
		s.Spec.Pool.ResourceSliceCount = int64(len(newest))
		current = append(current, s)
	})
	repairPool(current)
}

// repairPool takes out of the slices of a pool what makes it invalid: second devices of a name on the same
// nodes, second counter sets of a name, and devices that consume counters that do not exist.
func repairPool(pool []*resourcev1.ResourceSlice) {
	counters := map[string]map[string]resourcev1.Counter{}
	for _, slice := range pool {
		slice.Spec.SharedCounters = slices.DeleteFunc(slice.Spec.SharedCounters, func(set resourcev1.CounterSet) bool {
			_, twice := counters[set.Name]
			if !twice {
				counters[set.Name] = set.Counters
			}
			return twice
		})
	}
	type place struct{ node, name string }
	seen := map[place]bool{}
	for _, slice := range pool {
		node := ""
		if slice.Spec.NodeName != nil {
			node = *slice.Spec.NodeName
		}
		slice.Spec.Devices = slices.DeleteFunc(slice.Spec.Devices, func(d resourcev1.Device) bool {
			at := place{node, d.Name}
			bad := seen[at] || slices.ContainsFunc(d.ConsumesCounters, func(use resourcev1.DeviceCounterConsumption) bool {
				return consumesUnknown(use, counters)
			})
			seen[at] = true
			return bad
		})
	}
}

func consumesUnknown(use resourcev1.DeviceCounterConsumption, counters map[string]map[string]resourcev1.Counter) bool {
	for name := range use.Counters {
		if _, ok := counters[use.CounterSet][name]; !ok {
			return true
		}
	}
	return counters[use.CounterSet] == nil
}

// MaxCounters is the number of counters up to which each is looked at.
const MaxCounters = 16
