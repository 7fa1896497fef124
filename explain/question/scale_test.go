package question_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

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

// race adds up the times and bytes of two measurements that take turns.
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

// BenchmarkExplain explains claims that fit on no node, and in the same run asks the scheduler's allocator
// about every node. "new" begins with the objects. "kept" explains a claim in a cluster that was asked before
// about another claim that reads the same fields of devices. It finds the index there, and which nodes do not
// differ; its expressions, searches, conflict and fixes are new.
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
	o := explaintest.BigCluster(nodes)
	claim := explaintest.BigQuestions()[name]
	explained := func(c *scheduler.Cluster, claim *resourcev1.ResourceClaim) {
		e, err := question.ClaimObject(context.Background(), c, claim, question.Options{})
		if err != nil || e.Verdict != explain.Unsatisfiable || e.Conflict == nil || len(e.Fixes) == 0 {
			b.Fatal(err, e.Verdict, e.Conflict)
		}
	}
	build := func() *scheduler.Cluster {
		return explaintest.FreshCluster(o)
	}
	var r race
	for b.Loop() {
		ask := func() { explained(build(), claim) }
		if kept {
			cluster := build()
			explained(cluster, claim)
			claim := similarQuestion(name)
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
