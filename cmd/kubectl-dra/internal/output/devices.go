package output

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Device is an item of a DeviceList.
type Device struct {
	Listed
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
	// Node is empty when the device is not tied to one node by name.
	Node string `json:"node"`
	// State is Free, Allocated, Partial, Blocked, Tainted or Unreachable, or Unknown instead of Free if not
	// all claims could be read.
	State string `json:"state" enum:"inspect.DeviceState"`
	// Reason says why a device is Blocked or Unreachable where its claims do not tell, and how a fence is
	// lifted.
	Reason string `json:"reason,omitempty"`
	// Claims are namespace/name of those that have it in their allocation; AdminClaims are those of them
	// that only have admin access, which takes nothing.
	Claims      []string `json:"claims"`
	AdminClaims []string `json:"adminClaims,omitempty"`
	// Taints include those of DeviceTaintRules.
	Taints []Taint `json:"taints"`
	// Attributes have plain values: strings, numbers, booleans, or lists of these.
	Attributes map[string]any      `json:"attributes"`
	Capacity   map[string]Capacity `json:"capacity"`
	// AllowMultipleAllocations: several claims can share the device.
	AllowMultipleAllocations bool `json:"allowMultipleAllocations,omitempty"`

	// Fences say how each of the fences around the device is lifted.
	Fences []string `json:"-"`
}

// Taint is a taint of a device.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
	// Rules are the DeviceTaintRules that set the taint. There are none if the driver did.
	Rules []explain.TaintRule `json:"rules,omitempty"`
}

// Capacity is how much a device has of something and how much of it is taken: by shares, or all of it by a
// claim that holds the whole device.
type Capacity struct {
	Total string `json:"total"`
	Used  string `json:"used"`
}

// Devices lists the devices of a snapshot.
func Devices(s *inspect.Snapshot) *List {
	list := NewList("DeviceList", "device", deviceTable)
	list.Partial = unseenHolders(s)
	for _, status := range s.Devices() {
		d := wireDevice(s, &status)
		if status.State == inspect.DeviceFree && len(list.Partial) > 0 {
			d.State, d.Reason = string(inspect.DeviceUnknown), "a claim that is not seen here may hold it"
		}
		if slices.ContainsFunc(d.Taints, func(t Taint) bool { return t.Key == inspect.FenceKey }) {
			d.Fences = words.Each(s.Fences(status.ID), inspect.FenceAdvice)
			d.Reason = strings.TrimPrefix(strings.Join(append([]string{d.Reason}, d.Fences...), "; "), "; ")
		}
		list.Items = append(list.Items, d)
	}
	return list
}

func wireDevice(s *inspect.Snapshot, status *inspect.DeviceStatus) *Device {
	id := status.ID
	d := &Device{
		Driver: id.Driver, Pool: id.Pool, Device: id.Device, Node: string(status.Node), State: string(status.State), Reason: status.Note,
		Claims: []string{}, Taints: []Taint{}, Attributes: map[string]any{}, Capacity: map[string]Capacity{},
		AllowMultipleAllocations: status.Device.AllowMultipleAllocations != nil && *status.Device.AllowMultipleAllocations,
		Listed: Listed{Meta{
			Name: id.String(), Aliases: []string{id.Device, id.Pool + "/" + id.Device},
			Labels: status.Slice.Labels, Created: status.Slice.CreationTimestamp,
		}},
	}
	for _, h := range status.Holders {
		d.Claims = words.AppendNew(d.Claims, h.Claim.String())
		if h.Admin() {
			d.AdminClaims = words.AppendNew(d.AdminClaims, h.Claim.String())
		}
	}
	for _, taint := range status.Device.Taints {
		d.Taints = append(d.Taints, Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect), Rules: explain.TaintRules(s, &taint, id)})
	}
	for name, attribute := range status.Device.Attributes {
		d.Attributes[string(name)] = attributeValue(&attribute)
	}
	whole := heldWhole(status)
	for name, capacity := range status.Device.Capacity {
		used := status.Used[name]
		if whole {
			used = capacity.Value
		}
		d.Capacity[string(name)] = Capacity{Total: capacity.Value.String(), Used: used.String()}
	}
	return d
}

// unseenHolders says why more devices may be held than a snapshot shows: not all claims could be read.
func unseenHolders(s *inspect.Snapshot) []string {
	h := s.Health(inspect.Claims)
	if !h.Partial() {
		return nil
	}
	return []string{cmp.Or(h.Message, string(inspect.Claims)+" were not read completely") + ": devices may be held by claims that are not seen here"}
}

// heldWhole reports whether a claim holds the whole device. Others may hold shares besides, from a time when
// the driver offered the device differently.
func heldWhole(status *inspect.DeviceStatus) bool {
	if status.State != inspect.DeviceAllocated {
		return false
	}
	return len(status.Used) == 0 || slices.ContainsFunc(status.Holders, func(h inspect.Holder) bool { return !h.Admin() && !h.Shared() })
}

// attributeValue returns the plain value of an attribute; nil when it has none that we know.
func attributeValue(a *resourcev1.DeviceAttribute) any {
	switch {
	case a.StringValue != nil:
		return *a.StringValue
	case a.IntValue != nil:
		return *a.IntValue
	case a.BoolValue != nil:
		return *a.BoolValue
	case a.VersionValue != nil:
		return *a.VersionValue
	case a.StringValues != nil:
		return a.StringValues
	case a.IntValues != nil:
		return a.IntValues
	case a.BoolValues != nil:
		return a.BoolValues
	case a.VersionValues != nil:
		return a.VersionValues
	}
	return nil
}

var deviceTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "POOL"}, {Header: "DRIVER", Rank: 2}, {Header: "STATE"}, {Header: "CLAIMS", Cut: CutList, Rank: 1},
		{Header: "NODE", Wide: true}, {Header: "TAINTS", Wide: true}, {Header: "CAPACITY", Wide: true}, {Header: "REASON", Wide: true},
	},
	Row: func(item Item) []string {
		d := item.(*Device)
		return []string{
			d.Device, d.Pool, d.Driver, d.State, OrNone(d.claimsText()),
			OrNone(d.Node), OrNone(taintsText(d.Taints)), OrNone(capacityText(d.Capacity)), OrNone(d.Reason),
		}
	},
}

// claimsText marks the claims that only have admin access.
func (d *Device) claimsText() string {
	texts := slices.Clone(d.Claims)
	for i, claim := range texts {
		if slices.Contains(d.AdminClaims, claim) {
			texts[i] += " (admin)"
		}
	}
	return strings.Join(texts, ",")
}

func taintsText(taints []Taint) string {
	return strings.Join(words.Each(taints, func(t Taint) string {
		text := t.String()
		for _, rule := range t.Rules {
			text += " by " + rule.String()
		}
		return text
	}), ",")
}

// String is the taint as kubectl writes it.
func (t Taint) String() string {
	return words.FormatTaint(&resourcev1.DeviceTaint{Key: t.Key, Value: t.Value, Effect: resourcev1.DeviceTaintEffect(t.Effect)})
}

func capacityText(capacity map[string]Capacity) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		texts = append(texts, name+" "+capacity[name].Used+"/"+capacity[name].Total)
	}
	return strings.Join(texts, ",")
}
