package allocator

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// family is a kind of problem on which a plain search explodes, of a given size.
type family struct {
	name    string
	devices []resourcev1.Device
	sets    []resourcev1.CounterSet
	claims  []*resourcev1.ResourceClaim
}

const familyDriver = "gpu.example.com"

func makeDevices(n int, fill func(i int, d *resourcev1.Device)) []resourcev1.Device {
	out := make([]resourcev1.Device, n)
	for i := range out {
		out[i].Name = fmt.Sprintf("d%03d", i)
		if fill != nil {
			fill(i, &out[i])
		}
	}
	return out
}

func attribute(d *resourcev1.Device, name string, value int64) {
	if d.Attributes == nil {
		d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	}
	d.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{IntValue: &value}
}

func exactCount(name string, count int, selectors ...string) resourcev1.DeviceRequest {
	r := &resourcev1.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(count)}
	for _, s := range selectors {
		r.Selectors = append(r.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: s}})
	}
	return resourcev1.DeviceRequest{Name: name, Exactly: r}
}

func claimOf(name string, requests ...resourcev1.DeviceRequest) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: requests}},
	}
}

func several(m int, request func(i int) resourcev1.DeviceRequest) []resourcev1.DeviceRequest {
	var out []resourcev1.DeviceRequest
	for i := range m {
		out = append(out, request(i))
	}
	return out
}

func familyA(n int) family {
	return family{name: "A too few", devices: makeDevices(n, nil), claims: []*resourcev1.ResourceClaim{claimOf("c", exactCount("r", n+1))}}
}

func familyB(n int) family {
	return family{name: "B single requests", devices: makeDevices(n, nil), claims: []*resourcev1.ResourceClaim{
		claimOf("c", several(n+1, func(i int) resourcev1.DeviceRequest { return exactCount(fmt.Sprintf("r%d", i), 1) })...),
	}}
}

func familyC(values, each int) family {
	c := claimOf("c", exactCount("r", values+1))
	c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: ptr.To(resourcev1.FullyQualifiedName(familyDriver + "/v"))}}
	return family{name: "C distinct", claims: []*resourcev1.ResourceClaim{c},
		devices: makeDevices(values*each, func(i int, d *resourcev1.Device) { attribute(d, "v", int64(i%values)) })}
}

func familyD(values, each int) family {
	c := claimOf("c", exactCount("r", each+1))
	c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(familyDriver + "/v"))}}
	return family{name: "D match", claims: []*resourcev1.ResourceClaim{c},
		devices: makeDevices(values*each, func(i int, d *resourcev1.Device) { attribute(d, "v", int64(i%values)) })}
}

// familyE has partitions of one device. With profiles each partition also takes a slice of its own,
// so that no two are alike.
func familyE(n, available int, profiles bool) family {
	f := family{name: "E counters", claims: []*resourcev1.ResourceClaim{claimOf("c", exactCount("r", available+1))}}
	set := resourcev1.CounterSet{Name: "s", Counters: map[string]resourcev1.Counter{"units": {Value: *resource.NewQuantity(int64(available), resource.DecimalSI)}}}
	f.devices = makeDevices(n, func(i int, d *resourcev1.Device) {
		use := map[string]resourcev1.Counter{"units": {Value: resource.MustParse("1")}}
		if profiles {
			slice := fmt.Sprintf("slice-%d", i)
			use[slice] = resourcev1.Counter{Value: resource.MustParse("1")}
			set.Counters[slice] = resourcev1.Counter{Value: resource.MustParse("1")}
		}
		d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "s", Counters: use}}
	})
	if profiles {
		f.name += ", all different"
	}
	f.sets = []resourcev1.CounterSet{set}
	return f
}

func familyF(n, claims, each int) family {
	f := family{name: "F dead last claim", devices: makeDevices(n, nil)}
	for i := range claims {
		f.claims = append(f.claims, claimOf(fmt.Sprintf("c%d", i), exactCount("r", each)))
	}
	f.claims = append(f.claims, claimOf("dead", exactCount("r", 1, `device.driver == "nobody"`)))
	return f
}

func familyG(m, subs int) family {
	return family{name: "G alternatives", devices: makeDevices(m, nil), claims: []*resourcev1.ResourceClaim{claimOf("c",
		append(several(m, func(i int) resourcev1.DeviceRequest {
			r := resourcev1.DeviceRequest{Name: fmt.Sprintf("r%d", i)}
			for s := range subs {
				r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{
					Name: fmt.Sprintf("s%d", s), DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1})
			}
			return r
		}), exactCount("dead", 1, `device.driver == "nobody"`))...)}}
}

func familyH(devicesN, m int) family {
	return family{name: "H shares", devices: makeDevices(devicesN, func(_ int, d *resourcev1.Device) {
		d.AllowMultipleAllocations = ptr.To(true)
		d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"bandwidth": {
			Value: resource.MustParse("1000"), RequestPolicy: &resourcev1.CapacityRequestPolicy{Default: ptr.To(resource.MustParse("1"))}}}
	}), claims: []*resourcev1.ResourceClaim{claimOf("c",
		append(several(m, func(i int) resourcev1.DeviceRequest { return exactCount(fmt.Sprintf("r%d", i), 1) }),
			exactCount("dead", 1, `device.driver == "nobody"`))...)}}
}

// objects puts the devices on one node.
func (f family) objects() inspect.Objects {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	pool := resourcev1.ResourcePool{Name: "n1", Generation: 1, ResourceSliceCount: 1}
	if f.sets != nil {
		pool.ResourceSliceCount = 2
	}
	slices := []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "s-devices"},
		Spec: resourcev1.ResourceSliceSpec{Driver: familyDriver, Pool: pool, NodeName: &node.Name, Devices: f.devices}}}
	if f.sets != nil {
		slices = append(slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s-counters"},
			Spec: resourcev1.ResourceSliceSpec{Driver: familyDriver, Pool: pool, NodeName: &node.Name, SharedCounters: f.sets}})
	}
	return inspect.Objects{
		Nodes: []*corev1.Node{node}, Slices: slices,
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}},
	}
}

func (f family) cluster(opts Options) (*Cluster, *corev1.Node) {
	s := inspect.New(f.objects(), inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	return NewCluster(s, opts), s.Nodes()[0]
}

// TestFamilies shows that the families on which a plain search explodes are decided in few steps: by
// the bounds, and, where these are left out, by the memos.
func TestFamilies(t *testing.T) {
	tests := []struct {
		family
		memos int64 // steps without the bounds; 0: the memos alone are not enough
	}{
		{familyA(31), 400}, {familyB(31), 400}, {familyC(31, 2), 0}, {familyC(7, 4), 600}, {familyD(4, 16), 500},
		{familyD(2, 31), 500}, {familyE(64, 31, false), 600}, {familyE(64, 31, true), 0}, {familyF(64, 4, 3), 900},
		{familyF(64, 1, 32), 900}, {familyG(31, 8), 1000}, {familyH(2, 31), 2000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := func(what string, c *Cluster, node *corev1.Node, most int64) {
				r, err := c.Allocate(context.Background(), node, tt.claims, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %s after %d steps", what, r.Outcome, r.Steps)
				if r.Outcome != Unsatisfiable || r.Steps > most {
					t.Errorf("%s: %s after %d steps, want Unsatisfiable within %d", what, r.Outcome, r.Steps, most)
				}
			}
			c, node := tt.cluster(Options{})
			check("with bounds", c, node, plainSteps+1)
			if tt.memos > 0 {
				c, node := tt.cluster(Options{})
				c.noBounds = true
				check("memos alone", c, node, plainSteps+tt.memos)
			}
		})
	}
}
