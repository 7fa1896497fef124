package usage

import (
	"cmp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Of counts the claims that counts accepts, all of them if it is nil. The inventory is that of the snapshot.
func Of(s *inspect.Snapshot, inventory *inspect.Inventory, by By, counts func(*resourcev1.ResourceClaim) bool) *Report {
	c := &counter{
		snapshot: s, by: by, rows: map[Key]*tally{}, total: newTally(Key{}), held: map[inspect.ClaimRef][]grip{},
		idle: map[inspect.ClaimRef]bool{}, devices: inventory.Devices(), times: make([]int32, len(inventory.Devices())),
	}
	c.find()
	for _, claim := range s.Objects().Claims {
		if counts == nil || counts(claim) {
			c.claim(claim)
		}
	}
	return c.report(inventory)
}

// grip is a published device that a claim holds, by one entry of its allocation.
type grip struct {
	device *inspect.DeviceStatus
	at     int // its place among the devices of the inventory
	result *resourcev1.DeviceRequestAllocationResult
	shared bool
}

// counter adds up claims in rows.
type counter struct {
	snapshot *inspect.Snapshot
	by       By
	held     map[inspect.ClaimRef][]grip
	idle     map[inspect.ClaimRef]bool
	rows     map[Key]*tally
	total    *tally
	devices  []inspect.DeviceStatus
	times    []int32 // in how many rows each of the devices is
}

// find finds who holds what.
func (c *counter) find() {
	sharing := c.snapshot.Features().Enabled(inspect.GateConsumableCapacity)
	for i := range c.devices {
		d := &c.devices[i]
		for _, h := range d.Holders {
			if !h.Admin() {
				c.held[h.Claim] = append(c.held[h.Claim], grip{d, i, h.Result, h.Shared() && sharing})
			}
		}
	}
	for _, claim := range c.snapshot.IdleHolders() {
		c.idle[inspect.RefOf(claim)] = true
	}
}

func (c *counter) row(key Key) *tally {
	t := c.rows[key]
	if t == nil {
		t = newTally(key)
		c.rows[key] = t
	}
	return t
}

// claim counts a claim in every row that it has to do with, and in the total.
func (c *counter) claim(claim *resourcev1.ResourceClaim) {
	ref := inspect.RefOf(claim)
	entry, held, gone, idle := c.entry(claim), c.held[ref], c.gone(claim), c.idle[ref]
	entry.Wanted = wanted(claim, func(string) bool { return true })
	c.total.add(entry, held, len(gone), idle)
	keys := c.keys(claim)
	if c.by == Namespace || c.by == Workload { // where a claim is in a row with all that it holds
		for _, key := range keys {
			c.row(key).add(entry, held, len(gone), idle)
		}
		return
	}
	for _, key := range c.split(claim, keys, held, gone) {
		own := entry
		if c.by == Class {
			own.Wanted = wanted(claim, func(class string) bool { return class == key.Name })
		}
		c.row(key.Key).add(own, key.held, key.gone, idle)
	}
}

// part is what a claim holds in a row.
type part struct {
	Key
	held []grip
	gone int
}

// split divides what a claim holds among rows.
func (c *counter) split(claim *resourcev1.ResourceClaim, keys []Key, held []grip, gone []*resourcev1.DeviceRequestAllocationResult) []part {
	parts := make([]part, len(keys))
	for i, key := range keys {
		parts[i].Key = key
	}
	in := func(key Key) *part {
		i := slices.IndexFunc(parts, func(p part) bool { return p.Key == key })
		if i < 0 {
			i, parts = len(parts), append(parts, part{Key: key})
		}
		return &parts[i]
	}
	for _, g := range held {
		p := in(c.keyOf(claim, g))
		p.held = append(p.held, g)
	}
	for _, result := range gone {
		in(c.keyOf(claim, grip{result: result})).gone++
	}
	return parts
}

// gone are the entries of the allocation of a claim whose devices no slice publishes.
func (c *counter) gone(claim *resourcev1.ResourceClaim) []*resourcev1.DeviceRequestAllocationResult {
	if claim.Status.Allocation == nil {
		return nil
	}
	held := c.held[inspect.RefOf(claim)]
	var out []*resourcev1.DeviceRequestAllocationResult
	results := claim.Status.Allocation.Devices.Results
	for i := range results {
		r := &results[i]
		admin := r.AdminAccess != nil && *r.AdminAccess
		if !admin && !slices.ContainsFunc(held, func(g grip) bool { return g.result == r }) {
			out = append(out, r)
		}
	}
	return out
}

// report puts the rows in order.
func (c *counter) report(inventory *inspect.Inventory) *Report {
	for _, t := range c.rows {
		for at := range t.devices {
			c.times[at]++
		}
	}
	r := &Report{By: c.by, Unseen: !c.snapshot.Health(inspect.Pods).Complete(), Total: c.total.row(c.devices, c.times)}
	r.Counted, r.Total.Claims = len(r.Total.Claims), nil
	for _, t := range c.rows {
		r.Rows = append(r.Rows, t.row(c.devices, c.times))
	}
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Devices, a.Devices), cmp.Compare(b.Wanted, a.Wanted), cmp.Compare(b.Gone, a.Gone), a.compare(b.Key))
	})
	for i := range inventory.Drivers {
		d := &inventory.Drivers[i].Devices
		r.Cluster.Total += d.Total
		r.Cluster.Used += d.Used
		r.Cluster.Blocked += d.Blocked
		r.Cluster.Free += d.Free
		r.Cluster.AtOnce += d.AtOnce
	}
	return r
}

func (k Key) compare(other Key) int {
	return cmp.Or(strings.Compare(k.Namespace, other.Namespace), strings.Compare(k.Kind, other.Kind), strings.Compare(k.Name, other.Name), strings.Compare(k.Model, other.Model))
}
