package record

import (
	"cmp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// slice remembers the pool of a slice that has changed.
func (c *comparison) slice(a, b *resourcev1.ResourceSlice) {
	for _, s := range []*resourcev1.ResourceSlice{a, b} {
		if s != nil {
			c.pools[inspect.PoolOf(s)] = true
		}
	}
}

// rule tells of a DeviceTaintRule that came, went or says something else, once for all devices that it
// selects.
func (c *comparison) rule(a, b *resourcev1.DeviceTaintRule) {
	if a != nil && b != nil && equality.Semantic.DeepEqual(a.Spec, b.Spec) {
		return
	}
	if a != nil {
		n := c.selected(c.before, a)
		if b == nil {
			c.add(ruleEvent(a, screen.DeviceUntainted, "no longer taints "+words.Count(n, "device")))
			return
		}
	}
	c.add(ruleEvent(b, screen.DeviceTainted, "taints "+words.Count(c.selected(c.after, b), "device")))
}

func ruleEvent(rule *resourcev1.DeviceTaintRule, kind screen.EventKind, text string) screen.Event {
	e := screen.Event{Kind: kind, Ref: screen.Ref{Kind: screen.TaintRule, Name: rule.Name}, Text: text + ": " + words.FormatTaint(&rule.Spec.Taint), By: "rule " + rule.Name}
	if s := rule.Spec.DeviceSelector; s != nil {
		e.Driver = ptr.Deref(s.Driver, "")
	}
	return e
}

// selected counts the devices of a world that a rule selects, and remembers their pools.
func (c *comparison) selected(w *screen.World, rule *resourcev1.DeviceTaintRule) int {
	n := 0
	for _, stock := range w.Inventory().Stocks {
		for i := range stock.Devices {
			if w.Snapshot.RuleTaints(rule, stock.Devices[i].ID) {
				c.pools[stock.Pool.ID] = true
				n++
			}
		}
	}
	return n
}

// changedPools tells what has become of the pools in which something has changed, and of their devices. A
// pool that is the same in both worlds is as it was.
func (c *comparison) changedPools() {
	before, after := c.changedStocks(c.before), c.changedStocks(c.after)
	walk(before, after, func(a, b *inspect.Stock) int { return a.Pool.ID.Compare(b.Pool.ID) }, func(a, b *inspect.Stock) {
		if a == b {
			return
		}
		var was, is *inspect.PoolStatus
		var had, has []inspect.DeviceStatus
		if a != nil {
			was, had = &a.Pool, a.Devices
		}
		if b != nil {
			is, has = &b.Pool, b.Devices
		}
		c.pool(was, is)
		c.devices(had, has, a == nil || b == nil)
	})
}

// changedStocks are the pools of a world in which something may have changed, sorted.
func (c *comparison) changedStocks(w *screen.World) (out []*inspect.Stock) {
	for _, stock := range w.Inventory().Stocks {
		if c.pools[stock.Pool.ID] {
			out = append(out, stock)
		}
	}
	return out
}

// pool tells of a pool whether it came, went, or is broken.
func (c *comparison) pool(a, b *inspect.PoolStatus) {
	if a != nil && b != nil && (a.Error == "") == (b.Error == "") {
		return
	}
	id := cmp.Or(a, b).ID
	e := screen.Event{Ref: screen.Ref{Kind: screen.Pool, Name: id.String()}, Driver: id.Driver, By: "driver " + id.Driver}
	switch {
	case b == nil:
		e.Node, e.Kind, e.Text = a.Node, screen.DeviceChanged, "no longer published, with "+words.Count(a.Devices.Total, "device")
		if a.Node != "" && !publishes(c.after.Snapshot, id.Driver, a.Node) {
			e.Kind, e.Ref, e.Text = screen.DriverGone, screen.Ref{Kind: screen.Driver, Name: id.Driver}, "publishes nothing on "+string(a.Node)+" any more: "+words.Count(a.Devices.Total, "device")+" less"
		}
	case a == nil:
		e.Node, e.Kind, e.Text = b.Node, screen.DeviceChanged, "published, with "+words.Count(b.Devices.Total, "device")
		if b.Node != "" && !publishes(c.before.Snapshot, id.Driver, b.Node) {
			e.Kind, e.Ref, e.Text = screen.DriverCame, screen.Ref{Kind: screen.Driver, Name: id.Driver}, "publishes "+words.Count(b.Devices.Total, "device")+" on "+string(b.Node)
		}
	case b.Error != "":
		e.Node, e.Kind, e.Text = b.Node, screen.PoolIncomplete, b.Error
	default:
		e.Node, e.Kind, e.Text = b.Node, screen.PoolComplete, "complete again"
	}
	c.add(e)
}

// publishes reports whether a driver has a slice that is tied to a node.
func publishes(s *inspect.Snapshot, driver string, node inspect.NodeName) bool {
	return slices.ContainsFunc(s.Objects().Slices, func(slice *resourcev1.ResourceSlice) bool {
		return slice.Spec.Driver == driver && ptr.Deref(slice.Spec.NodeName, "") == string(node)
	})
}

// devices tells what has become of the devices of a pool. whole says that the pool itself came or went, which
// is told already.
func (c *comparison) devices(a, b []inspect.DeviceStatus, whole bool) {
	pointers := func(list []inspect.DeviceStatus) (out []*inspect.DeviceStatus) {
		for i := range list {
			out = append(out, &list[i])
		}
		return out
	}
	walk(pointers(a), pointers(b), func(a, b *inspect.DeviceStatus) int { return a.ID.Compare(b.ID) }, func(a, b *inspect.DeviceStatus) {
		switch {
		case b == nil:
			c.device(a, screen.Event{Kind: screen.DeviceChanged, Text: "no longer published", Minor: whole})
		case a == nil:
			c.device(b, screen.Event{Kind: screen.DeviceChanged, Text: "published", Minor: whole})
		default:
			c.changed(a, b)
		}
	})
}

// device tells of a device.
func (c *comparison) device(d *inspect.DeviceStatus, e screen.Event) {
	e.Ref, e.Node, e.Driver = screen.DeviceRef(d.ID), d.Node, d.ID.Driver
	c.add(e)
}

// changed tells what has changed about a device. That claims hold it or give it back, and rules taint it,
// others tell too.
func (c *comparison) changed(a, b *inspect.DeviceStatus) {
	if a.State != b.State {
		text := strings.ToLower(string(a.State + " → " + b.State))
		if len(b.Holders) > 0 && len(a.Holders) == 0 {
			text += " to " + b.Holders[0].Claim.String()
		}
		c.device(b, screen.Event{Kind: screen.DeviceChanged, Text: text, Minor: true})
	}
	if len(a.Device.Taints)+len(b.Device.Taints) == 0 {
		return
	}
	c.taints(a, b, screen.DeviceUntainted, "no longer tainted ", c.before.Snapshot)
	c.taints(b, a, screen.DeviceTainted, "tainted ", c.after.Snapshot)
}

// taints tells of the taints that a device has and another one, which is the same at another time, has not.
func (c *comparison) taints(has, not *inspect.DeviceStatus, kind screen.EventKind, text string, s *inspect.Snapshot) {
	for i := range has.Device.Taints {
		taint := &has.Device.Taints[i]
		if slices.ContainsFunc(not.Device.Taints, func(t resourcev1.DeviceTaint) bool {
			return t.Key == taint.Key && t.Value == taint.Value && t.Effect == taint.Effect
		}) {
			continue
		}
		e := screen.Event{Kind: kind, Text: text + words.FormatTaint(taint), By: "driver " + has.ID.Driver}
		if rules := s.RulesBehind(has.ID, taint); len(rules) > 0 {
			e.By, e.Minor = "rule "+rules[0].Name, true
		}
		c.device(has, e)
	}
}
