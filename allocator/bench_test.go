package allocator

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Our allocator beside the scheduler's, in the same run. Both start from objects in memory: ours from
// a snapshot, the scheduler's from its slices, claims and compiled expressions.
//
// "new" builds a Cluster (or the scheduler's instance, which it makes for each pod) for every
// question, "again" asks an existing one. Both have their expressions compiled.

// gpuQuestion has nodes with eight GPUs each and one claim for four of them; constrained, they must be
// on one rack. The first rack that comes has three, so that search goes back.
func gpuQuestion(nodes int, constrained bool) *question {
	q := &question{}
	q.setGates(nil)
	for n := range nodes {
		name := fmt.Sprintf("node-%04d", n)
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "gpus-" + name}}
		slice.Spec.Driver, slice.Spec.NodeName = "gpu.example.com", &name
		slice.Spec.Pool = resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}
		for i := range 8 {
			model, rack := "A100", []int64{0, 1, 0, 1, 0, 1, 1, 2}[i]
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d", i),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
					"model": {StringValue: &model}, "rack": {IntValue: &rack},
				},
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: *quantity("40Gi")}},
			})
		}
		q.objects.Slices = append(q.objects.Slices, slice)
		q.objects.Nodes = append(q.objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	q.objects.Classes = append(q.objects.Classes, class)
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "claim"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{exactly("gpus", 4, `device.attributes["gpu.example.com"].model == "A100"`)}
	if constrained {
		rack := resourcev1.FullyQualifiedName("gpu.example.com/rack")
		claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &rack}}
	}
	q.pending = []*resourcev1.ResourceClaim{claim}
	return q
}

// contest is one question as either side answers it, with or without building what it asks first.
type contest struct {
	q         *question
	ctx       context.Context
	snapshot  *inspect.Snapshot
	slices    []*resourcev1.ResourceSlice
	cluster   *Cluster
	scheduler structured.Allocator
	library   *selector.Library // of compiled expressions, as the scheduler has them
}

func newContest(tb testing.TB, q *question) *contest {
	tb.Helper()
	c := &contest{q: q, ctx: context.Background(), snapshot: newOurs(q, 0).Snapshot(), slices: schedulerSlices(q), library: selector.NewLibrary()}
	c.cluster = NewCluster(c.snapshot, Options{Library: c.library})
	c.scheduler = c.newScheduler(tb)
	return c
}

func (c *contest) newScheduler(tb testing.TB) structured.Allocator {
	tb.Helper()
	s, err := newSchedulerOver(c.ctx, c.q, c.slices)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func (c *contest) ours(tb testing.TB, again bool) {
	tb.Helper()
	cluster := c.cluster
	if !again {
		cluster = NewCluster(c.snapshot, Options{Library: c.library})
	}
	for _, node := range c.q.objects.Nodes {
		result, err := cluster.Allocate(c.ctx, node, c.q.pending, nil)
		if err != nil || result.Outcome != Allocated {
			tb.Fatalf("node %s: %v, %v", node.Name, result, err)
		}
	}
}

func (c *contest) theirs(tb testing.TB, again bool) {
	tb.Helper()
	scheduler := c.scheduler
	if !again {
		scheduler = c.newScheduler(tb)
	}
	for _, node := range c.q.objects.Nodes {
		result, err := scheduler.Allocate(c.ctx, node, c.q.pending)
		if err != nil || result == nil {
			tb.Fatalf("node %s: %v, %v", node.Name, result, err)
		}
	}
}

var contests = []struct {
	name        string
	nodes       int
	constrained bool
}{
	{"nodes=1/plain", 1, false},
	{"nodes=1/backtracking", 1, true},
	{"nodes=1000/plain", 1000, false},
	{"nodes=1000/backtracking", 1000, true},
}

func BenchmarkAllocate(b *testing.B) {
	for _, c := range contests {
		for _, again := range []bool{false, true} {
			contest := newContest(b, gpuQuestion(c.nodes, c.constrained))
			name := c.name + "/new/"
			if again {
				name = c.name + "/again/"
			}
			b.Run(name+"ours", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					contest.ours(b, again)
				}
			})
			b.Run(name+"scheduler", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					contest.theirs(b, again)
				}
			})
		}
	}
}

// BenchmarkAllocateRatio takes turns, so that whatever else the machine does slows both, and reports
// how many times faster ours is.
func BenchmarkAllocateRatio(b *testing.B) {
	for _, c := range contests {
		for _, again := range []bool{false, true} {
			name := c.name + "/new"
			if again {
				name = c.name + "/again"
			}
			b.Run(name, func(b *testing.B) {
				contest := newContest(b, gpuQuestion(c.nodes, c.constrained))
				contest.ours(b, false) // to compile the expressions
				contest.theirs(b, false)
				var ours, theirs time.Duration
				for b.Loop() {
					start := time.Now()
					contest.ours(b, again)
					middle := time.Now()
					contest.theirs(b, again)
					ours += middle.Sub(start)
					theirs += time.Since(middle)
				}
				b.ReportMetric(float64(theirs)/float64(ours), "times-faster")
				b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*c.nodes), "ours-ns/node")
				b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N*c.nodes), "scheduler-ns/node")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// TestContestsAgree: what is benchmarked is the same answer, and the constrained one backtracks.
func TestContestsAgree(t *testing.T) {
	for _, c := range contests {
		q := gpuQuestion(min(c.nodes, 3), c.constrained)
		got := compare(q, nil)
		if got.differs != "" {
			t.Errorf("%s: %s", c.name, got.differs)
		}
		for _, a := range got.ours {
			if a.outcome != gotDevices || c.constrained != (a.steps > leastSteps(q, &a)) {
				t.Errorf("%s: %s after %d steps", c.name, a.outcome, a.steps)
			}
		}
	}
}
