package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// reach is what all nodes together see of the pools.
type reach struct {
	// pools are those that reach each node; a node for which the scheduler gives up has none.
	pools map[NodeName][]*NodePool
	// whole are the slices all of whose devices can be used on some node, partly those of which only
	// the devices with the given index can.
	whole  map[*resourcev1.ResourceSlice]bool
	partly map[*resourcev1.ResourceSlice]map[int]bool
	// invalid says why a pool contradicts itself, on the first node that sees it so.
	invalid map[PoolID]string
	// levels are the counters that are left in the usable pools.
	levels map[PoolID]CounterLevels
}

// reach asks every node which pools it sees.
func (s *Snapshot) reach() *reach {
	r := &reach{
		pools:   map[NodeName][]*NodePool{},
		whole:   map[*resourcev1.ResourceSlice]bool{},
		partly:  map[*resourcev1.ResourceSlice]map[int]bool{},
		invalid: map[PoolID]string{},
		levels:  map[PoolID]CounterLevels{},
	}
	for _, node := range s.objects.Nodes {
		pools, err := s.PoolsOn(node)
		if err != nil {
			continue // the scheduler aborts on this node, so nothing can be used there
		}
		r.pools[NodeName(node.Name)] = pools
		for _, pool := range pools {
			r.addPool(s, node, pool)
		}
	}
	if s.assumed {
		r.addSelecting(s)
	}
	return r
}

// addSelecting adds the pools that select nodes by label while no nodes are known: stand-ins have no
// labels, so that such a pool seems to reach none of them says nothing.
func (r *reach) addSelecting(s *Snapshot) {
	for id := range s.poolIDs() {
		newest := s.newestGeneration(id)
		if int64(len(newest)) != newest[0].slice.Spec.Pool.ResourceSliceCount || slices.ContainsFunc(newest, s.ignored) {
			continue
		}
		pool := &NodePool{ID: id}
		s.fillNodePool(pool, newest, nil)
		if !pool.Usable() {
			continue
		}
		if len(pool.CounterSets) > 0 && r.levels[id] == nil {
			r.levels[id] = s.levelsOf(pool)
		}
		for _, slice := range pool.Slices {
			if slice.Spec.NodeSelector != nil || slice.info.perDevice != nil {
				r.whole[slice.ResourceSlice] = true
			}
		}
	}
}

func (r *reach) addPool(s *Snapshot, node *corev1.Node, pool *NodePool) {
	if pool.Invalid != "" && r.invalid[pool.ID] == "" {
		r.invalid[pool.ID] = pool.Invalid
	}
	if !pool.Usable() {
		return
	}
	if len(pool.CounterSets) > 0 && r.levels[pool.ID] == nil {
		r.levels[pool.ID] = s.levelsOf(pool)
	}
	for _, slice := range pool.Slices {
		if slice.info.perDevice == nil {
			r.whole[slice.ResourceSlice] = true
			continue
		}
		for i := range slice.Spec.Devices {
			if ok, err := slice.DeviceReaches(node, i); err == nil && ok {
				if r.partly[slice.ResourceSlice] == nil {
					r.partly[slice.ResourceSlice] = map[int]bool{}
				}
				r.partly[slice.ResourceSlice][i] = true
			}
		}
	}
}

// usable reports whether some node can use the i-th device of a slice.
func (r *reach) usable(slice *resourcev1.ResourceSlice, i int) bool {
	return r.whole[slice] || r.partly[slice][i]
}

// levelsOf returns what is left of the counters of a pool. A device is charged once, however many
// claims share it, and not for admin access.
func (s *Snapshot) levelsOf(pool *NodePool) CounterLevels {
	left := CounterLevels{}
	for _, set := range pool.CounterSets {
		left.Refill(set)
	}
	for _, slice := range pool.Slices {
		s.chargeHeld(left, slice.ResourceSlice)
	}
	for _, slice := range pool.Elsewhere {
		s.chargeHeld(left, slice)
	}
	return left
}

func (s *Snapshot) chargeHeld(left CounterLevels, slice *resourcev1.ResourceSlice) {
	for i := range slice.Spec.Devices {
		if s.held(DeviceIDOf(slice, i)) {
			left.Take(&slice.Spec.Devices[i])
		}
	}
}

// Published yields the devices that slices publish for a node, of all generations of their pools, and whether
// a claim holds each other than by admin access. The error is that of the first node selector that cannot be
// read.
func (s *Snapshot) Published(node *corev1.Node, yield func(driver string, d *resourcev1.Device, held bool)) error {
	for _, info := range slices.Concat(s.slicesOfNode(NodeName(node.Name)), s.unbound) {
		spec := &info.slice.Spec
		reaches, err := true, error(nil)
		if info.perDevice == nil {
			reaches, err = nodeMatches(node, spec.NodeName, spec.AllNodes, info.selector)
		}
		for i := 0; reaches && err == nil && i < len(spec.Devices); i++ {
			there := true
			if info.perDevice != nil {
				there, err = info.deviceReaches(node, i)
			}
			if there && err == nil {
				yield(spec.Driver, &spec.Devices[i], s.held(DeviceIDOf(info.slice, i)))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// held reports whether a claim holds a device other than by admin access.
func (s *Snapshot) held(id DeviceID) bool {
	return heldBy(s.Holders(id))
}

// heldBy reports whether one of the holders has more than admin access.
func heldBy(holders []Holder) bool {
	return slices.ContainsFunc(holders, func(h Holder) bool { return !h.Admin() })
}
