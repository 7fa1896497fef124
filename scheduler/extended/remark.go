package extended

import (
	"fmt"
	"strings"
)

// Remarks are clauses for the reader: what the counts of an offer do not say. They may hold names from the
// cluster, which are not sanitised yet.
func (o *Offer) Remarks() []string {
	var out []string
	say := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	plugin, devices := o.plugin(), o.devices()
	served := o.ServedBy == DevicePlugin
	say(o.Cordoned, "cordoned")
	say(plugin.Capacity > 0 && plugin.Allocatable == 0, "all %d are unhealthy, or the device plugin has stopped", plugin.Capacity)
	say(o.Plugin != nil && plugin.Capacity == 0 && plugin.Allocatable == 0, "its device plugin is gone")
	say(o.ServedBy == DRA && len(plugin.Pods) > 0, "pods still have %d of the device plugin", used(plugin.Pods))
	say(served && used(plugin.Pods) > plugin.Allocatable, "pods have more than is healthy")
	say(served && len(devices.Pods) > 0, "the scheduler also counts %d that pods have from DRA", used(devices.Pods))
	say(served && devices.Total > 0, "DRA has %d of class %s here as well, perhaps the same devices", devices.Total, o.Class)
	say(devices.Fails != nil, "the selectors of class %s fail for a device here: the scheduler gives up", o.Class)
	return out
}

// Sentence says what is free of a resource, how it is spread, and what pods wait for, as "3 free in all, at
// most 1 on a node; 1 pod waits for 2".
func (t *Total) Sentence() string {
	parts := []string{t.free()}
	if t.Part {
		parts[0] = "on these nodes " + parts[0]
	}
	switch n := len(t.Waiting); {
	case n == 1:
		parts = append(parts, fmt.Sprintf("1 pod waits for %d", t.Wanted()))
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d pods wait for %d", n, t.Wanted()))
	}
	return strings.Join(parts, "; ")
}

func (t *Total) free() string {
	switch {
	case t.Free == nil || t.MostFree == nil:
		return "how many are free is not known"
	case t.Fragmented():
		return fmt.Sprintf("%d free in all, at most %d on a node", *t.Free, *t.MostFree)
	case *t.Free > 0:
		return fmt.Sprintf("%d free, all on node %s", *t.Free, t.MostFreeNode)
	case *t.Offered == 0 && t.Class != "":
		return "no node offers any, and none has a device of class " + t.Class
	case *t.Offered == 0:
		return "no node and no device class offers any"
	}
	return "none free"
}
