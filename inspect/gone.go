package inspect

import "slices"

// GoneDevice is a device that claims hold though no slice publishes it any more: nothing else is known of it.
type GoneDevice struct {
	ID DeviceID
	// Node is the one that an allocation with the device is tied to by name. It is empty if none is.
	Node NodeName
	// Holders are sorted by claim. At least one of them has more than admin access.
	Holders []Holder
}

// goneOf returns the devices of a pool that claims hold and that are not among the published ones, which are
// sorted.
func (s *Snapshot) goneOf(id PoolID, published []DeviceStatus) []GoneDevice {
	held := s.HoldersIn(id)
	if held == nil || s.Health(Slices).Partial() && len(s.slices) == 0 {
		return nil
	}
	var out []GoneDevice
	at := 0
	for name, holders := range held.byDevice {
		for at < len(published) && published[at].ID.Device < name {
			at++
		}
		if !heldBy(holders) || at < len(published) && published[at].ID.Device == name {
			continue
		}
		d := GoneDevice{ID: DeviceID{Driver: id.Driver, Pool: id.Pool, Device: name}, Holders: holders}
		for _, h := range holders {
			if claim, ok := s.Claim(h.Claim); ok && d.Node == "" {
				d.Node = AllocationNode(claim.Status.Allocation)
			}
		}
		out = append(out, d)
	}
	return out
}

// findGone collects the devices that are gone, with those of pools that are gone as a whole.
func (i *Inventory) findGone() {
	for _, stock := range i.Stocks {
		i.Gone = append(i.Gone, stock.gone...)
	}
	for id := range i.snapshot.holders.numbers {
		if i.Stock(id) == nil {
			i.Gone = append(i.Gone, i.snapshot.goneOf(id, nil)...)
		}
	}
	slices.SortFunc(i.Gone, func(a, b GoneDevice) int { return a.ID.Compare(b.ID) })
}

// addGone counts the devices that are gone from a node. A driver may have no others there.
func (n *NodeStatus) addGone(gone []GoneDevice) {
	for at := range gone {
		if d := &gone[at]; d.Node != "" && d.Node == n.Name {
			c := n.Drivers[d.ID.Driver]
			c.Gone++
			n.Drivers[d.ID.Driver] = c
			n.Devices.Gone++
		}
	}
}
