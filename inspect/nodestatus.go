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

// nodeStatuses counts the devices of all nodes.
func (i *Inventory) nodeStatuses(nodes []*corev1.Node) []NodeStatus {
	out := make([]NodeStatus, 0, len(nodes))
	for _, node := range nodes {
		out = append(out, i.nodeStatus(node))
	}
	return out
}

func (i *Inventory) nodeStatus(node *corev1.Node) NodeStatus {
	drivers := map[string]*tally{}
	for _, d := range i.On(node) {
		if drivers[d.ID.Driver] == nil {
			drivers[d.ID.Driver] = &tally{}
		}
		drivers[d.ID.Driver].add(d, i.levels)
	}
	return nodeStatus(NodeName(node.Name), drivers, i.levels)
}

func nodeStatus(name NodeName, drivers map[string]*tally, levels map[PoolID]CounterLevels) NodeStatus {
	status := NodeStatus{Name: name, Drivers: make(map[string]DeviceCount, len(drivers))}
	for _, driver := range slices.Sorted(maps.Keys(drivers)) {
		c := drivers[driver].count(levels)
		status.Drivers[driver] = c
		status.Devices.plus(c)
	}
	return status
}
