package allocator

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// view is what one node sees: its pools and, in search order, the devices that may be candidates.
type view struct {
	cluster *Cluster
	node    *corev1.Node
	pools   []*poolView
	// candidates are the devices of all usable pools in search order: pools as ordered by
	// inspect.PoolsOn, slices by name, devices as listed in the slice.
	candidates []candidate
	// declaresNodeOperations says that the node can do without the node operations of a device.
	declaresNodeOperations bool
	// refused is why nothing is to be had here, on account of a pool: see rules.allIsLocal.
	refused *AbortError
	// countersByName are the counters by the names of their pools, where rules.countersByPoolName.
	countersByName map[string]*poolCounters
}

type poolView struct {
	*inspect.NodePool
	counters *poolCounters       // made when a device that consumes counters is first looked at
	groups   map[string]groupSet // compatibility groups on each counter set, likewise
}

// candidate is a device of a usable pool. It is never written after the view is built.
type candidate struct {
	id     inspect.DeviceID
	device *resourcev1.Device
	slice  inspect.PoolSlice
	index  int // of the device in the slice
	pool   *poolView
	// capacity is that of the device, by the names that count: see rules.oneCapacityName.
	capacity map[resourcev1.QualifiedName]resourcev1.DeviceCapacity
	usage    *usage // nil when no claim holds it
	// shareable says that several claims may have it at the same time.
	shareable bool
}

// inUse reports whether an allocated claim holds the device as a whole.
func (c *candidate) inUse() bool { return c.usage != nil && c.usage.exclusive }

func (v *view) addPool(p *inspect.NodePool) {
	pool := &poolView{NodePool: p}
	v.pools = append(v.pools, pool)
	if !p.Usable() {
		return
	}
	holders := v.cluster.snapshot.HoldersIn(p.ID)
	for _, slice := range p.Slices {
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			id := inspect.DeviceIDOf(slice.ResourceSlice, i)
			v.candidates = append(v.candidates, candidate{
				id: id, device: device, slice: slice, index: i, pool: pool,
				capacity:  v.cluster.named(device.Capacity, id.Driver),
				usage:     v.cluster.usageOf(holders, device.Name),
				shareable: v.cluster.features.ConsumableCapacity && isTrue(device.AllowMultipleAllocations),
			})
		}
	}
}

func (v *view) invalidPools() bool {
	for _, p := range v.pools {
		if p.Invalid != "" {
			return true
		}
	}
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }
