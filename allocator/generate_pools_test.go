package allocator

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The generated pools: slices, devices, counters, capacities.

var drivers = []string{"a.example.com", "b.example.com"}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// reach is a kind of node selection.
type reach int

const (
	everyNode reach = iota
	oneNode
	byLabels
	byDevice
	nowhere
)

func (g *generator) makePool() {
	id := inspect.PoolID{Driver: pickOne(g.dice, drivers...), Pool: pickOne(g.dice, "p-1", "p-10", "p-2")}
	for _, slice := range g.q.objects.Slices {
		if slice.Spec.Driver == id.Driver && (slice.Spec.Pool.Name == id.Pool || strings.HasPrefix(slice.Spec.Pool.Name, id.Pool+"-")) {
			return // exists already
		}
	}
	kind := pickOne(g.dice, everyNode, everyNode, byLabels, oneNode)
	if len(g.q.objects.Slices) == 0 && g.chance(50) {
		kind = everyNode
	}
	if g.perDevice && g.chance(60) {
		kind = byDevice
	}
	fleet := g.fleet && g.chance(70)
	if fleet {
		kind = everyNode
	}
	before := len(g.devices)
	var made []*resourcev1.ResourceSlice
	if g.counters {
		made = append(made, g.newSlice(id, g.reachOfCounters(kind)))
		g.fillCounters(made[0])
	}
	if g.limits && g.chance(50) {
		made = append(made, g.bigSlice(id, kind))
	}
	for range 1 + g.n(2) {
		slice := g.newSlice(id, kind)
		if kind == byDevice {
			yes := true
			slice.Spec.PerDeviceNodeSelection = &yes
		}
		g.fillDevices(slice, made)
		made = append(made, slice)
	}
	for _, slice := range made {
		slice.Spec.Pool.Generation = 1
		slice.Spec.Pool.ResourceSliceCount = int64(len(made))
	}
	if g.brokenPools && g.chance(50) {
		made = g.breakPool(made)
	}
	if g.oddSlices {
		g.twist(made[g.n(len(made))])
	}
	if fleet {
		made = g.onEachNode(made, before)
	}
	g.q.objects.Slices = append(g.q.objects.Slices, made...)
}

// onEachNode turns a pool into one for each node, as a driver publishes the devices of equal machines.
// before is the number of devices that were published before the pool.
func (g *generator) onEachNode(pool []*resourcev1.ResourceSlice, before int) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	devices := slices.Clone(g.devices[before:])
	g.devices = g.devices[:before]
	for _, node := range g.nodes {
		for _, slice := range pool {
			slice = slice.DeepCopy()
			slice.Name += "-" + node
			slice.Spec.Pool.Name += "-" + node
			slice.Spec.NodeName, slice.Spec.AllNodes, slice.Spec.NodeSelector = &node, nil, nil
			out = append(out, slice)
		}
		for _, id := range devices {
			id.Pool += "-" + node
			g.devices = append(g.devices, id)
		}
	}
	return out
}

// reachOfCounters: counters are usually published like the devices, or else for another node.
func (g *generator) reachOfCounters(kind reach) reach {
	if kind == byDevice {
		return pickOne(g.dice, everyNode, byDevice, oneNode)
	}
	if g.chance(25) {
		return pickOne(g.dice, everyNode, oneNode, nowhere)
	}
	return kind
}

func (g *generator) newSlice(id inspect.PoolID, kind reach) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{}
	// Names that do not sort in the order of creation.
	slice.Name = fmt.Sprintf("slice-%c%d", 'a'+byte(g.n(6)), g.slices)
	g.slices++
	slice.Spec.Driver, slice.Spec.Pool.Name = id.Driver, id.Pool
	yes := true
	switch kind {
	case everyNode:
		slice.Spec.AllNodes = &yes
	case oneNode:
		name := pickOne(g.dice, g.nodes...)
		slice.Spec.NodeName = &name
	case byLabels:
		slice.Spec.NodeSelector = g.nodeSelector()
	case byDevice:
		slice.Spec.PerDeviceNodeSelection = &yes
	case nowhere:
		name := "elsewhere"
		slice.Spec.NodeName = &name
	}
	if g.nodeOps && g.chance(40) {
		slice.Spec.SkipNodeOperations = []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}
	}
	return slice
}

// bigSlice has more devices than one claim may have.
func (g *generator) bigSlice(id inspect.PoolID, kind reach) *resourcev1.ResourceSlice {
	slice := g.newSlice(id, kind)
	yes := true
	for i := range 28 + g.n(8) {
		device := resourcev1.Device{Name: fmt.Sprintf("many-%d", i)}
		if kind == byDevice {
			device.AllNodes = &yes
		}
		slice.Spec.Devices = append(slice.Spec.Devices, device)
	}
	return slice
}

