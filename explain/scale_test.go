package explain_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const bigDriver = "gpu.example.com"

// bigCluster has nodes with 8 GPUs each: four models, two NUMA nodes, every GPU with a serial number of
// its own. Half of the GPUs are held, each by a claim of its own that is in use by a running pod.
func bigCluster(nodes int) inspect.Objects {
	var o inspect.Objects
	o.Classes = []*resourcev1.DeviceClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu"},
		Spec:       resourcev1.DeviceClassSpec{Selectors: celSelectors(`device.driver == "gpu.example.com"`)},
	}}
	models := []string{"A100", "H100", "L40S", "B200"}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name + "-gpu"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: bigDriver, NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d", d),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
					"model":         {StringValue: ptr.To(models[n%len(models)])},
					"numa":          {IntValue: ptr.To(int64(d / 4))},
					"uuid":          {StringValue: ptr.To(fmt.Sprintf("GPU-%05d-%d", n, d))},
					"driverVersion": {VersionValue: ptr.To("550.54.15")},
				},
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse([]string{"40Gi", "80Gi", "48Gi", "180Gi"}[n%4])}},
			})
			if (n+d)%2 == 0 {
				held := fmt.Sprintf("held-%05d-%d", n, d)
				o.Claims = append(o.Claims, heldClaim(held, name, d))
				o.Pods = append(o.Pods, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: held, UID: "1"},
					Spec:       corev1.PodSpec{NodeName: name, ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(held)}}},
					Status:     corev1.PodStatus{Phase: corev1.PodRunning},
				})
			}
		}
		o.Slices = append(o.Slices, slice)
	}
	return o
}

func heldClaim(name, node string, device int) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
		Status: resourcev1.ResourceClaimStatus{
			Allocation: &resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
					{Request: "gpu", Driver: bigDriver, Pool: node, Device: fmt.Sprintf("gpu-%d", device)}}},
				NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
					{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}},
			},
			ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: "1"}},
		},
	}
}

func celSelectors(expressions ...string) []resourcev1.DeviceSelector {
	var out []resourcev1.DeviceSelector
	for _, e := range expressions {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
	}
	return out
}

// bigQuestions are claims that fit nowhere: for their selector, for occupancy, for a constraint.
func bigQuestions() map[string]*resourcev1.ResourceClaim {
	claim := func(count int64, selector string, constraints ...resourcev1.DeviceConstraint) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "question"}}
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}}}
		if selector != "" {
			c.Spec.Devices.Requests[0].Exactly.Selectors = celSelectors(selector)
		}
		c.Spec.Devices.Constraints = constraints
		return c
	}
	return map[string]*resourcev1.ResourceClaim{
		"selector":   claim(1, `device.attributes["gpu.example.com"].model == "H100" && device.capacity["gpu.example.com"].memory.compareTo(quantity("96Gi")) >= 0`),
		"occupancy":  claim(5, ""),
		"constraint": claim(3, "", resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(bigDriver + "/numa"))}),
	}
}

// schedulerSweep asks the scheduler's allocator about every node, as a scheduler without a limit on the
// number of nodes would. It returns the number of nodes that fit.
func schedulerSweep(tb testing.TB, o *inspect.Objects, claim *resourcev1.ResourceClaim, nodes []*corev1.Node) int {
	tb.Helper()
	f := structured.Features{AdminAccess: true, PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true,
		DeviceBindingAndStatus: true, ConsumableCapacity: true, FractionalCapacityRange: true}
	state := structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID](), AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity: structured.NewConsumedCapacityCollection()}
	for _, c := range o.Claims {
		for _, r := range c.Status.Allocation.Devices.Results {
			state.AllocatedDevices.Insert(structured.MakeDeviceID(r.Driver, r.Pool, r.Device))
		}
	}
	ctx := context.Background()
	a, err := structured.NewAllocator(ctx, f, state, classes(o.Classes), o.Slices, cel.NewCache(10, cel.Features{EnableConsumableCapacity: true}))
	if err != nil {
		tb.Fatal(err)
	}
	fits := 0
	for _, node := range nodes {
		result, err := a.Allocate(ctx, node, []*resourcev1.ResourceClaim{claim})
		if err != nil {
			tb.Fatal(err)
		}
		if result != nil {
			fits++
		}
	}
	return fits
}

