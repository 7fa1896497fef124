package inspect

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NodeStatus counts the devices of a node: those of usable pools that reach it, and those that are tied to it by name,
// whether they can be used or not. A device that several nodes can use counts on each.
type NodeStatus struct {
	Name    NodeName
	Devices DeviceCount
	// Drivers has the same counts per driver.
	Drivers map[string]DeviceCount
}

// NodeStatuses returns the status of every node, sorted by name.
func (s *Snapshot) NodeStatuses() []NodeStatus { return s.Inventory().Nodes }

// nodeTally counts the devices of a node, each once.
type nodeTally struct {
	seen    map[DeviceID]bool
	drivers map[string]*tally
}

func (n *nodeTally) add(d *DeviceStatus, levels map[PoolID]CounterLevels) {
	if d == nil || n.seen[d.ID] {
		return
	}
	n.seen[d.ID] = true
	if n.drivers[d.ID.Driver] == nil {
		n.drivers[d.ID.Driver] = &tally{}
	}
	n.drivers[d.ID.Driver].add(d, levels)
}

func (s *Snapshot) nodeStatuses(r *reach, devices []DeviceStatus) []NodeStatus {
	byID := make(map[DeviceID]*DeviceStatus, len(devices))
	tied := map[NodeName][]*DeviceStatus{}
	for i := range devices {
		d := &devices[i]
		byID[d.ID] = d
		if d.Node != "" {
			tied[d.Node] = append(tied[d.Node], d)
		}
	}
	out := make([]NodeStatus, 0, len(s.objects.Nodes))
	for _, node := range s.objects.Nodes {
		n := nodeTally{map[DeviceID]bool{}, map[string]*tally{}}
		for _, d := range tied[NodeName(node.Name)] {
			n.add(d, r.levels)
		}
		for _, pool := range r.pools[NodeName(node.Name)] {
			n.addPool(node, pool, byID, r.levels)
		}
		out = append(out, n.status(NodeName(node.Name), r.levels))
	}
	return out
}

func (n *nodeTally) addPool(node *corev1.Node, pool *NodePool, byID map[DeviceID]*DeviceStatus, levels map[PoolID]CounterLevels) {
	if !pool.Usable() {
		return
	}
	for _, slice := range pool.Slices {
		for i := range slice.Spec.Devices {
			if ok, err := slice.DeviceReaches(node, i); err == nil && ok {
				n.add(byID[DeviceIDOf(slice.ResourceSlice, i)], levels)
			}
		}
	}
}

func (n *nodeTally) status(name NodeName, levels map[PoolID]CounterLevels) NodeStatus {
	status := NodeStatus{Name: name, Drivers: make(map[string]DeviceCount, len(n.drivers))}
	for _, driver := range slices.Sorted(maps.Keys(n.drivers)) {
		c := n.drivers[driver].count(levels)
		status.Drivers[driver] = c
		status.Devices.plus(c)
	}
	return status
}
