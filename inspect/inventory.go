package inspect

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Inventory is what there is and what can be had of it: the same devices, counted by device, node, pool and
// driver.
type Inventory struct {
	// Stocks are all pools with their devices, sorted by driver and pool.
	Stocks  []*Stock
	Nodes   []NodeStatus   // as of [Snapshot.NodeStatuses]
	Drivers []DriverStatus // sorted by driver
	// Gone are the devices that claims hold though no slice publishes them any more, sorted. There are none
	// where slices could not be read: then nothing is known to be gone.
	Gone []GoneDevice

	snapshot *Snapshot
	levels   map[PoolID]CounterLevels
	pools    map[NodeName][]*NodePool // that reach a node
	tied     map[NodeName][]place     // the devices that are tied to a node by name, sorted
	devices  func() []DeviceStatus
}

// Stock is a pool with its devices. Inventories that follow from each other share those of pools in which
// nothing has changed, so it must not be written.
type Stock struct {
	Pool    PoolStatus
	Devices []DeviceStatus // sorted by name
	gone    []GoneDevice   // of the pool, sorted
}

// place is where a device is: the indexes of its pool and of the device in it.
type place struct{ stock, device int32 }

// Inventory returns all of it. That costs little more than the devices alone.
func (s *Snapshot) Inventory() *Inventory {
	r := s.reach()
	i := s.newInventory(r.levels, r.pools)
	for id := range s.poolIDs() {
		i.Stocks = append(i.Stocks, s.stockOf(id, r))
	}
	i.tie()
	i.findGone()
	i.Nodes = i.nodeStatuses(s.objects.Nodes)
	i.Drivers = i.driverStatuses()
	return i
}

func (s *Snapshot) newInventory(levels map[PoolID]CounterLevels, pools map[NodeName][]*NodePool) *Inventory {
	i := &Inventory{snapshot: s, levels: levels, pools: pools}
	i.devices = sync.OnceValue(func() []DeviceStatus {
		n := 0
		for _, stock := range i.Stocks {
			n += len(stock.Devices)
		}
		all := make([]DeviceStatus, 0, n)
		for _, stock := range i.Stocks {
			all = append(all, stock.Devices...)
		}
		return all
	})
	return i
}

// stockOf returns a pool with its devices.
func (s *Snapshot) stockOf(id PoolID, r *reach) *Stock {
	n := 0
	for _, info := range s.slicesOfPool(id) {
		n += len(info.slice.Spec.Devices)
	}
	devices := s.appendDevices(make([]DeviceStatus, 0, n), r, id)
	stock := &Stock{Pool: s.statusOf(id, r, devices), Devices: devices, gone: s.goneOf(id, devices)}
	stock.Pool.Devices.Gone = len(stock.gone)
	return stock
}

// Devices returns all devices in one list, as of [Snapshot.Devices]. It is made when it is first asked for,
// and shared.
func (i *Inventory) Devices() []DeviceStatus { return i.devices() }

// Newest yields the devices without those of generations that are obsolete, in the order of Devices. A newer
// generation makes an older one obsolete even where its slices have no devices.
func (i *Inventory) Newest() iter.Seq[*DeviceStatus] {
	return func(yield func(*DeviceStatus) bool) {
		for _, stock := range i.Stocks {
			for n := range stock.Devices {
				if d := &stock.Devices[n]; d.Slice.Spec.Pool.Generation == stock.Pool.Generation && !yield(d) {
					return
				}
			}
		}
	}
}

// tie writes down which devices are tied to nodes.
func (i *Inventory) tie() {
	i.tied = map[NodeName][]place{}
	for s, stock := range i.Stocks {
		for d := range stock.Devices {
			if node := stock.Devices[d].Node; node != "" {
				i.tied[node] = append(i.tied[node], place{int32(s), int32(d)}) //nolint:gosec // one for each device in memory
			}
		}
	}
}

// CountAll counts all devices, each once.
func (i *Inventory) CountAll() DeviceCount {
	var c DeviceCount
	for at := range i.Drivers {
		c.plus(i.Drivers[at].Devices)
	}
	return c
}

// Count counts some of the devices.
func (i *Inventory) Count(devices iter.Seq[*DeviceStatus]) DeviceCount {
	var t tally
	for d := range devices {
		t.add(d, i.levels)
	}
	return t.count(i.levels)
}