func (g *generator) breakPool(slices []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	last := slices[len(slices)-1]
	switch g.n(8) {
	case 0: // incomplete
		for _, slice := range slices {
			slice.Spec.Pool.ResourceSliceCount++
		}
	case 1: // more slices than announced
		for _, slice := range slices {
			slice.Spec.Pool.ResourceSliceCount = max(1, slice.Spec.Pool.ResourceSliceCount-1)
		}
	case 2: // slices that do not agree
		last.Spec.Pool.ResourceSliceCount += int64(g.n(3)) - 1
	case 3: // one is older
		last.Spec.Pool.Generation--
	case 4: // one is newer
		last.Spec.Pool.Generation++
	case 5: // a newer generation appears on some node
		newer := g.newSlice(inspect.PoolOf(last), pickOne(g.dice, everyNode, oneNode, nowhere))
		newer.Spec.Pool.Generation = int64(2 - 2*g.n(2))
		newer.Spec.Pool.ResourceSliceCount = int64(1 + g.n(2))
		g.fillDevices(newer, nil)
		slices = append(slices, newer)
	case 6: // a device name twice
		if n := len(last.Spec.Devices); n > 0 {
			last.Spec.Devices = append(last.Spec.Devices, *last.Spec.Devices[g.n(n)].DeepCopy())
		}
	case 7: // an unknown counter, or a counter set twice
		if first := slices[0]; len(first.Spec.SharedCounters) > 0 && g.chance(40) {
			first.Spec.SharedCounters = append(first.Spec.SharedCounters, first.Spec.SharedCounters[0])
		} else if n := len(last.Spec.Devices); n > 0 {
			last.Spec.Devices[g.n(n)].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{
				CounterSet: pickOne(g.dice, "cs-0", "unknown"),
				Counters:   map[string]resourcev1.Counter{"unknown": {Value: *quantity("1")}},
			}}
		}
	}
	return slices
}

// twist gives a slice what the API server would refuse, and the scheduler never expects.
func (g *generator) twist(slice *resourcev1.ResourceSlice) {
	empty, yes, no := "", true, false
	spec := &slice.Spec
	switch g.n(8) {
	case 0: // no node at all
		spec.NodeName, spec.AllNodes, spec.NodeSelector, spec.PerDeviceNodeSelection = nil, nil, nil, nil
	case 1:
		spec.NodeName = &empty
	case 2:
		spec.AllNodes = &no
	case 3:
		spec.PerDeviceNodeSelection = &no
	case 4: // two kinds of node selection
		spec.PerDeviceNodeSelection = &yes
	case 5:
		spec.NodeSelector = g.nodeSelector()
	case 6: // devices and counters in one slice
		spec.SharedCounters = append(spec.SharedCounters, resourcev1.CounterSet{
			Name: "cs-9", Counters: map[string]resourcev1.Counter{"c0": {Value: *quantity("1")}},
		})
	case 7:
		for i := range spec.Devices {
			spec.Devices[i].NodeName = &empty
		}
	}
}

func (g *generator) fillCounters(slice *resourcev1.ResourceSlice) {
	for i := range 1 + g.n(2) {
		set := resourcev1.CounterSet{Name: fmt.Sprintf("cs-%d", i), Counters: map[string]resourcev1.Counter{}}
		for j := range 1 + g.n(2) {
			amount := pickOne(g.dice, "4", "4", "8", "6", "2", "3", "2500m", "0")
			if g.absurd && g.chance(30) {
				amount = pickOne(g.dice, "-1", "9223372036854775807", "18446744073709551616")
			}
			set.Counters[fmt.Sprintf("c%d", j)] = resourcev1.Counter{Value: *quantity(amount)}
		}
		slice.Spec.SharedCounters = append(slice.Spec.SharedCounters, set)
	}
}

