package output

import (
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Pool is an item of a PoolList.
type Pool struct {
	Listed
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	// Node is empty when the pool is not tied to one node by name.
	Node       string `json:"node"`
	Generation int64  `json:"generation"`
	Complete   bool   `json:"complete"`
	// Error begins with a code and a colon; empty when all is well.
	Error string `json:"error"`
	// Devices counts those that are published, whether slices are missing or not. A pool of which all slices
	// are gone is in no list.
	Devices inspect.DeviceCount `json:"devices"`
	// Counters are what partitions draw on, and Fits which of them still fit.
	Counters []inspect.CounterStatus `json:"counters,omitempty"`
	Fits     []inspect.KindFit       `json:"fits,omitempty"`
	// These counts are those of a ResourcePoolStatusRequest. They are absent while slices are missing. A
	// partition that is blocked counts as available there.
	Total       *int `json:"total,omitempty"`
	Allocated   *int `json:"allocated,omitempty"`
	Available   *int `json:"available,omitempty"`
	Unavailable *int `json:"unavailable,omitempty"`
	// Slices of SlicesWanted ResourceSlices are there.
	Slices       int64 `json:"slices"`
	SlicesWanted int64 `json:"slicesWanted"`
	// Partitions count the partitions by type. They draw on the same counters, so they do not add up.
	Partitions []inspect.PartitionStatus `json:"partitions,omitempty"`
	// Shareable sums up the devices that several claims can share.
	Shareable *Shareable `json:"shareable,omitempty"`

	atMost bool // so many are free at most
}

// Shareable sums up the devices of a pool that several claims can share.
type Shareable struct {
	FullyAvailable     int                          `json:"fullyAvailable"`
	PartiallyAvailable int                          `json:"partiallyAvailable"`
	Capacity           map[string]ShareableCapacity `json:"capacity,omitempty"`
}

// ShareableCapacity is one capacity over all of them.
type ShareableCapacity struct {
	Total     string `json:"total"`
	Consumed  string `json:"consumed"`
	Available string `json:"available"`
}

// Pools lists the pools of a snapshot.
func Pools(s *inspect.Snapshot) *List {
	list := NewList("PoolList", "pool", poolTable)
	list.Partial = unseenHolders(s)
	labels := labelsOfPools(s)
	for _, status := range s.PoolStatuses() {
		pool := wirePool(&status)
		pool.atMost = len(list.Partial) > 0
		ofSlices := labels[poolGeneration{status.ID, status.Generation}]
		pool.Metadata.Labels, pool.Metadata.OtherLabels = ofSlices[0], ofSlices[1:]
		list.Items = append(list.Items, pool)
	}
	return list
}

// poolGeneration names the slices of a pool that belong together.
type poolGeneration struct {
	pool       inspect.PoolID
	generation int64
}

// labelsOfPools returns the labels of the slices of each generation of each pool.
func labelsOfPools(s *inspect.Snapshot) map[poolGeneration][]map[string]string {
	out := map[poolGeneration][]map[string]string{}
	for _, slice := range s.Slices() {
		pool := inspect.PoolOf(slice)
		key := poolGeneration{pool, slice.Spec.Pool.Generation}
		out[key] = append(out[key], slice.Labels)
	}
	return out
}

func wirePool(status *inspect.PoolStatus) *Pool {
	p := &Pool{
		Driver: status.ID.Driver, Pool: status.ID.Pool, Node: string(status.Node), Generation: status.Generation,
		Complete: status.Complete, Error: status.Error, Slices: status.Slices, SlicesWanted: status.SlicesWanted,
		Devices: status.Devices, Counters: status.Counters, Fits: status.Fits, Partitions: status.Partitions,
		Listed: Listed{Meta{Name: status.ID.String(), Aliases: []string{status.ID.Pool}}},
	}
	if c := status.Counts; c != nil {
		p.Total, p.Allocated, p.Available, p.Unavailable = &c.Total, &c.Allocated, &c.Available, &c.Unavailable
	}
	if shareable := status.Shareable; shareable != nil {
		p.Shareable = &Shareable{FullyAvailable: shareable.Unused, PartiallyAvailable: shareable.Used, Capacity: map[string]ShareableCapacity{}}
		for _, c := range shareable.Capacity {
			p.Shareable.Capacity[string(c.Name)] = ShareableCapacity{Total: c.Total.String(), Consumed: c.Consumed.String(), Available: c.Available.String()}
		}
	}
	return p
}

var poolTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "DRIVER"}, {Header: "DEVICES"}, {Header: "USED", Rank: 3}, {Header: "FREE"}, {Header: "UNUSABLE", Rank: 2}, {Header: "ERROR", Cut: CutText, Least: 24, Rank: 1},
		{Header: "NODE", Wide: true}, {Header: "GENERATION", Wide: true}, {Header: "SLICES", Wide: true}, {Header: "K8S-AVAIL", Wide: true}, {Header: "K8S-UNAVAIL", Wide: true}, {Header: "FITS", Wide: true}, {Header: "COUNTERS-LEFT", Wide: true},
	},
	Row: func(item Item) []string {
		p := item.(*Pool)
		c := p.Devices
		return []string{
			p.Pool, p.Driver, strconv.Itoa(c.Total), strconv.Itoa(c.Used), freeText(c.Free, c.AtOnce, p.atMost), unusable(c), OrNone(p.Error),
			OrNone(p.Node), strconv.FormatInt(p.Generation, 10), strconv.FormatInt(p.Slices, 10) + "/" + strconv.FormatInt(p.SlicesWanted, 10),
			CountText(p.Available), CountText(p.Unavailable), p.fitsText(), p.countersText(),
		}
	},
}

func (p *Pool) fitsText() string {
	if len(p.Fits) == 0 {
		return "<none>"
	}
	return words.Fits(p.Fits)
}

// countersText lists what is left of each counter, the sets one after another.
func (p *Pool) countersText() string {
	var texts []string
	set := ""
	for i := range p.Counters {
		c := &p.Counters[i]
		text := c.Counter + " " + c.Left.String() + "/" + c.Total.String()
		if c.Set != set {
			set = c.Set
			text = set + ": " + text
		}
		texts = append(texts, text)
	}
	return OrNone(strings.Join(texts, ", "))
}
