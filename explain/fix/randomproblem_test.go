package fix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A small random problem is a plain value. To relax a requirement is to change the value, and the API objects
// are built from it afresh, so that the code under test takes no part in it.

const (
	smallDriver = "d.example.com"
	smallClass  = "devices"
	looseClass  = "devices-loose" // smallClass without its second term
)

// smallDevice is a device of a node.
type smallDevice struct {
	model    string
	numa     int
	mem      int // Gi
	taint    string
	shared   bool // with 100 of bandwidth
	counters int  // the amount that it takes of the 4 of the node, or 0
}

// smallHolder is a claim that holds devices of a node.
type smallHolder struct {
	name    string
	node    int
	devices []int
	share   int  // its share of the bandwidth, or 0 for the whole device
	idle    bool // no pod uses it
}

// smallRequest is a request or a subrequest.
type smallRequest struct {
	name      string
	count     int
	all       bool
	loose     bool       // the term of the class is dropped
	selectors [][]string // terms
	bandwidth int
	tolerates []string
	subs      []smallRequest
	isDropped bool
}

// smallConstraint is a constraint.
type smallConstraint struct {
	attribute string
	distinct  bool
	requests  []string
	isDropped bool
}

// smallProblem is a cluster and a claim.
type smallProblem struct {
	classTerm   bool
	nodes       [][]smallDevice
	plenty      bool // there is plenty of the counters
	holders     []smallHolder
	requests    []smallRequest
	constraints []smallConstraint
}

// clone copies what relaxing changes.
func (p *smallProblem) clone() *smallProblem {
	out := *p
	out.holders = slices.Clone(p.holders)
	out.constraints = slices.Clone(p.constraints)
	out.requests = cloneRequests(p.requests)
	return &out
}

func cloneRequests(requests []smallRequest) []smallRequest {
	out := slices.Clone(requests)
	for i := range out {
		out[i].selectors = slices.Clone(out[i].selectors)
		for j := range out[i].selectors {
			out[i].selectors[j] = slices.Clone(out[i].selectors[j])
		}
		out[i].tolerates = slices.Clone(out[i].tolerates)
		out[i].subs = cloneRequests(out[i].subs)
	}
	return out
}

// pick returns one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// randomProblem makes a problem of one to three nodes.
func randomProblem(r *rand.Rand) *smallProblem {
	p := &smallProblem{classTerm: r.IntN(4) == 0}
	counters, tainted, sharing := r.IntN(4) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	for range 1 + r.IntN(3) {
		var devices []smallDevice
		for range 2 + r.IntN(5) {
			d := smallDevice{model: pick(r, "a", "a", "b"), numa: r.IntN(2), mem: pick(r, 10, 20, 40)}
			if tainted && r.IntN(3) > 0 {
				d.taint = pick(r, "k1", "k2")
			}
			d.shared = sharing && r.IntN(2) == 0
			if counters && r.IntN(2) == 0 {
				d.counters = 1 + r.IntN(3)
			}
			devices = append(devices, d)
		}
		p.nodes = append(p.nodes, devices)
	}
	p.randomHolders(r)
	for i := range pick(r, 1, 1, 2) {
		request := randomRequest(r, fmt.Sprintf("r%d", i), sharing)
		if r.IntN(8) == 0 {
			request = smallRequest{name: request.name, subs: []smallRequest{randomRequest(r, "s0", sharing), randomRequest(r, "s1", sharing)}}
		}
		p.requests = append(p.requests, request)
	}
	for range pick(r, 0, 0, 1, 1, 2) {
		c := smallConstraint{attribute: pick(r, "numa", "model"), distinct: r.IntN(4) == 0}
		if len(p.requests) > 1 && r.IntN(2) == 0 {
			c.requests = []string{"r0"}
		}
		p.constraints = append(p.constraints, c)
	}
	return p
}

// randomHolders gives devices to claims; the counters of the node may not be overdrawn.
func (p *smallProblem) randomHolders(r *rand.Rand) {
	for n, devices := range p.nodes {
		left := 4
		for d := 0; d < len(devices); d++ {
			if r.IntN(3) == 0 || devices[d].counters > left {
				continue
			}
			h := smallHolder{name: fmt.Sprintf("h%d-%d", n, d), node: n, devices: []int{d}, idle: r.IntN(3) == 0}
			left -= devices[d].counters
			if devices[d].shared {
				h.share = pick(r, 30, 60, 100)
			} else if d+1 < len(devices) && !devices[d+1].shared && devices[d+1].counters == 0 && r.IntN(3) == 0 {
				d++
				h.devices = append(h.devices, d)
			}
			p.holders = append(p.holders, h)
		}
	}
}

func randomRequest(r *rand.Rand, name string, sharing bool) smallRequest {
	request := smallRequest{name: name, count: pick(r, 1, 1, 2, 2, 3), all: r.IntN(12) == 0}
	terms := []string{
		fmt.Sprintf(`device.attributes[%q].model == %q`, smallDriver, pick(r, "a", "a", "a", "b", "b", "c")),
		fmt.Sprintf(`device.attributes[%q].numa == %d`, smallDriver, r.IntN(2)),
		fmt.Sprintf(`device.capacity[%q].mem.compareTo(quantity("%dGi")) >= 0`, smallDriver, pick(r, 10, 10, 20, 20, 40, 80)),
		fmt.Sprintf(`device.attributes[%q].numa < %d`, smallDriver, pick(r, 0, 1, 1, 2)),
	}
	r.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	switch r.IntN(5) {
	case 0:
		request.selectors = [][]string{{terms[0]}}
	case 1:
		request.selectors = [][]string{{terms[0], terms[1]}}
	case 2:
		request.selectors = [][]string{{terms[0]}, {terms[1], terms[2]}}
	}
	if sharing && r.IntN(2) == 0 {
		request.bandwidth = pick(r, 20, 50, 80, 150)
	}
	if r.IntN(6) == 0 {
		request.tolerates = []string{"k1"}
	}
	return request
}

