package output

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Driver is an item of a DriverList: a driver that publishes devices, or of which claims still hold some.
type Driver struct {
	Listed
	Name    string              `json:"name"`
	Devices inspect.DeviceCount `json:"devices"`
	// Pools counts them, and BrokenPools those of which the scheduler takes no device.
	Pools       int `json:"pools"`
	BrokenPools int `json:"brokenPools"`
	// Nodes counts those to which pools are tied by name.
	Nodes int `json:"nodes"`

	atMost bool // so many are free at most
}

// Drivers lists the drivers of a snapshot.
func Drivers(s *inspect.Snapshot) *List {
	list := NewList("DriverList", "driver", driverTable)
	list.Partial = unseenHolders(s)
	known := map[string]*Driver{}
	driver := func(name string) *Driver {
		if known[name] == nil {
			known[name] = &Driver{Name: name, Listed: Listed{Meta{Name: name}}, atMost: len(list.Partial) > 0}
			list.Items = append(list.Items, known[name])
		}
		return known[name]
	}
	inventory := s.Inventory()
	for i := range inventory.Drivers {
		d := &inventory.Drivers[i]
		driver(d.Driver).Devices = d.Devices
	}
	nodes := map[string]map[inspect.NodeName]bool{}
	for _, stock := range inventory.Stocks {
		p := &stock.Pool
		d := driver(p.ID.Driver)
		if d.Pools++; p.Error != "" {
			d.BrokenPools++
		}
		if nodes[p.ID.Driver] == nil {
			nodes[p.ID.Driver] = map[inspect.NodeName]bool{}
		}
		if p.Node != "" && !nodes[p.ID.Driver][p.Node] {
			nodes[p.ID.Driver][p.Node] = true
			d.Nodes++
		}
	}
	slices.SortFunc(list.Items, func(a, b Item) int { return strings.Compare(a.Meta().Name, b.Meta().Name) })
	return list
}

var driverTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "DEVICES"}, {Header: "USED", Rank: 4}, {Header: "FREE"}, {Header: "UNUSABLE", Rank: 2}, {Header: "POOLS", Rank: 3},
		{Header: "BROKEN", Rank: 1}, {Header: "NODES", Rank: 5},
	},
	Row: func(item Item) []string {
		d := item.(*Driver)
		c := d.Devices
		return []string{
			d.Name, strconv.Itoa(c.Total), strconv.Itoa(c.Used), freeText(c.Free, c.AtOnce, d.atMost), unusable(c), strconv.Itoa(d.Pools),
			strconv.Itoa(d.BrokenPools), strconv.Itoa(d.Nodes),
		}
	},
}
