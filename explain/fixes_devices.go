package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// More devices on the node of the conflict.

// maxShapes bounds how many different devices are tried, over all requests; each request has one at least.
const maxShapes = 4

// shape is a device that a request would take if it could be had, and where it is.
type shape struct {
	request *allocator.ExaminedRequest
	device  *allocator.ExaminedDevice
	from    *local
}

// addition is a number of devices of a shape to be added.
type addition struct {
	shape
	count int
}

// moreDevices tries copies of a device, as if they were added to the node: of one that the node has, or for a
// request for which it has none, of one on another node. When nothing else helps, devices for all requests are
// added together.
func (s *search) moreDevices(ctx context.Context) error {
	if s.conflict == nil {
		return nil
	}
	l := s.q.localOf(s.conflict.Node)
	exam, err := l.examination(ctx)
	if err != nil || exam == nil {
		return err
	}
	needed := 0
	for i := range exam.Requests {
		if !exam.Requests[i].All {
			needed += exam.Requests[i].Needed
		}
	}
	var shapes []shape
	for i := range exam.Requests {
		more, err := s.shapesFor(ctx, &exam.Requests[i], l, max(1, maxShapes/len(exam.Requests)))
		if err != nil {
			return err
		}
		shapes = append(shapes, more...)
	}
	for _, shape := range shapes {
		for n := 1; n <= min(needed, resourcev1.AllocationResultsMaxSize); n++ {
			added := []addition{{shape, n}}
			o, err := l.tryAdded(ctx, added)
			if err != nil {
				return err
			}
			if o == fits {
				s.changes = append(s.changes, l.adding(added))
				return nil
			}
		}
	}
	if len(s.changes) > 0 {
		return nil
	}
	return s.devicesForAll(ctx, l, shapes)
}

// devicesForAll adds as many devices as each request needs, and then leaves out those that are not needed.
func (s *search) devicesForAll(ctx context.Context, l *local, shapes []shape) error {
	var added []addition
	for _, shape := range shapes {
		if !slices.ContainsFunc(added, func(a addition) bool {
			return a.request.Claim == shape.request.Claim && a.request.Request == shape.request.Request
		}) {
			added = append(added, addition{shape, min(shape.request.Needed, resourcev1.AllocationResultsMaxSize)})
		}
	}
	if len(added) < 2 {
		return nil
	}
	if o, err := l.tryAdded(ctx, added); err != nil || o != fits {
		return err
	}
	for i := range added {
		for added[i].count > 0 {
			fewer := slices.Clone(added)
			fewer[i].count--
			o, err := l.tryAdded(ctx, fewer)
			if err != nil {
				return err
			}
			if o != fits {
				break
			}
			added = fewer
		}
	}
	s.changes = append(s.changes, l.adding(added))
	return nil
}

// shapesFor lists different devices that a request accepts: those of the node, or else of other near nodes.
func (s *search) shapesFor(ctx context.Context, r *allocator.ExaminedRequest, l *local, most int) ([]shape, error) {
	if out := shapesOf(r, l, most); len(out) > 0 {
		return out, nil
	}
	for _, n := range s.near {
		other := s.q.localOf(n.name)
		if other == nil {
			continue
		}
		exam, err := other.examination(ctx)
		if err != nil {
			return nil, err
		}
		for i := range examinedRequests(exam) {
			if o := &exam.Requests[i]; o.Claim == r.Claim && o.Request == r.Request && o.Sub == r.Sub {
				if out := shapesOf(o, other, most); len(out) > 0 {
					return out, nil
				}
			}
		}
	}
	return nil, nil
}

func shapesOf(r *allocator.ExaminedRequest, from *local, most int) []shape {
	var out []shape
	seen := map[string]bool{}
	for i := range r.Devices {
		d := &r.Devices[i]
		if r.All || len(out) == most || d.Fails(allocator.ClassSelectorRejected, allocator.SelectorRejected,
			allocator.SelectorError, allocator.NodeUnsuitable, allocator.FeatureDisabled) != nil {
			continue
		}
		key := d.ID.Driver + (&resourcev1.Device{
			Attributes: d.Device.Attributes, Capacity: d.Device.Capacity, ConsumesCounters: d.Device.ConsumesCounters,
		}).String()
		if !seen[key] {
			seen[key] = true
			out = append(out, shape{r, d, from})
		}
	}
	return out
}

// tryAdded asks for the claims with devices added to the node.
func (l *local) tryAdded(ctx context.Context, added []addition) (outcome, error) {
	return l.q.whatIf(ctx, clusterWith(l.snapshot.With(l.add(added)), nil, l.q.cluster), l.node, l.q.claims)
}

// adding proposes to add devices to the node.
func (l *local) adding(added []addition) change {
	var parts []string
	sum := 0
	for _, a := range added {
		if a.count == 0 {
			continue
		}
		like := a.device.ID.Device
		if a.from != l {
			like = a.device.ID.String()
		}
		parts = append(parts, fmt.Sprintf("%s like %s", count(a.count, "device"), like))
		sum += a.count
	}
	return change{
		kind: AddDevices, world: l.add(added), node: inspect.NodeName(l.node.Name), cost: costDevices + sum,
		message: fmt.Sprintf("add %s to %s", strings.Join(parts, " and "), l.node.Name),
	}
}

// add returns a change that publishes copies of devices on the node, untainted and free, each in a pool of its
// own with counters of its own.
func (l *local) add(added []addition) func(*inspect.Objects) {
	return func(o *inspect.Objects) {
		number := 0
		for _, a := range added {
			for range a.count {
				o.Slices = append(o.Slices, l.copyOf(a.shape, fmt.Sprintf("added-%d.kubectl-dra.dev", number))...)
				number++
			}
		}
	}
}

// copyOf returns the slices of a new pool on the node with a copy of the device.
func (l *local) copyOf(like shape, name string) []*resourcev1.ResourceSlice {
	id, device := like.device.ID, like.device.Device.DeepCopy()
	device.Taints, device.NodeName, device.NodeSelector, device.AllNodes = nil, nil, nil, nil
	pool := resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}
	var counters []resourcev1.CounterSet
	if len(device.ConsumesCounters) > 0 {
		pool.ResourceSliceCount = 2
		for _, slice := range like.from.snapshot.Slices() {
			if slice.Spec.Driver == id.Driver && slice.Spec.Pool.Name == id.Pool {
				counters = append(counters, slice.Spec.SharedCounters...)
			}
		}
	}
	slice := func(name string, devices []resourcev1.Device, counters []resourcev1.CounterSet) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: id.Driver, NodeName: ptr.To(l.node.Name), Pool: pool, Devices: devices, SharedCounters: counters,
			},
		}
	}
	out := []*resourcev1.ResourceSlice{slice(name, []resourcev1.Device{*device}, nil)}
	if len(device.ConsumesCounters) > 0 {
		out = append(out, slice(name+"-counters", nil, counters))
	}
	return out
}