// objects builds the API objects; the claim itself is not among them.
func (p *smallProblem) objects() inspect.Objects {
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{class(smallClass, p.classTerm), class(looseClass, false)}}
	for n, devices := range p.nodes {
		name := explaintest.NodeName(n)
		o.Nodes = append(o.Nodes, explaintest.Node(name))
		pool := resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 2}
		slice := &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       resourcev1.ResourceSliceSpec{Driver: smallDriver, NodeName: ptr.To(name), Pool: pool},
		}
		for i := range devices {
			slice.Spec.Devices = append(slice.Spec.Devices, devices[i].build(i))
		}
		counters := "4"
		if p.plenty {
			counters = "1000"
		}
		o.Slices = append(o.Slices, slice, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-counters"},
			Spec: resourcev1.ResourceSliceSpec{Driver: smallDriver, NodeName: ptr.To(name), Pool: pool, SharedCounters: []resourcev1.CounterSet{
				{Name: "set", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse(counters)}}},
			}},
		})
	}
	for i := range p.holders {
		o.Claims = append(o.Claims, p.holders[i].build())
	}
	return o
}

func class(name string, second bool) *resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	add := func(expression string) {
		c.Spec.Selectors = append(c.Spec.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}})
	}
	add(fmt.Sprintf("device.driver == %q", smallDriver))
	if second {
		add(fmt.Sprintf(`device.attributes[%q].model == "a"`, smallDriver))
	}
	return c
}

func (d *smallDevice) build(i int) resourcev1.Device {
	out := resourcev1.Device{
		Name: fmt.Sprintf("d%d", i),
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model": {StringValue: ptr.To(d.model)}, "numa": {IntValue: ptr.To(int64(d.numa))},
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"mem": {Value: resource.MustParse(fmt.Sprintf("%dGi", d.mem))}},
	}
	if d.taint != "" {
		out.Taints = []resourcev1.DeviceTaint{{Key: d.taint, Value: "v", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	}
	if d.shared {
		out.AllowMultipleAllocations = ptr.To(true)
		out.Capacity["bandwidth"] = resourcev1.DeviceCapacity{Value: resource.MustParse("100")}
	}
	if d.counters > 0 {
		out.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{
			CounterSet: "set", Counters: map[string]resourcev1.Counter{"c": {Value: *resource.NewQuantity(int64(d.counters), resource.DecimalSI)}},
		}}
	}
	return out
}

func (h *smallHolder) build() *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: h.name}}
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: smallClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(len(h.devices)),
	}}}
	c.Status.Allocation = &resourcev1.AllocationResult{}
	for _, d := range h.devices {
		result := resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: smallDriver, Pool: explaintest.NodeName(h.node), Device: fmt.Sprintf("d%d", d)}
		if h.share > 0 {
			result.ShareID = ptr.To(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", h.node, d)))
			result.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{
				"bandwidth": *resource.NewQuantity(int64(h.share), resource.DecimalSI), "mem": resource.MustParse("0"),
			}
		}
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, result)
	}
	if !h.idle {
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p-" + h.name, UID: "1"}}
	}
	return c
}

// claim builds the claim in question.
func (p *smallProblem) claim() *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "asked"}}
	for i := range p.requests {
		r := &p.requests[i]
		if r.isDropped {
			continue
		}
		out := resourcev1.DeviceRequest{Name: r.name}
		if len(r.subs) == 0 {
			e := r.build()
			out.Exactly = &e
		}
		for j := range r.subs {
			e := r.subs[j].build()
			out.FirstAvailable = append(out.FirstAvailable, resourcev1.DeviceSubRequest{
				Name: r.subs[j].name, DeviceClassName: e.DeviceClassName, AllocationMode: e.AllocationMode, Count: e.Count,
				Selectors: e.Selectors, Tolerations: e.Tolerations, Capacity: e.Capacity,
			})
		}
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, out)
	}
	for _, k := range p.constraints {
		if k.isDropped {
			continue
		}
		name := resourcev1.FullyQualifiedName(smallDriver + "/" + k.attribute)
		out := resourcev1.DeviceConstraint{Requests: k.requests, MatchAttribute: &name}
		if k.distinct {
			out.MatchAttribute, out.DistinctAttribute = nil, &name
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, out)
	}
	return c
}

func (r *smallRequest) build() resourcev1.ExactDeviceRequest {
	out := resourcev1.ExactDeviceRequest{
		DeviceClassName: smallClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(r.count),
	}
	if r.loose {
		out.DeviceClassName = looseClass
	}
	if r.all {
		out.AllocationMode, out.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	for _, terms := range r.selectors {
		terms = slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return t == "" })
		if len(terms) > 0 {
			out.Selectors = append(out.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: strings.Join(terms, " && ")}})
		}
	}
	if r.bandwidth > 0 {
		out.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{
			"bandwidth": *resource.NewQuantity(int64(r.bandwidth), resource.DecimalSI),
		}}
	}
	for _, key := range r.tolerates {
		out.Tolerations = append(out.Tolerations, resourcev1.DeviceToleration{
			Key: key, Operator: resourcev1.DeviceTolerationOpExists, Effect: resourcev1.DeviceTaintEffectNoSchedule,
		})
	}
	return out
}
