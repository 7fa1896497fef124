package output

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Node is an item of a NodeList.
type Node struct {
	Listed
	Name string `json:"name"`
	// Devices counts those that reach the node or are tied to it: each is used, free, blocked, tainted or
	// unreachable. FreeAtOnce is how many of the free ones can be had together. Gone are no part of Devices:
	// claims that are tied to the node hold them, and no slice publishes them any more.
	Devices     int                            `json:"devices"`
	Used        int                            `json:"used"`
	Blocked     int                            `json:"blocked"`
	Tainted     int                            `json:"tainted"`
	Unreachable int                            `json:"unreachable"`
	Free        int                            `json:"free"`
	FreeAtOnce  int                            `json:"freeAtOnce"`
	Gone        int                            `json:"gone,omitempty"`
	Drivers     map[string]inspect.DeviceCount `json:"drivers"`
	// Assumed: the node itself could not be read; ResourceSlices name it.
	Assumed bool   `json:"assumed,omitempty"`
	Age     string `json:"age,omitempty"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`

	atMost bool // so many are free at most
}

// unusable says which devices nobody uses and nobody can get, and which are used though they are gone.
func unusable(c inspect.DeviceCount) string { return OrNone(words.Unusable(c)) }

// Nodes lists the nodes of a snapshot. The stand-in for "any node" is not among them.
func Nodes(s *inspect.Snapshot) *List {
	list := NewList("NodeList", "node", nodeTable)
	list.Partial = unseenHolders(s)
	for _, status := range s.NodeStatuses() {
		if s.NodesAssumed() && status.Name == inspect.PseudoNode {
			continue
		}
		c := status.Devices
		n := &Node{
			Name: string(status.Name), Devices: c.Total, Used: c.Used, Blocked: c.Blocked, Tainted: c.Tainted, Unreachable: c.Unreachable,
			Free: c.Free, FreeAtOnce: c.AtOnce, Gone: c.Gone,
			Drivers: map[string]inspect.DeviceCount{}, atMost: len(list.Partial) > 0, Listed: Listed{Meta{Name: string(status.Name)}},
		}
		for driver, count := range status.Drivers {
			n.Drivers[driver] = count
		}
		if node, ok := s.Node(status.Name); ok && !s.NodesAssumed() {
			n.Age, n.Created = age(node.CreationTimestamp, s.Time()), Timestamp(node.CreationTimestamp)
			n.Metadata.Labels, n.Metadata.Created = node.Labels, node.CreationTimestamp
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
		{Header: "USED", Wide: true}, {Header: "UNUSABLE", Wide: true},
	},
	Row: func(item Item) []string {
		n := item.(*Node)
		var drivers []string
		for _, driver := range n.driversBySize() {
			c := n.Drivers[driver]
			text := fmt.Sprintf("%s %s/%d", driver, freeText(c.Free, c.Free, n.atMost), c.Total)
			if c.AtOnce < c.Free {
				text += fmt.Sprintf(" (%d at once)", c.AtOnce)
			}
			if c.Gone > 0 {
				text += fmt.Sprintf(" (%d gone)", c.Gone)
			}
			drivers = append(drivers, text)
		}
		unusable := unusable(inspect.DeviceCount{Blocked: n.Blocked, Tainted: n.Tainted, Unreachable: n.Unreachable, Gone: n.Gone})
		return []string{
			n.Name, strconv.Itoa(n.Devices), freeText(n.Free, n.FreeAtOnce, n.atMost), OrNone(strings.Join(drivers, ", ")),
			cmp.Or(n.Age, "<unknown>"), strconv.Itoa(n.Used), unusable,
		}
	},
}

// driversBySize returns the drivers with most devices first, so that they remain where the list is cut.
func (n *Node) driversBySize() []string {
	return slices.SortedFunc(maps.Keys(n.Drivers), func(a, b string) int {
		return cmp.Or(cmp.Compare(n.Drivers[b].Total, n.Drivers[a].Total), cmp.Compare(a, b))
	})
}

// freeText is how many devices are free, and how many of them can be had together where that is fewer. Where
// claims that are not seen may hold some, it is as many at most.
func freeText(free, atOnce int, atMost bool) string {
	text := strconv.Itoa(free)
	if atMost && free > 0 {
		text = "≤" + text
	}
	if atOnce < free {
		text += fmt.Sprintf(" (%d at once)", atOnce)
	}
	return text
}
