package inspect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// KindFit says how many devices of one kind still fit into a pool, if nothing else is taken from it. Devices
// are of one kind if they take as much of the counters of the same names, of whichever counter set. So the
// numbers of several kinds do not add up.
type KindFit struct {
	// Kind is what people call it: the partition type, or else the value of the attribute that tells the
	// kinds of the pool apart. Where there is no such attribute it is what a device takes, as "memory 10Gi".
	Kind string `json:"kind"`
	// Total counts the devices of the kind, Fits how many more of them can be had at once.
	Total int `json:"total"`
	Fits  int `json:"fits"`
}

// kind is devices that cost as much.
type kind struct {
	cost          string
	devices, free []*resourcev1.Device
}

// kindFits returns the kinds of the devices of a pool that draw on its counters, of which so much is left.
func kindFits(devices []DeviceStatus, left CounterLevels) []KindFit {
	kinds := kindsOf(devices)
	if len(kinds) == 0 {
		return nil
	}
	name := nameOfKinds(devices, kinds)
	fits := make([]KindFit, len(kinds))
	for i, k := range kinds {
		fits[i] = KindFit{Kind: k.cost, Total: len(k.devices), Fits: left.atOnce(k.free)}
		if name != "" {
			fits[i].Kind, _ = stringAttribute(k.devices[0], name)
		}
	}
	slices.SortStableFunc(fits, func(a, b KindFit) int { return strings.Compare(a.Kind, b.Kind) })
	return fits
}

func kindsOf(devices []DeviceStatus) []*kind {
	byCost := map[string]*kind{}
	for i := range devices {
		d := devices[i].Device
		if len(d.ConsumesCounters) == 0 {
			continue
		}
		cost := kindCost(d)
		k := byCost[cost]
		if k == nil {
			k = &kind{cost: cost}
			byCost[cost] = k
		}
		k.devices = append(k.devices, d)
		if devices[i].State == DeviceFree && !devices[i].Held() {
			k.free = append(k.free, d)
		}
	}
	var kinds []*kind
	for _, cost := range slices.Sorted(maps.Keys(byCost)) {
		kinds = append(kinds, byCost[cost])
	}
	return kinds
}

// kindCost says what a device takes, whichever counter sets it takes it from.
func kindCost(d *resourcev1.Device) string {
	return costText(d, func(id CounterID, amount resource.Quantity) string {
		return id.Counter + " " + amount.String()
	})
}

// costText joins what is said of each counter that a device consumes, so that equal costs give equal text.
func costText(d *resourcev1.Device, say func(CounterID, resource.Quantity) string) string {
	var parts []string
	for id, amount := range Consumption(d) {
		parts = append(parts, say(id, amount))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// usualKinds are the names, without domain and in lower case, of attributes that drivers use for the kinds of
// partitions.
var usualKinds = []string{"profile", "type", "model", "productname"}

// nameOfKinds returns the attribute that has one text for each kind and another for each other one, or "". Of
// several the partition type comes first, then usual names.
func nameOfKinds(devices []DeviceStatus, kinds []*kind) resourcev1.QualifiedName {
	declared := map[resourcev1.QualifiedName]bool{}
	for i := range devices {
		if name := devices[i].Slice.Spec.PartitionTypeAttribute; name != nil {
			declared[resourcev1.QualifiedName(*name)] = true
			if bare, own := strings.CutPrefix(string(*name), devices[i].ID.Driver+"/"); own {
				declared[resourcev1.QualifiedName(bare)] = true
			}
		}
	}
	rank := func(name resourcev1.QualifiedName) int {
		if declared[name] {
			return -1
		}
		short := strings.ToLower(string(name)[strings.LastIndexByte(string(name), '/')+1:])
		if at := slices.Index(usualKinds, short); at >= 0 {
			return at
		}
		return len(usualKinds)
	}
	names := slices.SortedFunc(maps.Keys(kinds[0].devices[0].Attributes), func(a, b resourcev1.QualifiedName) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		if tellsApart(kinds, name) {
			return name
		}
	}
	return ""
}

func tellsApart(kinds []*kind, name resourcev1.QualifiedName) bool {
	seen := map[string]bool{}
	for _, k := range kinds {
		first, ok := stringAttribute(k.devices[0], name)
		if !ok || seen[first] {
			return false
		}
		seen[first] = true
		for _, d := range k.devices[1:] {
			if text, ok := stringAttribute(d, name); !ok || text != first {
				return false
			}
		}
	}
	return true
}

func stringAttribute(d *resourcev1.Device, name resourcev1.QualifiedName) (string, bool) {
	if a, ok := d.Attributes[name]; ok && a.StringValue != nil {
		return *a.StringValue, true
	}
	return "", false
}