// fillDevices adds devices to a slice; before are the slices of the pool so far.
func (g *generator) fillDevices(slice *resourcev1.ResourceSlice, before []*resourcev1.ResourceSlice) {
	var sets []resourcev1.CounterSet
	taken := 0
	for _, s := range before {
		sets = append(sets, s.Spec.SharedCounters...)
		taken += len(s.Spec.Devices)
	}
	for i := range pickOne(g.dice, 2, 3, 3, 4, 4, 5, 1, 0) {
		// The order in the slice counts, not that of the names.
		device := resourcev1.Device{Name: fmt.Sprintf("d%d", 9-taken-i)}
		if g.alike && i > 0 && g.chance(70) { // real devices come in few kinds
			slice.Spec.Devices[g.n(i)].DeepCopyInto(&device)
			device.Name = fmt.Sprintf("d%d", 9-taken-i)
		} else {
			g.fillDevice(&device, slice.Spec.Driver)
			if g.counters && len(sets) > 0 {
				g.fillConsumption(&device, sets)
			}
		}
		if slice.Spec.PerDeviceNodeSelection != nil {
			g.selectNodes(&device)
		}
		slice.Spec.Devices = append(slice.Spec.Devices, device)
		g.devices = append(g.devices, inspect.DeviceID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name, Device: device.Name})
	}
}

func (g *generator) selectNodes(device *resourcev1.Device) {
	yes := true
	switch g.n(4) {
	case 0:
		device.AllNodes = &yes
	case 1, 2:
		name := pickOne(g.dice, g.nodes...)
		device.NodeName = &name
	case 3:
		device.NodeSelector = g.nodeSelector()
	}
}

func (g *generator) fillDevice(device *resourcev1.Device, driver string) {
	g.fillAttributes(device, driver)
	yes := true
	if g.taints && g.chance(35) {
		for range 1 + g.n(2) {
			device.Taints = append(device.Taints, g.taint())
		}
	}
	if g.chance(8) {
		device.BindsToNode = &yes
	}
	if g.binding {
		switch g.n(4) {
		case 1:
			device.BindingConditions = []string{}
		case 2, 3:
			device.BindingConditions = []string{"attached", "powered"}[:1+g.n(2)]
			device.BindingFailureConditions = []string{"failed"}
		}
	}
	if g.capacity {
		g.fillCapacity(device)
		if g.chance(60) {
			shared := g.chance(85)
			device.AllowMultipleAllocations = &shared
		}
	} else if g.chance(4) {
		device.AllowMultipleAllocations = &yes
	}
}

func (g *generator) fillAttributes(device *resourcev1.Device, driver string) {
	attributes := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	put := func(name string, a resourcev1.DeviceAttribute) {
		if g.chance(25) {
			name = driver + "/" + name
		}
		attributes[resourcev1.QualifiedName(name)] = a
	}
	if g.chance(85) {
		put("kind", g.attribute(0))
	}
	if g.chance(85) {
		put("numa", g.attribute(1))
	}
	if g.chance(30) {
		put("ready", g.attribute(2))
	}
	if g.chance(30) {
		put("version", g.attribute(3))
	}
	if g.constraints && g.chance(92) {
		attributes["std.example.com/rack"] = g.attribute(pickOne(g.dice, 0, 0, 0, 1, 4, g.n(5)))
	}
	if g.lists && g.chance(80) {
		put("links", g.attribute(4))
	}
	if g.badSelectors && g.chance(10) {
		put("void", resourcev1.DeviceAttribute{}) // no value at all
	}
	if g.badSelectors && g.chance(6) {
		bad := "not-a-version"
		put("release", resourcev1.DeviceAttribute{VersionValue: &bad})
	}
	if g.shadowed && g.chance(60) {
		attributes["kind"], attributes[resourcev1.QualifiedName(driver+"/kind")] = g.attribute(0), g.attribute(0)
	}
	if len(attributes) > 0 {
		device.Attributes = attributes
	}
}

// attribute returns a value: of type string, int, bool, version, or (4) of any type, list or scalar.
func (g *generator) attribute(kind int) resourcev1.DeviceAttribute {
	switch kind {
	case 0:
		v := pickOne(g.dice, "x", "y", "1")
		return resourcev1.DeviceAttribute{StringValue: &v}
	case 1:
		v := int64(g.n(3))
		return resourcev1.DeviceAttribute{IntValue: &v}
	case 2:
		v := g.n(2) == 0
		return resourcev1.DeviceAttribute{BoolValue: &v}
	case 3:
		v := pickOne(g.dice, "1.0.0", "2.0.0", "1.0.0+b")
		return resourcev1.DeviceAttribute{VersionValue: &v}
	}
	switch g.n(10) {
	case 9: // more than one value, which the API server would refuse
		a := g.attribute(g.n(4))
		b := g.attribute(g.n(5))
		if b.IntValue != nil {
			a.IntValue = b.IntValue
		}
		if b.StringValue != nil {
			a.StringValue = b.StringValue
		}
		a.StringValues, a.BoolValues = b.StringValues, b.BoolValues
		return a
	case 0:
		return resourcev1.DeviceAttribute{IntValues: []int64{0, 1}}
	case 1:
		return resourcev1.DeviceAttribute{IntValues: []int64{1, 2}}
	case 2:
		return resourcev1.DeviceAttribute{IntValues: []int64{2}}
	case 3:
		return resourcev1.DeviceAttribute{StringValues: []string{"x", "y"}}
	case 4:
		return resourcev1.DeviceAttribute{StringValues: []string{"y", "z", "y"}}
	case 5:
		return resourcev1.DeviceAttribute{BoolValues: []bool{true, false}}
	case 6:
		return resourcev1.DeviceAttribute{VersionValues: []string{"1.0.0"}}
	case 7:
		return resourcev1.DeviceAttribute{IntValues: []int64{}}
	}
	return g.attribute(g.n(4))
}

