package allocator

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Random problems for the comparison with the scheduler's allocator.
//
// A problem is built by a generator that asks a dice for every choice. The choices come from a seed,
// or from bytes (fuzzing, and replaying a recorded problem with some choices changed, which is how a
// disagreement is made smaller). Choice 0 is always the plainest one, so that bytes of zero make
// small problems.
//
// Each problem mixes a few of many themes (taints, counters, broken pools ...). With all of them at
// once almost nothing would be satisfiable, and most checks would hide behind others.

// dice makes choices and records them.
type dice struct {
	rng  *rand.Rand // nil: the choices are read from data
	data []byte
	log  []byte
}

func seeded(seed uint64) *dice      { return &dice{rng: rand.New(rand.NewPCG(seed, 0x6b75626563746c))} }
func recorded(choices []byte) *dice { return &dice{data: choices} }

// n returns a number from 0 to k-1; k is at most 256.
func (d *dice) n(k int) int {
	if k <= 1 {
		return 0
	}
	v := 0
	if d.rng != nil {
		v = d.rng.IntN(k)
	} else if len(d.data) > 0 {
		v = int(d.data[0]) % k
		d.data = d.data[1:]
	}
	d.log = append(d.log, byte(v))
	return v
}

// chance is true in that many of a hundred cases.
func (d *dice) chance(percent int) bool { return d.n(100) >= 100-percent }

// pick chooses one of the values; the first is the plainest.
func pickOne[T any](d *dice, values ...T) T { return values[d.n(len(values))] }

// question is a generated problem.
type question struct {
	gates    map[inspect.Gate]bool
	features inspect.Features
	objects  inspect.Objects             // with the claims that are allocated already
	pending  []*resourcev1.ResourceClaim // those to allocate, in order
	// serverVersion is "" for the newest release.
	serverVersion string
	// absurd says that there may be quantities of more than an int64 holds.
	absurd bool
}

// themes says which peculiarities a problem may have.
type themes struct {
	taints, capacity, counters, groups, constraints, lists, derived, binding, perDevice bool
	brokenPools, badSelectors, malformed, limits, admin, prioritized, all, nodeOps      bool
	held, configs, selectors, shadowed, absurd, oddSelectors, oddSlices, alike, fleet   bool
}

func rollThemes(d *dice) themes {
	t := themes{
		selectors: d.chance(50), held: d.chance(45), configs: d.chance(25), constraints: d.chance(30),
		prioritized: d.chance(25), all: d.chance(20), taints: d.chance(25), capacity: d.chance(35),
		counters: d.chance(25), binding: d.chance(12), perDevice: d.chance(25), admin: d.chance(15),
		nodeOps: d.chance(12), lists: d.chance(25), derived: d.chance(12), brokenPools: d.chance(20),
		badSelectors: d.chance(14), malformed: d.chance(6), limits: d.chance(8), shadowed: d.chance(4),
		oddSelectors: d.chance(3), oddSlices: d.chance(6), alike: d.chance(45), fleet: d.chance(20),
	}
	t.groups = t.counters && d.chance(35)
	t.absurd = (t.counters || t.capacity) && d.chance(6)
	if t.shadowed {
		// Which of two attributes of the same name an expression reads is random in the scheduler.
		t.selectors, t.badSelectors, t.derived = false, false, false
	}
	return t
}

type generator struct {
	*dice
	themes
	q       *question
	nodes   []string
	devices []inspect.DeviceID // published, in any pool
	slices  int
}

// generate builds a problem from the choices of the dice.
func generate(d *dice) *question {
	g := &generator{dice: d, themes: rollThemes(d), q: &question{}}
	g.q.absurd = g.absurd
	g.makeFeatures()
	g.makeNodes()
	for range 1 + pickOne(g.dice, 1, 0, 2, 3) {
		g.makePool()
	}
	g.makeClasses()
	if g.taints {
		for range g.n(3) {
			g.makeTaintRule()
		}
	}
	if g.held {
		for range 1 + g.n(3) {
			g.makeHolder()
		}
	}
	for range pickOne(g.dice, 1, 1, 1, 2, 2, 3) {
		g.makeClaim()
	}
	return g.q
}

// switches are the gates that the allocator looks at. The gate of device status stands for
// DeviceBindingAndStatus together with that of binding conditions.
var switches = []inspect.Gate{
	inspect.GateAdminAccess, inspect.GatePrioritizedList, inspect.GatePartitionableDevices,
	inspect.GateDeviceTaints, inspect.GateConsumableCapacity, inspect.GateDeviceBindingConditions,
	inspect.GateFractionalCapacityRange, inspect.GateListTypeAttributes, inspect.GateDerivedAttributes,
	inspect.GateDeviceCompatibilityGroups, inspect.GateOptionalNodeOperations,
	inspect.GateDeviceStatus, inspect.GateDeviceTaintRules,
}