type classes []*resourcev1.DeviceClass

func (c classes) List() ([]*resourcev1.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, errors.New("not found")
}

// measure runs f and returns the time and the bytes that it allocated.
func measure(f func()) (time.Duration, uint64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return elapsed, after.TotalAlloc - before.TotalAlloc
}

// keptQuestion is a claim that differs from the one of bigQuestions in what is asked for, but not in which
// fields of devices it reads.
func keptQuestion(name string) *resourcev1.ResourceClaim {
	c := bigQuestions()[name]
	c.Name = "another"
	request := c.Spec.Devices.Requests[0].Exactly
	switch name {
	case "selector":
		request.Selectors = celSelectors(`device.attributes["gpu.example.com"].model == "L40S" && device.capacity["gpu.example.com"].memory.compareTo(quantity("64Gi")) >= 0`)
	case "occupancy":
		request.Count = 6
	case "constraint":
		request.Count = 4
	}
	return c
}

// race adds up times and bytes of two that take turns.
type race struct {
	ours, theirs           time.Duration
	oursBytes, theirsBytes uint64
}

func (r *race) report(b *testing.B) {
	b.Helper()
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(r.ours.Seconds()*1000/n, "ours-ms")
	if r.theirs > 0 {
		b.ReportMetric(r.theirs.Seconds()*1000/n, "scheduler-ms")
		b.ReportMetric(float64(r.theirs)/float64(r.ours), "times-faster")
		b.ReportMetric(float64(r.oursBytes)/float64(r.theirsBytes), "bytes-ratio")
	}
}

// BenchmarkExplain explains claims that fit nowhere, beside the scheduler's allocator asked about every
// node in the same run. "new" begins with the objects. "kept" is another claim put to a cluster that was
// asked about a claim that reads the same fields of devices before: it has the index, and what nodes look
// like; its expressions, searches, conflict and fixes are its own.
func BenchmarkExplain(b *testing.B) {
	for _, name := range []string{"selector", "occupancy", "constraint"} {
		for _, nodes := range []int{100, 1000, 5000, 15000} {
			for _, kept := range []bool{false, true} {
				row := fmt.Sprintf("%s/%d/new", name, nodes)
				if kept {
					row = fmt.Sprintf("%s/%d/kept", name, nodes)
				}
				b.Run(row, func(b *testing.B) { benchmarkExplain(b, name, nodes, kept) })
			}
		}
	}
}

func benchmarkExplain(b *testing.B, name string, nodes int, kept bool) {
	b.Helper()
	o := bigCluster(nodes)
	claim := bigQuestions()[name]
	explained := func(c *allocator.Cluster, claim *resourcev1.ResourceClaim) {
		e, err := explain.ClaimObject(context.Background(), c, claim, explain.Options{})
		if err != nil || e.Verdict != explain.Unsatisfiable || e.Conflict == nil || len(e.Fixes) == 0 {
			b.Fatal(err, e.Verdict, e.Conflict)
		}
	}
	build := func() *allocator.Cluster {
		return allocator.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), allocator.Options{})
	}
	var r race
	for b.Loop() {
		ask := func() { explained(build(), claim) }
		if kept {
			cluster := build()
			explained(cluster, claim)
			claim := keptQuestion(name)
			ask = func() { explained(cluster, claim) }
		}
		t, bytes := measure(ask)
		r.ours, r.oursBytes = r.ours+t, r.oursBytes+bytes
		if nodes > 5000 {
			continue
		}
		t, bytes = measure(func() {
			if fits := schedulerSweep(b, &o, claim, o.Nodes); fits != 0 {
				b.Fatalf("the scheduler finds %d nodes", fits)
			}
		})
		r.theirs, r.theirsBytes = r.theirs+t, r.theirsBytes+bytes
	}
	r.report(b)
}
