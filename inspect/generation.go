package inspect

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// A driver that changes a pool publishes its slices anew under a higher generation. From then on only those
// count, even while there are fewer of them than the driver announces.

// NewestSlices returns those slices that are of the highest generation of their pool, in their order. The
// list that it is given stays as it is.
func NewestSlices(list []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	newest := map[PoolID]int64{}
	for _, slice := range list {
		if g, ok := newest[PoolOf(slice)]; !ok || slice.Spec.Pool.Generation > g {
			newest[PoolOf(slice)] = slice.Spec.Pool.Generation
		}
	}
	var out []*resourcev1.ResourceSlice
	for _, slice := range list {
		if slice.Spec.Pool.Generation == newest[PoolOf(slice)] {
			out = append(out, slice)
		}
	}
	return out
}

// newest keeps those slices of one pool that are of the highest generation, in their order. Most often that
// is all of them, and then it returns the list itself.
func newest(infos []*sliceInfo) []*sliceInfo {
	if len(infos) == 0 {
		return nil
	}
	highest := infos[0].slice.Spec.Pool.Generation
	mixed := false
	for _, info := range infos[1:] {
		g := info.slice.Spec.Pool.Generation
		mixed = mixed || g != highest
		highest = max(highest, g)
	}
	if !mixed {
		return infos
	}
	return slices.DeleteFunc(slices.Clone(infos), func(i *sliceInfo) bool { return i.slice.Spec.Pool.Generation != highest })
}

// newestGeneration returns the slices of the highest generation of a pool, sorted by name. The caller must
// not change the list.
func (s *Snapshot) newestGeneration(id PoolID) []*sliceInfo { return newest(s.slicesOfPool(id)) }
