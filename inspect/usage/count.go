package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Of counts the claims that counts accepts, all of them if it is nil. The inventory is that of the snapshot.
func Of(s *inspect.Snapshot, inventory *inspect.Inventory, by By, counts func(*resourcev1.ResourceClaim) bool) *Report {
	return In(s, inventory, by, counts, nil, nil)
}

// In counts as [Of] does, by names that only the caller knows: those that a claim is in. There is a row for
// each of all, whether a claim is in it or not.
func In(s *inspect.Snapshot, inventory *inspect.Inventory, by By, counts func(*resourcev1.ResourceClaim) bool,
	all []string, names func(*resourcev1.ResourceClaim) []string) *Report {
	c := &counter{
		snapshot: s, by: by, names: names, rows: map[Key]*tally{}, total: newTally(Key{}), held: map[inspect.ClaimRef][]grip{},
		lost: map[inspect.ClaimRef][]loss{}, idle: map[inspect.ClaimRef]bool{},
		devices: inventory.Devices(), gone: inventory.Gone, times: make([]int32, len(inventory.Devices())),
	}
	c.find()
	for _, name := range all {
		c.row(Key{Name: name})
	}
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

// loss is a device that a claim holds, by one entry of its allocation, and that no slice publishes any more.
type loss struct {
	at     int // its place among those of the inventory that are gone
	result *resourcev1.DeviceRequestAllocationResult
}

// counter adds up claims in rows.
type counter struct {
	snapshot *inspect.Snapshot
	by       By
	names    func(*resourcev1.ResourceClaim) []string
	held     map[inspect.ClaimRef][]grip
	lost     map[inspect.ClaimRef][]loss
	idle     map[inspect.ClaimRef]bool
	rows     map[Key]*tally
	total    *tally
	devices  []inspect.DeviceStatus
	gone     []inspect.GoneDevice
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
	for i := range c.gone {
		for _, h := range c.gone[i].Holders {
			if !h.Admin() {
				c.lost[h.Claim] = append(c.lost[h.Claim], loss{i, h.Result})
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
	entry, held, lost, idle := c.entry(claim), c.held[ref], c.lost[ref], c.idle[ref]
	entry.Wanted = wanted(claim, func(string) bool { return true })
	c.total.add(entry, held, lost, idle)
	keys := c.keys(claim)
	if c.by != Class && c.by != Driver { // where a claim is in a row with all that it holds
		for _, key := range keys {
			c.row(key).add(entry, held, lost, idle)
		}
		return
	}
	for _, key := range c.split(claim, keys, held, lost) {
		own := entry
		if c.by == Class {
			own.Wanted = wanted(claim, func(class string) bool { return class == key.Name })
		}
		c.row(key.Key).add(own, key.held, key.lost, idle)
	}
}

// part is what a claim holds in a row.
type part struct {
	Key
	held []grip
	lost []loss
}

// split divides what a claim holds among rows.
func (c *counter) split(claim *resourcev1.ResourceClaim, keys []Key, held []grip, lost []loss) []part {
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
	for _, l := range lost {
		p := in(c.keyOf(claim, grip{result: l.result}))
		p.lost = append(p.lost, l)
	}
	return parts
}

// report puts the rows in order.
func (c *counter) report(inventory *inspect.Inventory) *Report {
	r := &Report{By: c.by, Unseen: !c.snapshot.Health(inspect.Pods).Complete(), Cluster: inventory.CountAll(), counter: c}
	r.add(slices.Collect(maps.Values(c.rows)), c.total)
	return r
}

// Keep drops the rows for which keep is false. The total is of those that are left.
func (r *Report) Keep(keep func(*Row) bool) {
	var rows []*tally
	total, claims := newTally(Key{}), map[inspect.ClaimRef]int{}
	for i := range r.Rows {
		if row := &r.Rows[i]; keep(row) {
			rows = append(rows, r.counter.rows[row.Key])
			total.merge(r.counter.rows[row.Key], claims)
		}
	}
	if len(rows) < len(r.Rows) {
		r.add(rows, total)
	}
}

// add adds up rows.
func (r *Report) add(rows []*tally, total *tally) {
	c := r.counter
	clear(c.times)
	for _, t := range rows {
		for at := range t.devices {
			c.times[at]++
		}
	}
	r.Total, r.Rows = total.row(c.devices, c.times), nil
	r.Counted, r.Total.Claims = len(r.Total.Claims), nil
	for _, t := range rows {
		r.Rows = append(r.Rows, t.row(c.devices, c.times))
	}
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Devices, a.Devices), cmp.Compare(b.Wanted, a.Wanted), cmp.Compare(b.Gone, a.Gone), a.compare(b.Key))
	})
}

func (k Key) compare(other Key) int {
	return cmp.Or(strings.Compare(k.Namespace, other.Namespace), strings.Compare(k.Kind, other.Kind), strings.Compare(k.Name, other.Name), strings.Compare(k.Model, other.Model))
}
