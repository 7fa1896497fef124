package inspect

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// PoolHolders are the claims that hold devices of one pool, sorted by device, then by claim. They are
// never written once they are in a Snapshot.
type PoolHolders struct{ holders []Holder }

// Of returns the claims that hold a device of the pool.
func (p *PoolHolders) Of(device string) []Holder {
	if p == nil {
		return nil
	}
	return run(p.holders, device, func(h Holder, device string) int {
		return strings.Compare(h.Result.Device, device)
	})
}

// byDevice yields the devices of the pool that are held, each with its holders.
func (p *PoolHolders) byDevice(yield func(string, []Holder) bool) {
	for rest := p.holders; len(rest) > 0; {
		holders := (&PoolHolders{rest}).Of(rest[0].Result.Device)
		if !yield(holders[0].Result.Device, holders) {
			return
		}
		rest = rest[len(holders):]
	}
}

// holderIndex finds the holders of the devices of each pool. It is never written after it was built: an
// index that differs in some pools shares the others.
type holderIndex struct {
	numbers map[PoolID]int32
	pools   []*PoolHolders // by number; nil where nothing is held any more
}

func (x *holderIndex) in(id PoolID) *PoolHolders {
	if n, ok := x.numbers[id]; ok {
		return x.pools[n]
	}
	return nil
}

// newHolderIndex counts first, so that it needs few allocations however many claims there are. Pools of which
// nothing is held have numbers too, so that an index that follows need not copy the map of them.
func newHolderIndex(claims []*resourcev1.ResourceClaim, published []*resourcev1.ResourceSlice) *holderIndex {
	x := &holderIndex{numbers: map[PoolID]int32{}}
	numbers := make([]int32, 0, len(claims)) // of the pool of each result
	var counts []int
	for _, slice := range published {
		id := PoolOf(slice)
		if _, known := x.numbers[id]; !known {
			x.numbers[id] = int32(len(counts))
			counts = append(counts, 0)
		}
	}
	var last PoolID
	number := int32(-1)
	eachResult(claims, func(_ *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
		if id := DeviceOf(r).PoolID(); number < 0 || id != last {
			var ok bool
			if number, ok = x.numbers[id]; !ok {
				number = int32(len(counts))
				x.numbers[id] = number
				counts = append(counts, 0)
			}
			last = id
		}
		counts[number]++
		numbers = append(numbers, number)
	})
	x.fill(claims, numbers, counts)
	return x
}

func eachResult(claims []*resourcev1.ResourceClaim, yield func(*resourcev1.ResourceClaim, *resourcev1.DeviceRequestAllocationResult)) {
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		results := claim.Status.Allocation.Devices.Results
		for i := range results {
			yield(claim, &results[i])
		}
	}
}

// fill puts every result into the pool whose number it has.
func (x *holderIndex) fill(claims []*resourcev1.ResourceClaim, numbers []int32, counts []int) {
	holders, pools := make([]Holder, len(numbers)), make([]PoolHolders, len(counts))
	x.pools = make([]*PoolHolders, len(counts))
	start := 0
	for n, count := range counts {
		end := start + count
		pools[n].holders = holders[start:start:end]
		if count > 0 {
			x.pools[n] = &pools[n]
		}
		start = end
	}
	i := 0
	eachResult(claims, func(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
		pool := &pools[numbers[i]]
		pool.holders = append(pool.holders, Holder{Claim: RefOf(claim), Result: r})
		i++
	})
	for n := range pools {
		sortUnlessSorted(pools[n].holders, func(a, b Holder) int {
			return strings.Compare(a.Result.Device, b.Result.Device)
		})
	}
}

// next returns the index of other claims, sharing the pools in which nothing changes. Both lists are
// sorted by namespace and name. published are the slices of pools that may be held one day.
func (x *holderIndex) next(before, after []*resourcev1.ResourceClaim, published []*resourcev1.ResourceSlice) *holderIndex {
	if x == nil {
		return newHolderIndex(after, published)
	}
	removed, added := difference(before, after, byName[*resourcev1.ResourceClaim])
	if len(removed) == 0 && len(added) == 0 {
		return x
	}
	if len(removed)+len(added) > len(after)/4 || twins(added, after) {
		return newHolderIndex(after, published) // the order of claims of one name is that of the list
	}
	return x.with(removed, added)
}

