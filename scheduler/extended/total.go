package extended

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Total is a resource on all nodes together.
type Total struct {
	Resource corev1.ResourceName
	// Class is that of the offers.
	Class string
	// Part says that nodes were left out.
	Part bool
	// Nodes is how many have something healthy.
	Nodes int
	// Count adds up those of the nodes. A device that several nodes can use counts once.
	Count
	// MostFree is how much is free on the node that has most, the first of those by name. A pod gets all that
	// it asks for on one node, so it is also the most that a pod can get. MostFree is nil if it could not be
	// read, and the name empty if it is 0.
	MostFree     *int64
	MostFreeNode inspect.NodeName
	// Waiting are the pods that ask for it and are on no node, sorted.
	Waiting []Use
}

// Fragmented reports whether more is free than any pod can get.
func (t *Total) Fragmented() bool { return t.Free != nil && t.MostFree != nil && *t.Free > *t.MostFree }

// Wanted is the sum of what pods wait for.
func (t *Total) Wanted() int64 { return used(t.Waiting) }

// Totals adds up those offers for which keep is true, by resource. They are sorted by it.
func (s *Survey) Totals(keep func(*Offer) bool) []Total {
	var out []Total
	for i := 0; i < len(s.Offers); {
		from := i
		for i < len(s.Offers) && s.Offers[i].Resource == s.Offers[from].Resource {
			i++
		}
		var kept []*Offer
		for j := from; j < i; j++ {
			if keep(&s.Offers[j]) {
				kept = append(kept, &s.Offers[j])
			}
		}
		if len(kept) > 0 {
			t := s.total(kept)
			t.Part = len(kept) < i-from
			out = append(out, t)
		}
	}
	return out
}

// total adds up offers of one resource.
func (s *Survey) total(offers []*Offer) Total {
	t := Total{
		Resource: offers[0].Resource, Class: offers[0].Class, Waiting: s.waiting[offers[0].Resource],
		Count: Count{new(int64), new(int64), new(int64), new(int64)}, MostFree: new(int64),
	}
	all := Offer{ServedBy: DRA, Devices: &Devices{}} // of those that DRA serves
	seen := map[*inspect.DeviceStatus]bool{}
	for _, o := range offers {
		if o.Healthy != nil && *o.Healthy > 0 {
			t.Nodes++
		}
		switch {
		case o.Free == nil:
			t.MostFree = nil
		case t.MostFree != nil && *o.Free > *t.MostFree:
			t.MostFree, t.MostFreeNode = o.Free, o.Node
		}
		switch {
		case o.ServedBy != DRA:
			t.Count = t.plus(o.Count)
		case o.Devices != nil:
			all.Devices.add(o.Devices, seen)
		}
	}
	if t.MostFree == nil {
		t.MostFreeNode = ""
	}
	s.settle(all.Devices)
	all.count(s.read)
	if t.Class != "" {
		t.Count = t.plus(all.Count)
	}
	return t
}

// add adds the devices of a node that were not seen on others.
func (d *Devices) add(other *Devices, seen map[*inspect.DeviceStatus]bool) {
	d.Fails = cmp.Or(d.Fails, other.Fails)
	for _, device := range other.devices {
		if !seen[device] {
			seen[device] = true
			d.devices = append(d.devices, device)
		}
	}
}

// plus adds up what is known in both.
func (c Count) plus(other Count) Count {
	add := func(a, b *int64) *int64 {
		if a == nil || b == nil {
			return nil
		}
		sum := plus(*a, *b)
		return &sum
	}
	return Count{add(c.Offered, other.Offered), add(c.Healthy, other.Healthy), add(c.Used, other.Used), add(c.Free, other.Free)}
}