func (g *generator) makeFeatures() {
	base := inspect.DefaultFeatures(inspect.NewestMinor)
	gates := map[inspect.Gate]bool{}
	for _, gate := range switches {
		gates[gate] = base.Enabled(gate)
	}
	set := func(value func(inspect.Gate) bool) {
		for _, gate := range switches {
			gates[gate] = value(gate)
		}
	}
	switch g.n(10) {
	case 0, 1, 2: // the defaults
	case 3, 4, 5:
		set(func(inspect.Gate) bool { return true })
	case 6, 7:
		gate := pickOne(g.dice, switches...)
		gates[gate] = !gates[gate]
	case 8:
		set(func(inspect.Gate) bool { return true })
		gates[pickOne(g.dice, switches...)] = false
	case 9:
		set(func(inspect.Gate) bool { return g.chance(60) })
	}
	g.q.setGates(gates)
	if VariantOf(FeaturesOf(g.q.features)) == Stable {
		gates[inspect.GateFractionalCapacityRange] = true // the stable variant has no defined order
		g.q.setGates(gates)
	}
}

func (q *question) setGates(gates map[inspect.Gate]bool) {
	q.gates = gates
	q.features = inspect.DefaultFeatures(inspect.NewestMinor).With(gates)
}

func (g *generator) makeNodes() {
	for i := range 1 + g.n(3) {
		name := fmt.Sprintf("n%d", i+1)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"zone": pickOne(g.dice, "a", "b"), "kubernetes.io/hostname": name,
		}}}
		if g.nodeOps && g.chance(70) {
			node.Status.DeclaredFeatures = []string{"Other", string(inspect.GateOptionalNodeOperations)}
		}
		g.nodes = append(g.nodes, name)
		g.q.objects.Nodes = append(g.q.objects.Nodes, node)
	}
}

func (g *generator) nodeSelector() *corev1.NodeSelector {
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	term := corev1.NodeSelectorTerm{}
	switch g.n(6) {
	case 0:
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpExists})
	case 1:
		term.MatchExpressions = append(term.MatchExpressions, in("zone", "a", "b"))
	case 2:
		term.MatchExpressions = append(term.MatchExpressions, in("zone", "b", "a"), in("kubernetes.io/hostname", g.nodes...))
	case 3:
		term.MatchExpressions = append(term.MatchExpressions, in("zone", pickOne(g.dice, "a", "b")))
	case 4:
		term.MatchFields = append(term.MatchFields, in("metadata.name", pickOne(g.dice, g.nodes...)))
	case 5:
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: "gone", Operator: corev1.NodeSelectorOpDoesNotExist})
	}
	selector := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
	if g.oddSelectors {
		switch g.n(4) {
		case 1:
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
		case 2:
			selector.NodeSelectorTerms = nil
		case 3: // does not parse
			selector.NodeSelectorTerms[0].MatchExpressions = []corev1.NodeSelectorRequirement{{Key: "zone", Operator: "Near"}}
		}
	}
	return selector
}

func (g *generator) makeTaintRule() {
	selector := &resourcev1.DeviceTaintSelector{}
	id := g.anyDevice()
	if g.chance(70) {
		selector.Device = &id.Device
	}
	if g.chance(60) {
		selector.Pool = &id.Pool
	}
	if g.chance(60) {
		selector.Driver = &id.Driver
	}
	rule := &resourcev1.DeviceTaintRule{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("rule-%d", len(g.q.objects.TaintRules))},
		Spec:       resourcev1.DeviceTaintRuleSpec{DeviceSelector: selector, Taint: g.taint()},
	}
	if g.chance(10) {
		rule.Spec.DeviceSelector = nil
	}
	g.q.objects.TaintRules = append(g.q.objects.TaintRules, rule)
}

func (g *generator) taint() resourcev1.DeviceTaint {
	return resourcev1.DeviceTaint{
		Key: pickOne(g.dice, "broken", "busy"), Value: pickOne(g.dice, "yes", ""),
		Effect: pickOne(g.dice, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute,
			resourcev1.DeviceTaintEffectNone, "Unknown"),
	}
}

func (g *generator) toleration() resourcev1.DeviceToleration {
	return resourcev1.DeviceToleration{
		Operator: pickOne(g.dice, resourcev1.DeviceTolerationOpExists, resourcev1.DeviceTolerationOpEqual, "", "Near"),
		Key:      pickOne(g.dice, "", "broken", "busy"),
		Value:    pickOne(g.dice, "", "yes"),
		Effect:   pickOne(g.dice, "", resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute),
	}
}

// anyDevice returns a published device, or one that nobody publishes.
func (g *generator) anyDevice() inspect.DeviceID {
	if len(g.devices) == 0 || g.chance(10) {
		return inspect.DeviceID{Driver: drivers[0], Pool: "p-1", Device: "gone"}
	}
	return g.devices[g.n(len(g.devices))]
}
