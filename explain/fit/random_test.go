package fit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// fitProblem is a small cluster and a claim of which copies are counted.
type fitProblem struct {
	nodes   int
	devices []fitDevice
	units   int // of the counter that devices of the common pool draw on
	count   int
	match   bool
	amount  int // of the capacity of shareable devices
}

// fitDevice is a device of one node, of a pool that several nodes have in common, or of all nodes.
type fitDevice struct {
	node   int  // -1: all nodes
	common bool // in the pool with the counter
	value  int  // of the attribute that has to match
	units  int
	room   int // of a shareable device; 0: it is not shareable
}

// randomFit makes a random problem.
func randomFit(r *rand.Rand) *fitProblem {
	p := &fitProblem{nodes: 2 + r.IntN(2), units: 1 + r.IntN(4), count: 1 + r.IntN(2), match: r.IntN(2) == 0, amount: 1 + r.IntN(3)}
	common, network, shareable := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(3) == 0
	for range 3 + r.IntN(4) {
		d := fitDevice{node: r.IntN(p.nodes), value: r.IntN(2)}
		switch {
		case common && r.IntN(2) == 0:
			d.common, d.units = true, r.IntN(3)
		case network && r.IntN(2) == 0:
			d.node = -1
		}
		if shareable && !d.common {
			d.room = 1 + r.IntN(4)
		}
		p.devices = append(p.devices, d)
	}
	return p
}

func (p *fitProblem) objects() inspect.Objects {
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}}
	slice := func(pool string) *resourcev1.ResourceSlice {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: pool}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: 1},
		}}
		o.Slices = append(o.Slices, s)
		return s
	}
	var local []*resourcev1.ResourceSlice
	for n := range p.nodes {
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: explaintest.NodeName(n)}})
		s := slice(explaintest.NodeName(n))
		s.Spec.NodeName = ptr.To(explaintest.NodeName(n))
		local = append(local, s)
	}
	network, common, counters := slice("network"), slice("common"), slice("common-counters")
	network.Spec.AllNodes = ptr.To(true)
	common.Spec.PerDeviceNodeSelection = ptr.To(true)
	counters.Spec.AllNodes = ptr.To(true)
	counters.Spec.Pool.Name = "common"
	common.Spec.Pool.ResourceSliceCount, counters.Spec.Pool.ResourceSliceCount = 2, 2
	counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{
		"units": {Value: *resource.NewQuantity(int64(p.units), resource.DecimalSI)}}}}
	for i, d := range p.devices {
		device := resourcev1.Device{Name: fmt.Sprintf("d%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"value": {IntValue: ptr.To(int64(d.value))}}}
		if d.room > 0 {
			device.AllowMultipleAllocations = ptr.To(true)
			device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"room": {Value: *resource.NewQuantity(int64(d.room), resource.DecimalSI)}}
		}
		switch {
		case d.common:
			device.NodeName = ptr.To(explaintest.NodeName(d.node))
			if d.units > 0 {
				device.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{
					"units": {Value: *resource.NewQuantity(int64(d.units), resource.DecimalSI)}}}}
			}
			common.Spec.Devices = append(common.Spec.Devices, device)
		case d.node < 0:
			network.Spec.Devices = append(network.Spec.Devices, device)
		default:
			local[d.node].Spec.Devices = append(local[d.node].Spec.Devices, device)
		}
	}
	return o
}

func (p *fitProblem) claim() *resourcev1.ResourceClaim {
	claim := explaintest.GPUClaim(int64(p.count), "any")
	if p.match {
		claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("gpu.example.com/value"))}}
	}
	for _, d := range p.devices {
		if d.room > 0 {
			claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{
				"room": *resource.NewQuantity(int64(p.amount), resource.DecimalSI)}}
		}
	}
	return claim
}

// fitState is what is left of the devices.
type fitState struct {
	room  [8]int // of each device
	units int
}

func (p *fitProblem) start() fitState {
	s := fitState{units: p.units}
	for i, d := range p.devices {
		s.room[i] = max(1, d.room)
	}
	return s
}

// take is how much of a device a copy takes. It is 0 if the claim asks for a capacity that the device does
// not have.
func (p *fitProblem) take(d *fitDevice) int {
	switch {
	case d.room > 0:
		return p.amount
	case p.claim().Spec.Devices.Requests[0].Exactly.Capacity != nil:
		return 0
	}
	return 1
}

// most is the largest number of copies that fit. It tries every set of devices on every one of the nodes.
func (p *fitProblem) most(s fitState, nodes []int, known map[fitState]int) int {
	if n, ok := known[s]; ok {
		return n
	}
	best := 0
	for _, node := range nodes {
		for set := range 1 << len(p.devices) {
			if next, ok := p.pick(s, node, set); ok {
				best = max(best, 1+p.most(next, nodes, known))
			}
		}
	}
	known[s] = best
	return best
}

// pick gives a set of devices to a copy on a node. The result is false if the copy cannot have them.
func (p *fitProblem) pick(s fitState, node, set int) (fitState, bool) {
	n, value := 0, -1
	for i := range p.devices {
		if set&(1<<i) == 0 {
			continue
		}
		d := &p.devices[i]
		n++
		take := p.take(d)
		if n > p.count || d.node >= 0 && d.node != node || take == 0 || take > s.room[i] || p.match && value >= 0 && value != d.value {
			return s, false
		}
		value = d.value
		s.room[i] -= take
		s.units -= d.units
	}
	return s, n == p.count && s.units >= 0
}

// TestFitOfRandomProblems compares the numbers of copies with what trying everything gives.
func TestFitOfRandomProblems(t *testing.T) {
	problems := effort.Of(400, 150)
	if *explaintest.Thorough {
		problems = 5000
	}
	exact, reached, positive := 0, 0, 0
	for seed := range uint64(problems) {
		p := randomFit(rand.New(rand.NewPCG(seed, 5)))
		c := explaintest.NewCluster(p.objects())
		f, err := fit.Claim(context.Background(), c, p.claim(), question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for n := range p.nodes {
			all = append(all, n)
		}
		want := p.most(p.start(), all, map[fitState]int{})
		if f.Total > want || f.Total < want && !f.AtLeast {
			t.Fatalf("seed %d: total %d (at least: %t), want %d\n%+v\n%+v", seed, f.Total, f.AtLeast, want, p, f.Nodes)
		}
		for _, n := range f.Nodes {
			var node int
			if _, err := fmt.Sscanf(string(n.Node), "n%d", &node); err != nil {
				t.Fatal(err)
			}
			if want := p.most(p.start(), []int{node}, map[fitState]int{}); n.Copies != want || n.AtLeast {
				t.Fatalf("seed %d: %d on %s (at least: %t), want %d\n%+v", seed, n.Copies, n.Node, n.AtLeast, want, p)
			}
		}
		if want > 0 {
			positive++
			exact += map[bool]int{false: 1}[f.AtLeast]
			reached += map[bool]int{true: 1}[f.Total == want]
		}
	}
	t.Logf("of %d problems %d were counted exactly; the number given was right for %d", positive, exact, reached)
	if exact < positive*2/3 || reached < positive*9/10 {
		t.Errorf("of %d problems only %d were counted exactly, and %d rightly", positive, exact, reached)
	}
}
