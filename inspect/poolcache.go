package inspect

import (
	"slices"
	"strings"
	"sync/atomic"
)

// poolCache remembers the pools of each node, by the index of the node. They are nil as long as they are not
// known.
type poolCache struct {
	at []atomic.Pointer[[]*NodePool]
}

// nextPools returns the cache of the Snapshot that follows, with what is known already and still true.
func (s *Snapshot) nextPools(after *Snapshot) *poolCache {
	nodes, before := after.objects.Nodes, s.objects.Nodes
	sameNodes := slices.Equal(nodes, before)
	if !s.config.Features.sameGates(after.config.Features) || s.Release().Modelled() != after.Release().Modelled() {
		return &poolCache{make([]atomic.Pointer[[]*NodePool], len(nodes))}
	}
	stale, all := s.staleNodes(after)
	if sameNodes && len(stale) == 0 && !all {
		return s.pools
	}
	out := &poolCache{make([]atomic.Pointer[[]*NodePool], len(nodes))}
	if all {
		return out
	}
	at := 0
	for i, node := range nodes {
		for at < len(before) && before[at] != node && before[at].Name < node.Name {
			at++
		}
		if at < len(before) && before[at] == node && !stale[node.Name] {
			out.at[i].Store(s.pools.at[at].Load())
		}
	}
	return out
}

// SameDevices reports whether the i-th of Nodes is the j-th of another Snapshot, with the same pools and the
// same holders of their devices. If it returns false they may differ. It is cheap if one Snapshot was made of
// the other.
func (s *Snapshot) SameDevices(i int, other *Snapshot, j int) bool {
	if s.objects.Nodes[i] != other.objects.Nodes[j] {
		return false
	}
	pools, err := s.PoolsAt(i)
	theirs, otherErr := other.PoolsAt(j)
	if err != nil || otherErr != nil || !slices.Equal(pools, theirs) {
		return false
	}
	if s.holders == other.holders {
		return true
	}
	for _, pool := range pools {
		if s.HoldersIn(pool.ID) != other.HoldersIn(pool.ID) {
			return false
		}
	}
	return true
}

// staleNodes returns the nodes whose pools may differ in another Snapshot because of its slices. A slice
// also decides about other nodes that slices of its pool name: it makes the pool complete, or old, or
// contradict itself, and draws on its counters. all: it may be any node.
func (s *Snapshot) staleNodes(after *Snapshot) (names map[string]bool, all bool) {
	removed, added := difference(s.slices, after.slices, func(a, b *sliceInfo) int {
		return strings.Compare(a.slice.Name, b.slice.Name)
	})
	names = map[string]bool{}
	anywhere := after.poolRules.countersAnywhere
	for _, info := range append(removed, added...) {
		for _, snapshot := range []*Snapshot{s, after} {
			for _, other := range snapshot.slicesOfPool(info.pool) {
				if other.node() == "" || anywhere && len(other.slice.Spec.SharedCounters) > 0 {
					return nil, true
				}
				names[other.node()] = true
			}
		}
	}
	return names, false
}
