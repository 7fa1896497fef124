package inspect_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// parts makes some slices of a sequence draw on counters, or select nodes for each device, and some claims hold shares.
type parts struct{ *sequence }

func (q parts) slice() *resourcev1.ResourceSlice {
	s := q.sequence.slice()
	s.Name, s.Spec.Pool.Name = q.name("slice", 24), q.name("pool", 12)
	switch q.IntN(5) {
	case 0:
		s.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("3")}}}}
		s.Spec.Devices = nil
	case 1:
		s.Spec.NodeName, s.Spec.NodeSelector, s.Spec.AllNodes, s.Spec.PerDeviceNodeSelection = nil, nil, nil, ptr.To(true)
	}
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		if q.IntN(2) == 0 {
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"memory": {Value: *resource.NewQuantity(1+q.Int64N(2), resource.DecimalSI)}}}}
		}
		if s.Spec.PerDeviceNodeSelection != nil {
			d.NodeName = ptr.To(q.name("node", 5))
		}
		if q.IntN(4) == 0 {
			d.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
		}
		d.AllowMultipleAllocations = ptr.To(true)
		d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"bandwidth": {Value: resource.MustParse("10")}}
	}
	return s
}

func (q parts) claim() *resourcev1.ResourceClaim {
	c := q.sequence.claim()
	if c.Status.Allocation == nil {
		return c
	}
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		r.Pool = q.name("pool", 12)
		switch q.IntN(4) {
		case 0:
			r.AdminAccess = ptr.To(true)
		case 1:
			r.ShareID = ptr.To(types.UID(c.Name))
			r.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"bandwidth": *resource.NewQuantity(1+q.Int64N(5), resource.DecimalSI)}
		}
	}
	return c
}

// change changes mostly what changes mostly: claims, then slices; nodes and rules rarely.
func (q parts) change() {
	switch at := q.IntN(20); {
	case at < 11:
		q.Claims = changed(q.sequence, q.Claims, q.claim(), q.IntN(3) == 0)
	case at < 18:
		q.Slices = changed(q.sequence, q.Slices, q.slice(), q.IntN(4) == 0)
	default:
		q.sequence.change()
	}
}

// gates are those that decide about devices.
var gates = []inspect.Gate{inspect.GatePartitionableDevices, inspect.GateConsumableCapacity, inspect.GateDeviceTaints, inspect.GateDeviceTaintRules}

// counts is everything that an Inventory says.
func counts(s *inspect.Snapshot, i *inspect.Inventory) map[string]any {
	out := map[string]any{"devices": i.Devices(), "nodes": i.Nodes, "stocks": i.Stocks, "drivers": i.Drivers}
	for _, node := range s.Nodes() {
		on := i.On(node)
		out["on "+node.Name] = on
		out["count on "+node.Name] = i.Count(slices.Values(on))
		for _, d := range on {
			if !slices.ContainsFunc(i.Devices(), func(e inspect.DeviceStatus) bool { return reflect.DeepEqual(e, *d) }) {
				out["on "+node.Name] = "a device of another inventory"
			}
		}
	}
	return out
}

// TestInventoryAfter makes sequences of random changes and compares the Inventory that follows from the one before with one
// that is made from nothing.
func TestInventoryAfter(t *testing.T) {
	for seed := range uint64(effort.Of(200, 25)) {
		q := parts{&sequence{Rand: rand.New(rand.NewPCG(seed, 7))}}
		on := map[inspect.Gate]bool{}
		for _, gate := range gates {
			on[gate] = true
		}
		config := inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(on)}
		for n := range 5 {
			q.Nodes = append(q.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n), Labels: map[string]string{"zone": fmt.Sprintf("zone-%d", n%2)}}})
		}
		for range 24 {
			q.Slices = changed(q.sequence, q.Slices, q.slice(), false)
		}
		s := inspect.New(q.Objects, config)
		inventory := s.InventoryAfter(nil)
		for step := range 60 {
			q.Objects = *s.Objects()
			for range q.IntN(3) {
				q.change()
			}
			if q.IntN(20) == 0 {
				gate := gates[q.IntN(len(gates))]
				config.Features = config.Features.With(map[inspect.Gate]bool{gate: q.IntN(2) == 0})
			}
			next := s.Next(q.Objects, config)
			if q.IntN(10) == 0 { // one that shares nothing with it
				next = inspect.New(q.Objects, config)
			}
			before := counts(s, inventory)
			after := next.InventoryAfter(inventory)
			what := fmt.Sprintf("seed %d step %d", seed, step)
			compareAnswers(t, what, counts(next, after), counts(next, next.Inventory()))
			compareAnswers(t, what+", of the inventory before", counts(s, inventory), before)
			if t.Failed() {
				return
			}
			s, inventory = next, after
		}
	}
}

// TestInventoryShares: an Inventory makes anew the pools in which something has changed, and shares the others with the one
// before.
func TestInventoryShares(t *testing.T) {
	before, after := moments(100)
	was := before.Inventory()
	is := after.InventoryAfter(was)
	if again := after.InventoryAfter(is); again != is {
		t.Error("an Inventory of the same snapshot is another one")
	}
	for i, stock := range is.Stocks {
		if changed := i%10 == 0; (stock != was.Stocks[i]) != changed {
			t.Errorf("pool %s: shared is %v", stock.Pool.ID, stock == was.Stocks[i])
		}
	}
}