// On returns the devices of a node of the snapshot: those that are tied to it by name, whether they can be
// used or not, and then those of usable pools that reach it besides. A device that several nodes can use is
// on each.
func (i *Inventory) On(node *corev1.Node) []*DeviceStatus {
	name := NodeName(node.Name)
	out := make([]*DeviceStatus, len(i.tied[name]))
	for n, at := range i.tied[name] {
		out[n] = &i.Stocks[at.stock].Devices[at.device]
	}
	for _, pool := range i.pools[name] {
		if !pool.Usable() {
			continue
		}
		for _, slice := range pool.Slices {
			for at := range slice.Spec.Devices {
				if ok, err := slice.DeviceReaches(node, at); err != nil || !ok {
					continue
				}
				// A pool that can be used publishes no device twice for a node.
				id := DeviceIDOf(slice.ResourceSlice, at)
				if _, tied := slices.BinarySearchFunc(out[:len(i.tied[name])], id, func(d *DeviceStatus, id DeviceID) int { return d.ID.Compare(id) }); tied {
					continue // most are, and are found so sooner than among all devices
				}
				if d := i.Device(id); d != nil && d.Node != name {
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// Device returns the status of a device, or nil if no slice publishes it.
func (i *Inventory) Device(id DeviceID) *DeviceStatus {
	stock := i.Stock(id.PoolID())
	if stock == nil {
		return nil
	}
	at, ok := slices.BinarySearchFunc(stock.Devices, id.Device, func(d DeviceStatus, name string) int { return strings.Compare(d.ID.Device, name) })
	if !ok {
		return nil
	}
	return &stock.Devices[at]
}

// Stock returns a pool with its devices, or nil if no slice is of it.
func (i *Inventory) Stock(id PoolID) *Stock {
	at, ok := slices.BinarySearchFunc(i.Stocks, id, func(s *Stock, id PoolID) int { return s.Pool.ID.Compare(id) })
	if !ok {
		return nil
	}
	return i.Stocks[at]
}

// Pool returns the status of a pool, or nil if no slice is of it.
func (i *Inventory) Pool(id PoolID) *PoolStatus {
	stock := i.Stock(id)
	if stock == nil {
		return nil
	}
	return &stock.Pool
}

// DriverStatus sums up the pools of a driver. Devices that draw on counters overlap: of them, as many as
// there are could never be used at once. How full they are is what Counters say.
type DriverStatus struct {
	Driver string
	// Devices counts all, Whole only those that draw on no counters.
	Devices, Whole DeviceCount
	// Counters are sums over all counter sets, by name. They are nil if there are none.
	Counters []CounterStatus
}

// CounterStatus is how much there is of a counter, and how much of it the devices that are held leave. Left
// is negative where they take more than there is.
type CounterStatus struct {
	// Set is the counter set of a pool. It is empty in a sum over several.
	Set     string            `json:"set"`
	Counter string            `json:"counter"`
	Total   resource.Quantity `json:"total"`
	Left    resource.Quantity `json:"left"`
}

// Used is the share of the counter that is taken, from 0 to 1.
func (c *CounterStatus) Used() float64 {
	total := c.Total.AsApproximateFloat64()
	if total <= 0 {
		return 0
	}
	return max(0, min(1, 1-c.Left.AsApproximateFloat64()/total))
}

// Scarcest returns the counter of which the largest share is taken, or nil if there is none.
func (d *DriverStatus) Scarcest() *CounterStatus {
	var most *CounterStatus
	for i := range d.Counters {
		if most == nil || d.Counters[i].Used() > most.Used() {
			most = &d.Counters[i]
		}
	}
	return most
}

// driverStatuses sums up the pools of each driver. One whose pools are all gone has only devices that are.
func (i *Inventory) driverStatuses() []DriverStatus {
	byDriver := map[string]*DriverStatus{}
	of := func(driver string) *DriverStatus {
		d := byDriver[driver]
		if d == nil {
			d = &DriverStatus{Driver: driver}
			byDriver[driver] = d
		}
		return d
	}
	for at := range i.Gone {
		if id := i.Gone[at].ID; i.Stock(id.PoolID()) == nil {
			of(id.Driver).Devices.Gone++
		}
	}
	counters := map[[2]string]*CounterStatus{}
	for _, stock := range i.Stocks {
		p := &stock.Pool
		d := of(p.ID.Driver)
		d.Devices.plus(p.Devices)
		d.Whole.plus(p.Whole)
		for _, c := range p.Counters {
			key := [2]string{p.ID.Driver, c.Counter}
			if sum := counters[key]; sum != nil {
				sum.Total.Add(c.Total)
				sum.Left.Add(c.Left)
				continue
			}
			counters[key] = &CounterStatus{Counter: c.Counter, Total: c.Total.DeepCopy(), Left: c.Left.DeepCopy()}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(counters), func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) }) {
		byDriver[key[0]].Counters = append(byDriver[key[0]].Counters, *counters[key])
	}
	out := make([]DriverStatus, 0, len(byDriver))
	for _, driver := range slices.Sorted(maps.Keys(byDriver)) {
		out = append(out, *byDriver[driver])
	}
	return out
}
