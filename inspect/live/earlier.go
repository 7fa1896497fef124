package live

import (
	"hash/maphash"
	"slices"
	"weak"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A slice that changes comes with all its devices again, of which most are as they were: what they say of themselves was decoded
// already. It is recognized by a hash, so that nothing encoded has to be kept.

// earlierSlices knows slices that were decoded and are still in use somewhere: it keeps none in memory. A nil one knows nothing.
type earlierSlices struct {
	seed  maphash.Seed
	known map[string]earlierSlice // by name
	most  int                     // from which on those that are gone are forgotten
}

// earlierSlice is a slice and the hashes of how the attributes of its devices were encoded. Two encodings have the same hash by
// chance once in 2^64 times, and as the seed is random nobody can make them.
type earlierSlice struct {
	slice  weak.Pointer[resourcev1.ResourceSlice]
	uid    types.UID
	hashes []uint64
}

// fewEarlier is how many slices may be known without a look at which are gone.
const fewEarlier = 1024

func newEarlierSlices() *earlierSlices {
	return &earlierSlices{seed: maphash.MakeSeed(), known: map[string]earlierSlice{}, most: fewEarlier}
}

func (e *earlierSlices) hash(encoded []byte) uint64 {
	if e == nil {
		return 0
	}
	return maphash.Bytes(e.seed, encoded)
}

// find returns what is known of a slice of which a new state is decoded.
func (e *earlierSlices) find(of *resourcev1.ResourceSlice) earlierSlice {
	if e == nil || e.known[of.Name].uid != of.UID {
		return earlierSlice{}
	}
	return e.known[of.Name]
}

// attributes returns those of a device, by its place, if they were encoded with that hash and are still in memory.
func (e earlierSlice) attributes(device int, hash uint64) (map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, bool) {
	if device >= len(e.hashes) || e.hashes[device] != hash {
		return nil, false
	}
	slice := e.slice.Value()
	if slice == nil {
		return nil, false
	}
	return slice.Spec.Devices[device].Attributes, true
}

// remember notes a slice with the hashes of its devices, which it copies.
func (e *earlierSlices) remember(slice *resourcev1.ResourceSlice, hashes []uint64) {
	if e == nil {
		return
	}
	if len(e.known) >= e.most {
		for name, known := range e.known {
			if known.slice.Value() == nil {
				delete(e.known, name)
			}
		}
		e.most = max(fewEarlier, 2*len(e.known))
	}
	kept := e.known[slice.Name].hashes
	if !slices.Equal(kept, hashes) {
		kept = slices.Clone(hashes)
	}
	e.known[slice.Name] = earlierSlice{weak.Make(slice), slice.UID, kept}
}