func (g *generator) fillConsumption(device *resourcev1.Device, sets []resourcev1.CounterSet) {
	if g.chance(20) {
		return
	}
	for i := range sets {
		if i > 0 && g.chance(60) {
			continue
		}
		use := resourcev1.DeviceCounterConsumption{CounterSet: sets[i].Name, Counters: map[string]resourcev1.Counter{}}
		for j := range len(sets[i].Counters) {
			if j == 0 || g.chance(50) {
				amount := pickOne(g.dice, "1", "2", "3", "0", "1500m")
				if g.absurd && g.chance(30) {
					amount = pickOne(g.dice, "-2", "9223372036854775807", "18446744073709551616", "1u")
				}
				use.Counters[fmt.Sprintf("c%d", j)] = resourcev1.Counter{Value: *quantity(amount)}
			}
		}
		if g.groups {
			use.CompatibilityGroups = pickOne(g.dice, nil, []string{"mig"}, []string{"vgpu"}, []string{"mig", "vgpu"}, []string{"vgpu", "mps"})
		}
		device.ConsumesCounters = append(device.ConsumesCounters, use)
	}
}

func (g *generator) fillCapacity(device *resourcev1.Device) {
	device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}
	for _, name := range []resourcev1.QualifiedName{"mem", "cores"} {
		if g.chance(75) {
			device.Capacity[name] = g.deviceCapacity()
		}
	}
}

func (g *generator) deviceCapacity() resourcev1.DeviceCapacity {
	value := pickOne(g.dice, "10", "4", "8Gi", "2", "0", "2500m")
	if g.absurd && g.chance(30) {
		value = pickOne(g.dice, "9223372036854775807", "18446744073709551616", "-1", "1u", "1e30")
	}
	c := resourcev1.DeviceCapacity{Value: *quantity(value)}
	switch g.n(5) {
	case 0:
		return c
	case 1:
		c.RequestPolicy = &resourcev1.CapacityRequestPolicy{}
	case 2:
		values := [][]string{{"1", "4"}, {"2", "2500m", "8Gi"}, {"0", "1"}, {"500m"}}[g.n(4)]
		c.RequestPolicy = &resourcev1.CapacityRequestPolicy{}
		for _, v := range values {
			c.RequestPolicy.ValidValues = append(c.RequestPolicy.ValidValues, *quantity(v))
		}
	default:
		c.RequestPolicy = &resourcev1.CapacityRequestPolicy{ValidRange: g.validRange()}
	}
	if g.chance(65) {
		amount := pickOne(g.dice, "1", "2", "0", "1000m", "500m", "8Gi", "18446744073709551616")
		if g.absurd && g.chance(30) {
			amount = pickOne(g.dice, "-1", "9223372036854775807", "100u")
		}
		c.RequestPolicy.Default = quantity(amount)
	}
	return c
}

// validRange never has a step of zero or a step without a minimum: the scheduler panics on these.
func (g *generator) validRange() *resourcev1.CapacityRequestPolicyRange {
	r := &resourcev1.CapacityRequestPolicyRange{}
	if g.chance(85) {
		least := pickOne(g.dice, "1", "0", "2", "200m", "1Gi")
		if g.absurd && g.chance(30) {
			least = pickOne(g.dice, "-3", "9223372036854775807", "9223372036854775", "100u")
		}
		r.Min = quantity(least)
		if g.chance(60) {
			step := pickOne(g.dice, "1", "3", "100m", "250m", "1Gi", "1u")
			if g.absurd && g.chance(30) {
				step = pickOne(g.dice, "9223372036854775807", "4611686018427387904", "-1")
			}
			r.Step = quantity(step)
		}
	}
	if g.chance(50) {
		r.Max = quantity(pickOne(g.dice, "8", "3", "2500m", "4Gi"))
	}
	return r
}
