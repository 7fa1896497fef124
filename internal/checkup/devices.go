package checkup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The domains of Kubernetes, in which drivers may not make up names, and the standard attributes in them
// (k8s.io/dynamic-resource-allocation/deviceattribute).
const (
	standardPrefix = "resource.kubernetes.io/"
	pciBusID       = standardPrefix + "pciBusID"
	pciAddress     = "PCI address "
	uuid           = "UUID "
)

var (
	reservedDomains    = []string{"kubernetes.io", "k8s.io"}
	standardAttributes = []string{"numaNode", "pciBusID", "pcieRoot"}
)

var deviceRules = []Rule{
	{
		Code: "DeviceUnreachable", Severity: Warning, needs: []inspect.Resource{inspect.Slices, inspect.Nodes},
		About:  "Devices are offered to nodes by a selector that no node matches, so nobody can use them.",
		Remedy: "Compare the labels of the nodes with the node selector of the slice.",
		find:   findUnreachable,
	},
	{
		Code: "DeviceNameTwice", Severity: Error, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Two slices of the newest generation of a pool publish a device of the same name for different nodes. The scheduler takes them for one device: when it is allocated on one node, it is in use on the other too.",
		Remedy: "Give devices different names within a pool, or each node a pool of its own.",
		find:   findNamesTwice,
	},
	{
		Code: "HardwareTwice", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Two devices of a node that are in different pools have the same UUID, or are of two drivers and have the same PCI address: the same hardware can be allocated twice.",
		Remedy: "Let only one driver publish the hardware, or have one driver publish the ways to use it as partitions that consume the same counters.",
		find:   findHardwareTwice,
	},
	{
		Code: "DeviceTwoHolders", Severity: Error, needs: []inspect.Resource{inspect.Claims},
		About:  "Two claims hold the same device, and at least one of them wants it whole.",
		Remedy: "Stop the pods of one of them and delete that claim. Look for a second scheduler, or for a status that was written by hand.",
		find:   findTwoHolders,
	},
	{
		Code: "CapacityOvercommitted", Severity: Error, needs: []inspect.Resource{inspect.Claims, inspect.Slices},
		About:  "Shares of a device add up to more than the device has.",
		Remedy: "Delete one of the claims; look whether the driver has lowered the capacity after they were allocated.",
		find:   findCapacityOvercommitted,
	},
	{
		Code: "CountersOvercommitted", Severity: Error, needs: []inspect.Resource{inspect.Claims, inspect.Slices},
		About:  "Devices that are held consume more of a counter than there is.",
		Remedy: "Delete one of the claims; look whether the driver has lowered the counter after they were allocated.",
		find:   findCountersOvercommitted,
	},
	{
		Code: "CounterTooSmall", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "A device consumes more of a counter than there is, so it can never be allocated.",
		Remedy: "Only the driver can correct what it publishes.",
		find:   findCountersTooSmall,
	},
	{
		Code: "AttributeReserved", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Devices have an attribute or capacity in a domain of Kubernetes that is not a standard one. Kubernetes may give it another meaning.",
		Remedy: "Drivers should use their own domain for names of their own. The standard attributes are " + standardPrefix + "numaNode, pciBusID and pcieRoot.",
		find:   findReserved,
	},
	{
		Code: "AttributeUnqualified", Severity: Note, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Devices have an attribute with the name of a standard one, but in the driver's domain. Constraints that match the standard attribute across drivers do not find it.",
		Remedy: "Publish it as " + standardPrefix + "NAME, beside the old name for as long as selectors read that.",
		find:   findUnqualified,
	},
	{
		Code: "AttributeTypes", Severity: Warning, files: true, needs: []inspect.Resource{inspect.Slices},
		About:  "Devices of a driver have the same attribute with different types. A selector written for one type fails on devices with the other, and then the scheduler gives up.",
		Remedy: "Publish an attribute with the same type everywhere.",
		find:   findTypes,
	},
}

func deviceName(id inspect.DeviceID) string { return "device " + id.String() }

// aboutDevice is a finding about a device that is published, and its slice.
func aboutDevice(d *inspect.DeviceStatus, detail string, others ...inspect.ObjectRef) Finding {
	return Finding{
		Subject: deviceName(d.ID), Group: d.ID.Driver, Detail: detail,
		Objects: append([]inspect.ObjectRef{sliceRef(d.Slice)}, others...),
	}
}

