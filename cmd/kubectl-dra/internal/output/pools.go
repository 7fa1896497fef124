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
	Devices DeviceCount `json:"devices"`
	// Counters are what partitions draw on, and Fits which of them still fit.
	Counters []Counter `json:"counters,omitempty"`
	Fits     []KindFit `json:"fits,omitempty"`
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
	Partitions []Partition `json:"partitions,omitempty"`
	// Shareable sums up the devices that several claims can share.
	Shareable *Shareable `json:"shareable,omitempty"`

	fits   []inspect.KindFit
	atMost bool // so many are free at most
}

// Counter is one counter of a counter set.
type Counter struct {
	Set     string `json:"set"`
	Counter string `json:"counter"`
	Total   string `json:"total"`
	Left    string `json:"left"`
}

// KindFit is how many partitions of one kind still fit if nothing else is taken. The numbers of several kinds
// do not add up.
type KindFit struct {
	Kind  string `json:"kind"`
	Total int    `json:"total"`
	Fits  int    `json:"fits"`
}

// Partition is the partitions of one type.
type Partition struct {
	Attribute   string `json:"attribute"`
	Type        string `json:"type"`
	Total       int    `json:"total"`
	Allocatable int    `json:"allocatable"`
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
		Listed: Listed{Meta{Name: status.ID.String(), Aliases: []string{status.ID.Pool}}},
	}
	if c := status.Counts; c != nil {
		p.Total, p.Allocated, p.Available, p.Unavailable = &c.Total, &c.Allocated, &c.Available, &c.Unavailable
	}
	p.Devices = deviceCount(status.Devices)
	for i := range status.Counters {
		c := &status.Counters[i]
		p.Counters = append(p.Counters, Counter{Set: c.Set, Counter: c.Counter, Total: c.Total.String(), Left: c.Left.String()})
	}
	for _, fit := range status.Fits {
		p.Fits = append(p.Fits, KindFit(fit))
	}
	p.fits = status.Fits
	for _, part := range status.Partitions {
		p.Partitions = append(p.Partitions, Partition(part))
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
			p.Pool, p.Driver, strconv.Itoa(c.Total), strconv.Itoa(c.Used), freeText(c.Free, c.FreeAtOnce, p.atMost), c.unusable(), OrNone(p.Error),
			OrNone(p.Node), strconv.FormatInt(p.Generation, 10), strconv.FormatInt(p.Slices, 10) + "/" + strconv.FormatInt(p.SlicesWanted, 10),
			CountText(p.Available), CountText(p.Unavailable), p.fitsText(), p.countersText(),
		}
	},
}

func (p *Pool) fitsText() string {
	if p.Fits == nil {
		return "<none>"
	}
	return words.Fits(p.fits)
}

// countersText lists what is left of each counter, the sets one after another.
func (p *Pool) countersText() string {
	var texts []string
	set := ""
	for _, c := range p.Counters {
		text := c.Counter + " " + c.Left + "/" + c.Total
		if c.Set != set {
			set = c.Set
			text = set + ": " + text
		}
		texts = append(texts, text)
	}
	return OrNone(strings.Join(texts, ", "))
}