// with is the index with some claims in place of others.
func (x *holderIndex) with(removed, added []*resourcev1.ResourceClaim) *holderIndex {
	out := &holderIndex{numbers: x.numbers, pools: slices.Clone(x.pools)}
	mine := map[int32]bool{} // copied
	eachResult(removed, func(_ *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
		pool := out.writable(DeviceOf(r).PoolID(), mine)
		at := slices.IndexFunc(pool.holders, func(h Holder) bool { return h.Result == r })
		pool.holders = slices.Delete(pool.holders, at, at+1)
	})
	eachResult(added, func(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
		h := Holder{Claim: RefOf(claim), Result: r}
		pool := out.writable(DeviceOf(r).PoolID(), mine)
		at := sort.Search(len(pool.holders), func(i int) bool {
			other := pool.holders[i]
			return cmp.Or(strings.Compare(other.Result.Device, r.Device), other.Claim.Compare(h.Claim)) > 0
		})
		pool.holders = slices.Insert(pool.holders, at, h)
	})
	for n := range mine {
		if len(out.pools[n].holders) == 0 {
			out.pools[n] = nil
		}
	}
	return out
}

// writable returns the holders of a pool to be changed: a copy, made the first time. New pools get numbers
// in a copy of the map.
func (x *holderIndex) writable(id PoolID, mine map[int32]bool) *PoolHolders {
	n, ok := x.numbers[id]
	if !ok {
		n = int32(len(x.pools))
		x.numbers = maps.Clone(x.numbers)
		x.numbers[id] = n
		x.pools = append(x.pools, nil)
	}
	if !mine[n] {
		mine[n] = true
		pool := &PoolHolders{}
		if known := x.pools[n]; known != nil {
			pool.holders = slices.Clone(known.holders)
		}
		x.pools[n] = pool
	}
	return x.pools[n]
}

// twins reports whether a sorted list has another object of the name of one of some that are in it, which no
// server has.
func twins[T object](some, objects []T) bool {
	for _, o := range some {
		i, _ := slices.BinarySearchFunc(objects, o, byName[T])
		if i+1 < len(objects) && byName(o, objects[i+1]) == 0 {
			return true
		}
	}
	return false
}

// difference returns what is only in one of two lists that are sorted in an order.
func difference[T comparable](before, after []T, order func(a, b T) int) (removed, added []T) {
	i, j := 0, 0
	for i < len(before) && j < len(after) {
		if before[i] == after[j] {
			i, j = i+1, j+1
			continue
		}
		c := order(before[i], after[j])
		if c <= 0 {
			removed = append(removed, before[i])
			i++
		}
		if c >= 0 {
			added = append(added, after[j])
			j++
		}
	}
	return append(removed, before[i:]...), append(added, after[j:]...)
}

// Holders returns the claims that hold the device, sorted by namespace and name; those with admin
// access are among them.
func (s *Snapshot) Holders(id DeviceID) []Holder { return s.holders.in(id.PoolID()).Of(id.Device) }

// HoldersIn returns the holders of the devices of a pool, or nil if there are none. Two Snapshots of which
// one was made of the other return the same pointer unless the claims that hold devices of the pool differ.
func (s *Snapshot) HoldersIn(pool PoolID) *PoolHolders { return s.holders.in(pool) }

// AllHolders calls yield for every device that at least one claim holds, pools in no particular order.
func (s *Snapshot) AllHolders(yield func(DeviceID, []Holder) bool) {
	for id, n := range s.holders.numbers {
		pool := s.holders.pools[n]
		if pool == nil {
			continue
		}
		for device, holders := range pool.byDevice {
			if !yield(DeviceID{Driver: id.Driver, Pool: id.Pool, Device: device}, holders) {
				return
			}
		}
	}
}
