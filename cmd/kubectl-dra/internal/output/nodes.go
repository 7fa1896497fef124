package output

import (
	"cmp"
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
	// Devices counts those that reach the node or are tied to it: each is used, blocked or free. FreeAtOnce is how many
	// of the free ones can be had together.
	Devices    int                    `json:"devices"`
	Used       int                    `json:"used"`
	Blocked    int                    `json:"blocked"`
	Free       int                    `json:"free"`
	FreeAtOnce int                    `json:"freeAtOnce"`
	Drivers    map[string]DeviceCount `json:"drivers"`
	// Assumed: the node itself could not be read; ResourceSlices name it.
	Assumed bool   `json:"assumed,omitempty"`
	Age     string `json:"age,omitempty"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`

	meta Meta
}

// DeviceCount counts devices: each is used, blocked or free, as inspect.DeviceCount says. FreeAtOnce is how many of the
// free ones can be had together.
type DeviceCount struct {
	Total      int `json:"total"`
	Used       int `json:"used"`
	Blocked    int `json:"blocked"`
	Free       int `json:"free"`
	FreeAtOnce int `json:"freeAtOnce"`
}

func deviceCount(c inspect.DeviceCount) DeviceCount {
	return DeviceCount{Total: c.Total, Used: c.Used, Blocked: c.Blocked, Free: c.Free, FreeAtOnce: c.AtOnce}
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
		c := status.Devices
		n := &Node{
			Name: string(status.Name), Devices: c.Total, Used: c.Used, Blocked: c.Blocked, Free: c.Free, FreeAtOnce: c.AtOnce,
			Drivers: map[string]DeviceCount{}, meta: Meta{Name: string(status.Name)},
		}
		for driver, count := range status.Drivers {
			n.Drivers[driver] = deviceCount(count)
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
		{Header: "NAME"}, {Header: "DEVICES"}, {Header: "FREE"}, {Header: "DRIVERS (FREE/TOTAL)", Cut: CutText, Least: 40, Rank: 1}, {Header: "AGE", Rank: 2},
		{Header: "USED", Wide: true}, {Header: "BLOCKED", Wide: true},
	},
	Row: func(item Item) []string {
		n := item.(*Node)
		var drivers []string
		for _, driver := range n.driversBySize() {
			c := n.Drivers[driver]
			text := fmt.Sprintf("%s %d/%d", driver, c.Free, c.Total)
			if c.FreeAtOnce < c.Free {
				text += fmt.Sprintf(" (%d at once)", c.FreeAtOnce)
			}
			drivers = append(drivers, text)
		}
		age := n.Age
		if age == "" {
			age = "<unknown>"
		}
		return []string{n.Name, strconv.Itoa(n.Devices), freeText(n.Free, n.FreeAtOnce), orNone(strings.Join(drivers, ", ")), age, strconv.Itoa(n.Used), strconv.Itoa(n.Blocked)}
	},
}

// driversBySize returns the drivers with most devices first, so that they remain where the list is cut.
func (n *Node) driversBySize() []string {
	return slices.SortedFunc(maps.Keys(n.Drivers), func(a, b string) int {
		return cmp.Or(cmp.Compare(n.Drivers[b].Total, n.Drivers[a].Total), cmp.Compare(a, b))
	})
}

// freeText is how many devices are free, and how many of them can be had together where that is fewer.
func freeText(free, atOnce int) string {
	if atOnce < free {
		return fmt.Sprintf("%d (%d at once)", free, atOnce)
	}
	return strconv.Itoa(free)
}
