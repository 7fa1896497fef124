package allocator

import (
	"sync"
	"sync/atomic"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// shapes numbers what devices are, apart from their names and attributes: equal numbers mean equal
// drivers, flags, taints, capacities and counter needs. It is computed once per slice and shared by all
// questions.
type shapes struct {
	slices sync.Map     // *resourcev1.ResourceSlice -> []uint32, by device
	known  atomic.Int64 // the number of slices

	mu      sync.Mutex
	numbers map[string]uint32

	looksMu sync.Mutex
	looks   map[poolLook][]byte
}

// poolLook is all on which the signature of a pool depends: what the question reads, the pool as one node has
// it, and what claims hold there. See [inspect.Snapshot.SameDevices].
type poolLook struct {
	reads   string
	pool    *inspect.NodePool
	holders *inspect.PoolHolders
}

// keptLooks bounds the pools of which the signature is known. Those are kept that are asked about again and
// again while pods are placed there one after the other: the pools of few nodes.
var keptLooks = selector.Bound{Spare: 1 << 11}

func newShapes() *shapes { return &shapes{numbers: map[string]uint32{}, looks: map[poolLook][]byte{}} }

func (s *shapes) look(l poolLook) ([]byte, bool) {
	s.looksMu.Lock()
	defer s.looksMu.Unlock()
	signature, ok := s.looks[l]
	return signature, ok
}

func (s *shapes) keep(l poolLook, signature []byte) {
	s.looksMu.Lock()
	defer s.looksMu.Unlock()
	if keptLooks.Exceeded(len(s.looks), 0) {
		clear(s.looks)
	}
	s.looks[l] = signature
}

// of returns the shapes of the devices of a slice.
func (s *shapes) of(slice *resourcev1.ResourceSlice, capacities bool) []uint32 {
	if known, ok := s.slices.Load(slice); ok {
		return known.([]uint32)
	}
	out := make([]uint32, len(slice.Spec.Devices))
	var buf []byte
	for i := range slice.Spec.Devices {
		buf = appendShape(buf[:0], slice.Spec.Driver, &slice.Spec.Devices[i], capacities)
		s.mu.Lock()
		number, ok := s.numbers[string(buf)]
		if !ok {
			number = uint32(len(s.numbers))
			s.numbers[string(buf)] = number
		}
		s.mu.Unlock()
		out[i] = number
	}
	if _, loaded := s.slices.LoadOrStore(slice, out); !loaded {
		s.known.Add(1)
	}
	return out
}

// appendShape writes what a device is. Capacities only count while they can be consumed; selectors that
// read them are another matter.
func appendShape(buf []byte, driver string, device *resourcev1.Device, capacities bool) []byte {
	buf = appendText(buf, driver)
	flags := byte(0)
	for i, set := range []bool{
		isTrue(device.AllowMultipleAllocations), len(device.BindingConditions) > 0, selector.Convertible(device),
		device.NodeSelector != nil && len(device.NodeSelector.NodeSelectorTerms) > 1,
	} {
		if set {
			flags |= 1 << i
		}
	}
	buf = append(buf, flags)
	for i := range device.Taints {
		t := &device.Taints[i]
		buf = appendText(appendText(appendText(append(buf, 't'), t.Key), t.Value), string(t.Effect))
	}
	if capacities && len(device.Capacity) > 0 {
		buf = appendCapacity(buf, device)
	}
	for i := range device.ConsumesCounters {
		buf = appendConsumption(buf, &device.ConsumesCounters[i])
	}
	return buf
}
