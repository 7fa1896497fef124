package requirement

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// What the devices of a node have instead of what a requirement wants: the nearest miss. It is said behind
// the requirement, as in "gpu wants memory >= 96Gi; devices here have 80Gi".

// maxValues is how many values are named.
const maxValues = 4

// devicesFor lists the devices that the request could be about: those that its selectors accept, or else
// those of its class.
func devicesFor(r *allocator.ExaminedRequest) []*allocator.ExaminedDevice {
	if selected := DevicesSelected(r); len(selected) > 0 {
		return selected
	}
	return DevicesWithout(r, allocator.ClassSelectorRejected)
}

// DevicesSelected lists the devices that the selectors of a request accept.
func DevicesSelected(r *allocator.ExaminedRequest) []*allocator.ExaminedDevice {
	return DevicesWithout(r, allocator.ClassSelectorRejected, allocator.SelectorRejected, allocator.SelectorError)
}

// DevicesWithout lists the devices for the node that have none of the failures.
func DevicesWithout(r *allocator.ExaminedRequest, codes ...allocator.Code) []*allocator.ExaminedDevice {
	var out []*allocator.ExaminedDevice
	for i := range r.Devices {
		if d := &r.Devices[i]; d.Fails(codes...) == nil && !d.Elsewhere {
			out = append(out, d)
		}
	}
	return out
}

// meant names what devices have that may be meant by an attribute or a capacity which they do not have.
func meant[Name ~string](wanted Name, names []Name) string {
	texts := words.Each(spell.Meant(wanted, names), func(name Name) string { return string(name) })
	if len(texts) == 0 {
		return ""
	}
	return ", but there is " + strings.Join(texts, ", ")
}

// CapacityNames are the names of the capacities that devices have, as they are published. They are sorted.
func CapacityNames(devices []*allocator.ExaminedDevice) []resourcev1.QualifiedName {
	names := map[resourcev1.QualifiedName]bool{}
	for _, d := range devices {
		for name := range d.Device.Capacity {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ScalarText prints a value; false for lists and nothing.
func ScalarText(a *resourcev1.DeviceAttribute) (string, bool) {
	switch {
	case a == nil:
	case a.StringValue != nil:
		return *a.StringValue, true
	case a.VersionValue != nil:
		return *a.VersionValue, true
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10), true
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue), true
	}
	return "", false
}

// frequent lists texts by their number, the highest first.
func frequent(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}
