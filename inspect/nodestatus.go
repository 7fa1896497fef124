package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NodeStatus counts the devices of a node: those of usable pools that reach it, and those that are tied to it
// by name, whether they can be used or not. A device that several nodes can use counts on each.
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

// driverTally counts the devices of a driver.
type driverTally struct {
	driver string
	tally
}

func (i *Inventory) nodeStatus(node *corev1.Node) NodeStatus {
	var drivers []driverTally
	for _, d := range i.On(node) {
		at := slices.IndexFunc(drivers, func(t driverTally) bool { return t.driver == d.ID.Driver })
		if at < 0 {
			at = len(drivers)
			drivers = append(drivers, driverTally{driver: d.ID.Driver})
		}
		drivers[at].add(d, i.levels)
	}
	status := NodeStatus{Name: NodeName(node.Name), Drivers: make(map[string]DeviceCount, len(drivers))}
	for at := range drivers {
		c := drivers[at].count(i.levels)
		status.Drivers[drivers[at].driver] = c
		status.Devices.plus(c)
	}
	status.addGone(i.Gone)
	return status
}
