package inspect

import (
	"cmp"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// DeviceCount counts devices by what can be had of them. Every view that counts devices counts them so. A
// device that is published is one of five things:
//
//   - used: a claim holds it or a share of it, whatever else is the matter with it. Admin access holds
//     nothing.
//   - free: nobody holds it and a claim could get it now. Its state is DeviceFree.
//   - blocked, tainted or unreachable: nobody holds it, and its state (DeviceBlocked, DeviceTainted,
//     DeviceUnreachable) says why a claim cannot just get it.
//
// So Total = Used + Free + Blocked + Tainted + Unreachable. Each free device can be had, but those that draw
// on the same counters not all of them together: AtOnce says how many can.
//
// Example: a GPU that can be had whole, in halves or in quarters, of which a half is taken: Total 7, Used 1,
// Blocked 1 (the whole), Free 5 (a half and four quarters), AtOnce 2.
//
// The counts of a ResourcePoolStatusRequest are others: there a blocked partition is available
// ([PoolCounts]).
type DeviceCount struct {
	Total       int `json:"total"`
	Used        int `json:"used"`
	Blocked     int `json:"blocked"`
	Tainted     int `json:"tainted"`
	Unreachable int `json:"unreachable"`
	Free        int `json:"free"`
	// AtOnce is how many of the free devices can be had together, if the smallest are taken first. More than
	// that can fit only where devices draw on several counters in different proportions.
	AtOnce int `json:"freeAtOnce"`
	// Gone are held by claims though no slice publishes them any more. They are no part of Total.
	Gone int `json:"gone,omitempty"`
}

func (c *DeviceCount) plus(other DeviceCount) {
	c.Total += other.Total
	c.Used += other.Used
	c.Free += other.Free
	c.Blocked += other.Blocked
	c.Tainted += other.Tainted
	c.Unreachable += other.Unreachable
	c.Gone += other.Gone
	c.AtOnce += other.AtOnce
}

// Unusable is how many devices nobody holds and no claim can just get.
func (c DeviceCount) Unusable() int { return c.Blocked + c.Tainted + c.Unreachable }

// Held reports whether a claim holds the device or a share of it, other than by admin access.
func (d *DeviceStatus) Held() bool { return heldBy(d.Holders) }

// tally counts devices, and remembers the free ones that draw on counters.
type tally struct {
	DeviceCount
	parts map[PoolID][]*resourcev1.Device
}

func (t *tally) add(d *DeviceStatus, levels map[PoolID]CounterLevels) {
	t.Total++
	switch {
	case d.Held():
		t.Used++
	case d.State == DeviceBlocked:
		t.Blocked++
	case d.State == DeviceTainted:
		t.Tainted++
	case d.State != DeviceFree:
		t.Unreachable++
	case len(d.Device.ConsumesCounters) > 0 && levels[d.ID.PoolID()] != nil:
		t.Free++
		if t.parts == nil {
			t.parts = map[PoolID][]*resourcev1.Device{}
		}
		t.parts[d.ID.PoolID()] = append(t.parts[d.ID.PoolID()], d.Device)
	default:
		t.Free++
		t.AtOnce++
	}
}

// count returns the counts, given what is left of the counters of the pools.
func (t *tally) count(levels map[PoolID]CounterLevels) DeviceCount {
	c := t.DeviceCount
	for id, devices := range t.parts {
		c.AtOnce += levels[id].atOnce(devices)
	}
	return c
}

// atOnce returns how many of the devices fit together into what is left, the smallest first.
func (l CounterLevels) atOnce(devices []*resourcev1.Device) int {
	type part struct {
		device *resourcev1.Device
		size   float64 // the largest share of a counter
	}
	parts := make([]part, len(devices))
	for i, device := range devices {
		parts[i].device = device
		for id, amount := range Consumption(device) {
			if level := l[id]; amount.Sign() > 0 {
				parts[i].size = max(parts[i].size, amount.AsApproximateFloat64()/level.AsApproximateFloat64())
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.size, b.size) })
	left, n := maps.Clone(l), 0
	for _, p := range parts {
		if left.Short(p.device) == nil {
			left.Take(p.device)
			n++
		}
	}
	return n
}
