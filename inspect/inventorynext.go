package inspect

import (
	"maps"
	"slices"
)

// InventoryAfter returns what Inventory does, and takes over from the Inventory of another Snapshot what is the same in
// both. If one Snapshot was made of the other, that costs little more than the pools whose slices or holders differ. Both
// remain valid; before may be nil.
func (s *Snapshot) InventoryAfter(before *Inventory) *Inventory {
	if before == nil || !s.comparable(before.snapshot) {
		return s.Inventory()
	}
	if before.snapshot == s {
		return before
	}
	if c := s.changesSince(before); c != nil {
		return c.inventory()
	}
	return s.Inventory()
}

// comparable reports whether the same rules hold for the devices of two snapshots, whose nodes are the same.
func (s *Snapshot) comparable(before *Snapshot) bool {
	return !s.assumed && !before.assumed && s.poolRules == before.poolRules && s.Release().Modelled() == before.Release().Modelled() &&
		s.config.Features.sameGates(before.config.Features) && slices.Equal(s.objects.Nodes, before.objects.Nodes)
}

// inventoryChanges is what differs in a snapshot since an Inventory was made of another.
type inventoryChanges struct {
	*Snapshot
	before *Inventory
	// pools are those of which anything may differ, nodes the indexes of the nodes that see other pools.
	pools map[PoolID]bool
	nodes []int
	reach *reach // of the pools that differ
}

// changesSince returns what differs, or nil if not everything can be told apart.
func (s *Snapshot) changesSince(before *Inventory) *inventoryChanges {
	c := &inventoryChanges{Snapshot: s, before: before, pools: map[PoolID]bool{}, reach: newReach()}
	removed, added := changedSlices(before.snapshot.slices, s.slices)
	for _, info := range append(removed, added...) {
		c.pools[info.pool] = true
	}
	c.findHolders()
	for i := range s.objects.Nodes {
		pools, err := s.PoolsAt(i)
		old, oldErr := before.snapshot.PoolsAt(i)
		if err != nil || oldErr != nil {
			return nil // for these nodes nothing is remembered
		}
		if samePools(pools, old) {
			continue
		}
		c.nodes = append(c.nodes, i)
		for _, pool := range append(slices.Clip(pools), old...) {
			c.pools[pool.ID] = true
		}
	}
	c.findReach()
	return c
}

// samePools reports whether two lists of pools are one.
func samePools(a, b []*NodePool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// findHolders finds the pools whose devices have other holders.
func (c *inventoryChanges) findHolders() {
	before, after := c.before.snapshot.holders, c.holders
	if before == after {
		return
	}
	for id, n := range after.numbers {
		if before.in(id) != after.pools[n] {
			c.pools[id] = true
		}
	}
	for id, n := range before.numbers {
		if before.pools[n] != after.in(id) {
			c.pools[id] = true
		}
	}
}

// findReach asks every node what it sees of the pools that differ.
func (c *inventoryChanges) findReach() {
	for i, node := range c.objects.Nodes {
		pools, _ := c.PoolsAt(i)
		for _, pool := range pools {
			if c.pools[pool.ID] {
				c.reach.addPool(c.Snapshot, node, pool)
			}
		}
	}
}

// inventory makes the Inventory of what is the same and of what differs.
func (c *inventoryChanges) inventory() *Inventory {
	i := c.newInventory(c.before.levels, c.before.pools)
	if len(c.before.levels)+len(c.reach.levels) > 0 {
		i.levels = maps.Clone(c.before.levels)
		for id := range c.pools {
			delete(i.levels, id)
		}
		maps.Copy(i.levels, c.reach.levels)
	}
	if len(c.nodes) > 0 {
		i.pools = maps.Clone(c.before.pools)
		for _, at := range c.nodes {
			i.pools[NodeName(c.objects.Nodes[at].Name)], _ = c.PoolsAt(at)
		}
	}
	stale := c.countPools(i)
	i.findGone()
	noteGone(stale, c.before.Gone)
	noteGone(stale, i.Gone)
	i.Nodes = slices.Clone(c.before.Nodes)
	for at, node := range c.objects.Nodes {
		if stale[NodeName(node.Name)] || c.sees(i.pools[NodeName(node.Name)]) {
			i.Nodes[at] = i.nodeStatus(node)
		}
	}
	i.Drivers = i.driverStatuses()
	return i
}

// sees reports whether a pool that differs is among those of a node.
func (c *inventoryChanges) sees(pools []*NodePool) bool {
	for _, pool := range pools {
		if c.pools[pool.ID] {
			return true
		}
	}
	return false
}

// countPools fills in the pools with their devices, and returns the nodes to which devices of pools that differ are or were tied.
func (c *inventoryChanges) countPools(i *Inventory) (stale map[NodeName]bool) {
	stale = map[NodeName]bool{}
	for at := range c.nodes {
		stale[NodeName(c.objects.Nodes[c.nodes[at]].Name)] = true
	}
	i.Stocks = make([]*Stock, 0, len(c.before.Stocks))
	sameTies := true
	stocks := c.before.Stocks
	for id := range c.poolIDs() {
		for len(stocks) > 0 && stocks[0].Pool.ID.Compare(id) < 0 { // is gone
			noteTies(stale, stocks[0].Devices)
			stocks, sameTies = stocks[1:], false
		}
		var old []DeviceStatus
		if len(stocks) > 0 && stocks[0].Pool.ID == id {
			same := stocks[0]
			stocks = stocks[1:]
			if !c.pools[id] {
				i.Stocks = append(i.Stocks, same)
				continue
			}
			old = same.Devices
		} else {
			sameTies = false
		}
		stock := c.stockOf(id, c.reach)
		i.Stocks = append(i.Stocks, stock)
		noteTies(stale, old)
		noteTies(stale, stock.Devices)
		sameTies = sameTies && slices.EqualFunc(old, stock.Devices, func(a, b DeviceStatus) bool { return a.ID == b.ID && a.Node == b.Node })
	}
	for _, stock := range stocks {
		noteTies(stale, stock.Devices)
	}
	if i.tied = c.before.tied; !sameTies || len(stocks) > 0 {
		i.tie()
	}
	return stale
}

// noteTies notes the nodes that devices are tied to.
func noteTies(nodes map[NodeName]bool, devices []DeviceStatus) {
	for i := range devices {
		if name := devices[i].Node; name != "" {
			nodes[name] = true
		}
	}
}