// findUnreachable reports by slice: its devices mostly have the same selector.
func findUnreachable(v *visit) {
	if v.s.NodesAssumed() {
		return
	}
	lost := map[*resourcev1.ResourceSlice][]string{}
	var order []*resourcev1.ResourceSlice
	for _, d := range v.devices() {
		if d.State != inspect.DeviceUnreachable || d.Node != "" {
			continue
		}
		if pool := v.inventory().Pool(d.ID.PoolID()); pool == nil || pool.Error != "" || pool.Generation != d.Slice.Spec.Pool.Generation {
			continue
		}
		if lost[d.Slice] == nil {
			order = append(order, d.Slice)
		}
		lost[d.Slice] = append(lost[d.Slice], d.ID.Device)
	}
	for _, slice := range order {
		v.report(aboutSlice(slice, "", fmt.Sprintf("no node can use %s: %s",
			words.Count(len(lost[slice]), "device"), words.Shorten(lost[slice], 3))))
	}
}

func findNamesTwice(v *visit) {
	for _, p := range v.pools() {
		id := p.ID
		newest, _ := v.newest(id)
		by := map[string][]*resourcev1.ResourceSlice{}
		for _, slice := range newest {
			for j := range slice.Spec.Devices {
				name := slice.Spec.Devices[j].Name
				if n := len(by[name]); n == 0 || by[name][n-1] != slice {
					by[name] = append(by[name], slice)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(by)) {
			of := by[name]
			if len(of) < 2 || nodeOf(of[0]) == nodeOf(of[1]) { // for the same node that makes the pool invalid
				continue
			}
			v.report(Finding{
				Subject: deviceName(inspect.DeviceID{Driver: id.Driver, Pool: id.Pool, Device: name}),
				Group:   id.Driver, Objects: texts(of, sliceRef),
				Detail: "it is published by " + words.And(sliceNames(of[:2])) + words.Plural(len(of)-1, "", " and others"),
			})
		}
	}
}

func nodeOf(slice *resourcev1.ResourceSlice) string {
	if slice.Spec.NodeName == nil {
		return ""
	}
	return *slice.Spec.NodeName
}

// identities are what tells which piece of hardware a device is: the standard PCI address, and what drivers
// call uuid. Each is told once.
func identities(d *resourcev1.Device) []string {
	var out []string
	for name, attribute := range d.Attributes {
		key := string(name)
		if key != pciBusID && key[strings.LastIndexByte(key, '/')+1:] != "uuid" || attribute.StringValue == nil || *attribute.StringValue == "" {
			continue
		}
		what := uuid
		if key == pciBusID {
			what = pciAddress
		}
		out = append(out, what+strings.ToLower(*attribute.StringValue))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func findHardwareTwice(v *visit) {
	var tied []*inspect.DeviceStatus
	pools := map[inspect.NodeName]inspect.PoolID{}
	several := map[inspect.NodeName]bool{} // pools; within one nothing is the same
	for _, d := range v.devices() {
		if d.Node == "" {
			continue
		}
		if pool, known := pools[d.Node]; known && pool != d.ID.PoolID() {
			several[d.Node] = true
		}
		pools[d.Node] = d.ID.PoolID()
	}
	for _, d := range v.devices() {
		if several[d.Node] {
			tied = append(tied, d)
		}
	}
	slices.SortStableFunc(tied, func(a, b *inspect.DeviceStatus) int { return cmp.Compare(a.Node, b.Node) })
	first := map[string][]*inspect.DeviceStatus{} // of a node, by their identities
	for i, d := range tied {
		if i > 0 && tied[i-1].Node != d.Node {
			clear(first)
		}
		for _, identity := range identities(d.Device) {
			if i := slices.IndexFunc(first[identity], func(o *inspect.DeviceStatus) bool { return sameHardware(o, d, identity) }); i >= 0 {
				other := first[identity][i]
				v.report(aboutDevice(d, fmt.Sprintf("it has the %s, as %s has", identity,
					deviceName(other.ID)), sliceRef(other.Slice)))
				break
			}
			first[identity] = append(first[identity], d)
		}
	}
}

// sameHardware reports whether two devices with the same identity are the same hardware and can both be had.
// Parts into which a driver has cut a device, such as MIG, have the same PCI address, and are not the same;
// and within a pool a driver tells its devices apart by their names, whatever it calls uuid.
func sameHardware(a, b *inspect.DeviceStatus, identity string) bool {
	if strings.HasPrefix(identity, pciAddress) {
		return a.ID.Driver != b.ID.Driver
	}
	return a.ID.PoolID() != b.ID.PoolID()
}

func findTwoHolders(v *visit) {
	for id, holders := range v.s.AllHolders {
		var refs []inspect.ObjectRef
		var names []string
		whole := false
		for _, h := range holders {
			if h.Admin() {
				continue
			}
			whole = whole || !h.Shared()
			if name := h.Claim.String(); !slices.Contains(names, name) {
				names = append(names, name)
				refs = append(refs, object("ResourceClaim", h.Claim.Namespace, h.Claim.Name))
			}
		}
		if whole && len(names) > 1 {
			v.report(Finding{Subject: deviceName(id), Group: id.Driver, Objects: refs, Detail: "it is held by the claims " + words.And(names)})
		}
	}
}

func holderRefs(d *inspect.DeviceStatus) []inspect.ObjectRef {
	var out []inspect.ObjectRef
	for _, h := range d.Holders {
		ref := object("ResourceClaim", h.Claim.Namespace, h.Claim.Name)
		if !h.Admin() && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

func findCapacityOvercommitted(v *visit) {
	for _, d := range v.devices() {
		for _, name := range slices.Sorted(maps.Keys(d.Used)) {
			used := d.Used[name]
			total, there := d.Device.Capacity[name]
			if !there || used.Cmp(total.Value) <= 0 {
				continue
			}
			f := aboutDevice(d, fmt.Sprintf("claims hold %s of %s, and it has %s", used.String(), name,
				total.Value.String()))
			f.Objects = append(holderRefs(d), f.Objects...)
			v.report(f)
		}
	}
}

func findCountersOvercommitted(v *visit) {
	for _, p := range v.pools() {
		for j := range p.Counters {
			c := &p.Counters[j]
			if c.Left.Sign() >= 0 {
				continue
			}
			taken := c.Total.DeepCopy()
			taken.Sub(c.Left)
			var refs []inspect.ObjectRef
			for _, d := range v.devices() {
				draws := slices.ContainsFunc(d.Device.ConsumesCounters, func(x resourcev1.DeviceCounterConsumption) bool { return x.CounterSet == c.Set })
				if d.ID.PoolID() == p.ID && draws {
					refs = append(refs, holderRefs(d)...)
				}
			}
			least := ""
			if p.Slices < p.SlicesWanted { // devices that are not published yet may be held too
				least = "at least "
			}
			v.report(Finding{
				Subject: fmt.Sprintf("counter %s of %s in pool %s", c.Counter, c.Set, p.ID), Group: p.ID.Driver,
				Objects: append(refs, texts(v.s.SlicesIn(p.ID), sliceRef)...),
				Detail:  fmt.Sprintf("claims take %s%s, and there are %s", least, taken.String(), c.Total.String()),
			})
		}
	}
}

func findCountersTooSmall(v *visit) {
	for _, p := range v.pools() {
		newest, _ := v.newest(p.ID)
		full := inspect.CounterLevels{}
		for _, slice := range newest {
			for j := range slice.Spec.SharedCounters {
				full.Refill(&slice.Spec.SharedCounters[j])
			}
		}
		for _, slice := range newest {
			v.tooLarge(slice, full)
		}
	}
}

// tooLarge reports the devices of a slice that consume more than there is. Counters that do not exist make
// the pool invalid.
func (v *visit) tooLarge(slice *resourcev1.ResourceSlice, full inspect.CounterLevels) {
	for i := range slice.Spec.Devices {
		for id, amount := range inspect.Consumption(&slice.Spec.Devices[i]) {
			level, known := full[id]
			if !known || amount.Cmp(level) <= 0 {
				continue
			}
			f := aboutSlice(slice, fmt.Sprintf("spec.devices[%d].consumesCounters", i),
				fmt.Sprintf("it consumes %s of counter %s of %s, which has %s", amount.String(), id.Counter,
					id.Set, level.String()))
			f.Subject = deviceName(inspect.DeviceIDOf(slice, i))
			v.report(f)
			break
		}
	}
}

// byField gathers the devices of each driver by the names of what they have, each name once, sorted.
func (v *visit) byField(keep func(name string, capacity bool) bool, report func(driver, name, what string, of []*inspect.DeviceStatus)) {
	type field struct{ driver, what, name string }
	found := map[field][]*inspect.DeviceStatus{}
	for _, d := range v.devices() {
		for name := range d.Device.Attributes {
			if keep(string(name), false) {
				key := field{d.ID.Driver, "attribute", string(name)}
				found[key] = append(found[key], d)
			}
		}
		for name := range d.Device.Capacity {
			if keep(string(name), true) {
				key := field{d.ID.Driver, "capacity", string(name)}
				found[key] = append(found[key], d)
			}
		}
	}
	order := func(a, b field) int {
		return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.what, b.what), cmp.Compare(a.name, b.name))
	}
	for _, key := range slices.SortedFunc(maps.Keys(found), order) {
		report(key.driver, key.name, key.what, found[key])
	}
}

func (v *visit) reportField(driver, name, what, detail string, of []*inspect.DeviceStatus,
	evidence ...string) {
	var from []inspect.ObjectRef
	for i, d := range of {
		if i == 0 || of[i-1].Slice != d.Slice {
			from = append(from, sliceRef(d.Slice))
		}
	}
	v.report(Finding{Subject: what + " " + name + " of driver " + driver, Group: driver, Objects: from,
		Detail: detail, Evidence: evidence})
}

func findReserved(v *visit) {
	v.byField(func(name string, capacity bool) bool {
		domain, rest, qualified := strings.Cut(name, "/")
		if !qualified || !capacity && domain+"/" == standardPrefix && slices.Contains(standardAttributes, rest) {
			return false
		}
		return slices.ContainsFunc(reservedDomains, func(r string) bool { return domain == r || strings.HasSuffix(domain, "."+r) })
	}, func(driver, name, what string, of []*inspect.DeviceStatus) {
		domain, _, _ := strings.Cut(name, "/")
		if strings.EqualFold(domain, driver) || strings.HasSuffix(driver, "."+domain) { // a driver of the project itself
			return
		}
		v.reportField(driver, name, what, words.Count(len(of), "device")+words.Plural(len(of), " has", " have")+" it, and it is no standard one", of)
	})
}

func findUnqualified(v *visit) {
	v.byField(func(name string, capacity bool) bool { return !capacity && slices.Contains(standardAttributes, name) },
		func(driver, name, what string, of []*inspect.DeviceStatus) {
			of = slices.DeleteFunc(of, func(d *inspect.DeviceStatus) bool {
				_, both := d.Device.Attributes[resourcev1.QualifiedName(standardPrefix+name)]
				return both
			})
			if len(of) > 0 {
				v.reportField(driver, name, what, fmt.Sprintf("%s it without %s%s", words.Plural(len(of), "1 device has", fmt.Sprintf("%d devices have", len(of))), standardPrefix, name), of)
			}
		})
}

func findTypes(v *visit) {
	odd := v.fieldsOfTypes()
	v.byField(func(name string, capacity bool) bool { return !capacity && odd[name] }, func(driver, name, what string, of []*inspect.DeviceStatus) {
		first := map[string]*inspect.DeviceStatus{}
		counts := map[string]int{}
		for _, d := range of {
			kind := typeOf(d.Device.Attributes[resourcev1.QualifiedName(name)])
			if first[kind] == nil {
				first[kind] = d
			}
			counts[kind]++
		}
		if len(first) < 2 {
			return
		}
		var kinds, lines []string
		var some []*inspect.DeviceStatus
		for _, kind := range slices.Sorted(maps.Keys(first)) {
			kinds = append(kinds, kind)
			lines = append(lines, fmt.Sprintf("%s: %s, such as %s", kind, words.Count(counts[kind], "device"), first[kind].ID))
			if !slices.ContainsFunc(some,
				func(d *inspect.DeviceStatus) bool { return d.Slice == first[kind].Slice }) {
				some = append(some, first[kind])
			}
		}
		v.reportField(driver, name, what, "its type is "+strings.Join(kinds, " here and ")+" there", some,
			lines...)
	})
}

// fieldsOfTypes are the attributes that some driver publishes with several types.
func (v *visit) fieldsOfTypes() map[string]bool {
	odd := map[string]bool{}
	types := map[string]map[resourcev1.QualifiedName]string{} // of the first device of each driver
	for _, d := range v.devices() {
		of := types[d.ID.Driver]
		if of == nil {
			of = map[resourcev1.QualifiedName]string{}
			types[d.ID.Driver] = of
		}
		for name, attribute := range d.Device.Attributes {
			kind := typeOf(attribute)
			if first, known := of[name]; !known {
				of[name] = kind
			} else if first != kind && name != standardPrefix+"numaNode" { // a number or a list of them, as drivers like
				odd[string(name)] = true
			}
		}
	}
	return odd
}

// typeOf is the type of an attribute, as CEL sees it.
func typeOf(a resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return "string"
	case a.IntValue != nil:
		return "int"
	case a.BoolValue != nil:
		return "bool"
	case a.VersionValue != nil:
		return "version"
	case a.StringValues != nil, a.IntValues != nil, a.BoolValues != nil, a.VersionValues != nil:
		return "list"
	}
	return "none"
}
