package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// tally is a row that is being added up.
type tally struct {
	key     Key
	devices map[int]holding // by their places in the inventory
	gone    map[int]bool    // by their places among those that are gone
	claims  []Claim
}

// holding is how a row holds a device.
type holding struct {
	whole, busy bool // by a claim that holds all of it, by one that is not idle
	shares      map[resourcev1.QualifiedName]float64
}

func newTally(key Key) *tally {
	return &tally{key: key, devices: map[int]holding{}, gone: map[int]bool{}}
}

// add adds a claim with what it holds in the row.
func (t *tally) add(claim Claim, grips []grip, lost []loss, idle bool) {
	claim.Devices = 0
	for i, g := range grips {
		if !slices.ContainsFunc(grips[:i], func(other grip) bool { return other.at == g.at }) {
			claim.Devices++
		}
		h := t.devices[g.at]
		h.busy = h.busy || !idle
		h.take(g)
		t.devices[g.at] = h
	}
	for _, l := range lost {
		t.gone[l.at] = true
	}
	t.claims = append(t.claims, claim)
}

// merge adds another row, of which claims says where those are that are counted already.
func (t *tally) merge(other *tally, claims map[inspect.ClaimRef]int) {
	for at, add := range other.devices {
		h := t.devices[at]
		h.whole, h.busy = h.whole || add.whole, h.busy || add.busy
		for name, share := range add.shares {
			if h.shares == nil {
				h.shares = map[resourcev1.QualifiedName]float64{}
			}
			h.shares[name] += share
		}
		t.devices[at] = h
	}
	for at := range other.gone {
		t.gone[at] = true
	}
	for _, c := range other.claims {
		if at, known := claims[c.Ref]; known {
			t.claims[at].Devices += c.Devices
			t.claims[at].Wanted += c.Wanted
			continue
		}
		claims[c.Ref] = len(t.claims)
		t.claims = append(t.claims, c)
	}
}

func (h *holding) take(g grip) {
	if !g.shared {
		h.whole = true
		return
	}
	if h.shares == nil {
		h.shares = map[resourcev1.QualifiedName]float64{}
	}
	for name, q := range g.result.ConsumedCapacity {
		total := g.device.Device.Capacity[name].Value
		if n := total.AsApproximateFloat64(); n > 0 {
			h.shares[name] += q.AsApproximateFloat64() / n
		}
	}
}

// part is which part of a shared device is held.
func (h *holding) part() float64 {
	most := 0.0
	for _, share := range h.shares {
		most = max(most, share)
	}
	return min(1, most)
}

// row adds up. times says in how many rows each of the devices is.
func (t *tally) row(devices []inspect.DeviceStatus, times []int32) Row {
	r := Row{Key: t.key, Claims: slices.Clone(t.claims)}
	r.Gone = len(t.gone)
	drivers := map[string]int{}
	counters := map[CounterAmount]resource.Quantity{}
	for _, at := range slices.Sorted(maps.Keys(t.devices)) {
		d, h := &devices[at], t.devices[at]
		r.device(d, &h)
		drivers[d.ID.Driver]++
		if times[at] > 1 {
			r.Joint++
		}
		for id, amount := range inspect.Consumption(d.Device) {
			key := CounterAmount{Driver: d.ID.Driver, Counter: id.Counter}
			sum := counters[key].DeepCopy()
			sum.Add(amount)
			counters[key] = sum
		}
	}
	for driver, n := range drivers {
		r.Drivers = append(r.Drivers, DriverAmount{driver, n})
	}
	slices.SortFunc(r.Drivers, func(a, b DriverAmount) int {
		return cmp.Or(cmp.Compare(b.Devices, a.Devices), strings.Compare(a.Driver, b.Driver))
	})
	for _, key := range slices.SortedFunc(maps.Keys(counters), func(a, b CounterAmount) int {
		return cmp.Or(strings.Compare(a.Driver, b.Driver), strings.Compare(a.Counter, b.Counter))
	}) {
		r.Counters = append(r.Counters, CounterAmount{key.Driver, key.Counter, counters[key]})
	}
	r.sumClaims()
	return r
}

func (r *Row) device(d *inspect.DeviceStatus, h *holding) {
	r.Devices++
	switch {
	case len(d.Device.ConsumesCounters) > 0:
		r.Partitions++
	case h.whole:
		r.Whole++
	default:
		r.Shared++
		r.Shares += h.part()
	}
	if !h.busy {
		r.Idle++
	}
}

// sumClaims counts the claims by their states and sorts them.
func (r *Row) sumClaims() {
	for i := range r.Claims {
		c := &r.Claims[i]
		switch c.State {
		case Refused:
			r.Refused++
			r.Wanted += c.Wanted
			r.RefusedSince = earliest(r.RefusedSince, c.Since)
		case Idle:
			r.IdleClaims++
			r.IdleSince = earliest(r.IdleSince, c.Since)
		case Waiting:
			r.Waiting++
		case Held:
		}
	}
	slices.SortStableFunc(r.Claims, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.State.rank(), b.State.rank()), cmp.Compare(b.Devices, a.Devices), cmp.Compare(b.Wanted, a.Wanted),
			strings.Compare(a.Ref.Namespace, b.Ref.Namespace), strings.Compare(a.Ref.Name, b.Ref.Name))
	})
}

func (s State) rank() int { return slices.Index([]State{Refused, Idle, Held, Waiting}, s) }

// earliest is the earlier of two moments, of which a zero one is not known.
func earliest(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}
