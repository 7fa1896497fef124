package output

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Node is an item of a NodeList.
type Node struct {
	Name string `json:"name"`
	// Devices counts those that the node can use, Free those of them that nothing is taken of.
	Devices int                    `json:"devices"`
	Free    int                    `json:"free"`
	Drivers map[string]DeviceCount `json:"drivers"`
	// Assumed: the node itself could not be read; ResourceSlices name it.
	Assumed bool   `json:"assumed,omitempty"`
	Age     string `json:"age,omitempty"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`

	meta Meta
}

// DeviceCount counts the devices of one driver.
type DeviceCount struct {
	Total int `json:"total"`
	Free  int `json:"free"`
}

// Meta implements Item.
func (n *Node) Meta() Meta { return n.meta }

// Nodes lists the nodes of a snapshot. The stand-in for "any node" is not among them.
func Nodes(s *inspect.Snapshot) *List {
	list := newList("NodeList", "node", nodeTable)
	for _, status := range s.NodeStatuses() {
		if s.NodesAssumed() && status.Name == inspect.PseudoNode {
			continue
		}
		n := &Node{Name: string(status.Name), Devices: status.Devices, Free: status.Free, Drivers: map[string]DeviceCount{}, meta: Meta{Name: string(status.Name)}}
		for driver, count := range status.Drivers {
			n.Drivers[driver] = DeviceCount(count)
		}
		if node, ok := s.Node(status.Name); ok && !s.NodesAssumed() {
			n.Age, n.Created = age(node.CreationTimestamp, s.Time()), timestamp(node.CreationTimestamp)
			n.meta.Labels, n.meta.Created = node.Labels, node.CreationTimestamp.Time
		} else {
			n.Assumed = true
		}
		list.Items = append(list.Items, n)
	}
	return list
}

var nodeTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "DEVICES"}, {Header: "FREE"}, {Header: "DRIVERS (FREE/TOTAL)", Cut: CutText, Rank: 1}, {Header: "AGE"},
	},
	Row: func(item Item) []string {
		n := item.(*Node)
		var drivers []string
		for _, driver := range slices.Sorted(maps.Keys(n.Drivers)) {
			drivers = append(drivers, fmt.Sprintf("%s %d/%d", driver, n.Drivers[driver].Free, n.Drivers[driver].Total))
		}
		age := n.Age
		if age == "" {
			age = "<unknown>"
		}
		return []string{n.Name, strconv.Itoa(n.Devices), strconv.Itoa(n.Free), orNone(strings.Join(drivers, ", ")), age}
	},
}
