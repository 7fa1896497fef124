package inspect

import (
	"fmt"
	"slices"
)

// DisagreeingPool is a pool of which slices of one generation announce different numbers of slices. The
// scheduler goes by the slice that it meets first, in the order of a map: whether the pool is complete is
// chance, and may be otherwise the next time (k8s.io/dynamic-resource-allocation, GatherPools).
type DisagreeingPool struct {
	ID PoolID
	// Generation is the newest in which slices disagree.
	Generation int64
	// Announced are the numbers that they announce, ascending.
	Announced []int64
}

// DisagreeingPools returns the pools whose slices disagree, sorted. There is nearly never one.
func (s *Snapshot) DisagreeingPools() []DisagreeingPool { return s.disagreeing() }

// findDisagreeing looks among slices that are sorted by pool.
func findDisagreeing(byPool []*sliceInfo) []DisagreeingPool {
	var out []DisagreeingPool
	for len(byPool) > 0 {
		n := 1
		for n < len(byPool) && byPool[n].pool == byPool[0].pool {
			n++
		}
		if n > 1 {
			out = append(out, disagreeing(byPool[0].pool, byPool[:n])...)
		}
		byPool = byPool[n:]
	}
	return out
}

// disagreeing is a pool if its slices disagree.
func disagreeing(id PoolID, infos []*sliceInfo) []DisagreeingPool {
	byGeneration := map[int64]*DisagreeingPool{}
	var newest *DisagreeingPool
	for _, info := range infos {
		pool := info.slice.Spec.Pool
		d := byGeneration[pool.Generation]
		if d == nil {
			d = &DisagreeingPool{ID: id, Generation: pool.Generation}
			byGeneration[pool.Generation] = d
		}
		if !slices.Contains(d.Announced, pool.ResourceSliceCount) {
			d.Announced = append(d.Announced, pool.ResourceSliceCount)
		}
	}
	for _, d := range byGeneration {
		if len(d.Announced) > 1 && (newest == nil || d.Generation > newest.Generation) {
			newest = d
		}
	}
	if newest == nil {
		return nil
	}
	slices.Sort(newest.Announced)
	return []DisagreeingPool{*newest}
}

// String says what is wrong with the pool.
func (d DisagreeingPool) String() string {
	return fmt.Sprintf("slices of generation %d of pool %s announce from %d to %d slices: whether the scheduler takes its devices is chance",
		d.Generation, d.ID, d.Announced[0], d.Announced[len(d.Announced)-1])
}
