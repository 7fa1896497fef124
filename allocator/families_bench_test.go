package allocator

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// largest are the families at about the largest sizes that the scheduler's allocator finishes in seconds.
var largest = []family{
	sized("n=21", familyA(21)), sized("n=9", familyB(9)), sized("v=9 g=4", familyC(9, 4)), sized("v=2 g=20", familyD(2, 20)),
	sized("n=22 a=11", familyE(22, 11, false)), sized("n=22 a=11", familyE(22, 11, true)), sized("n=12 m=4 c=3", familyF(12, 4, 3)),
	sized("m=6 s=3", familyG(6, 3)), sized("q=2 m=18", familyH(2, 18)),
}

// wanted are the families at the sizes that must be decided at once: 64 devices, or 32 requests.
var wanted = []family{
	sized("n=64", familyF(64, 1, 32)), sized("n=31 m=32", familyB(31)), sized("v=31 g=2", familyC(31, 2)), sized("v=4 g=16", familyD(4, 16)),
	sized("n=64 a=31", familyE(64, 31, false)), sized("n=64 a=31", familyE(64, 31, true)), sized("n=64 m=10 c=3", familyF(64, 10, 3)),
	sized("m=31 s=8", familyG(31, 8)), sized("q=64 m=31", familyH(64, 31)),
}

func sized(size string, f family) family {
	f.name += " " + size
	return f
}

// BenchmarkFamilies proves that there is no solution, beside the scheduler's allocator in the same run.
func BenchmarkFamilies(b *testing.B) {
	for _, f := range largest {
		b.Run(f.name, func(b *testing.B) {
			q := &question{objects: f.objects(), pending: f.claims}
			q.setGates(nil)
			scheduler, err := newScheduler(context.Background(), q)
			if err != nil {
				b.Fatal(err)
			}
			var ours, theirs time.Duration
			for b.Loop() {
				ours += f.decide(b)
				start := time.Now()
				result, err := scheduler.Allocate(context.Background(), q.objects.Nodes[0], q.pending)
				theirs += time.Since(start)
				if result != nil || err != nil {
					b.Fatal(result, err)
				}
			}
			b.ReportMetric(float64(theirs)/float64(ours), "times-faster")
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "ours-us")
			b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "scheduler-us")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkFamiliesWanted proves it at sizes that are out of reach for the scheduler's allocator.
func BenchmarkFamiliesWanted(b *testing.B) {
	for _, f := range wanted {
		b.Run(f.name, func(b *testing.B) {
			var ours time.Duration
			for b.Loop() {
				ours += f.decide(b)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "ours-us")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// decide asks a fresh cluster, so that nothing is remembered from a question before.
func (f family) decide(b *testing.B) time.Duration {
	c, node := f.cluster(Options{})
	start := time.Now()
	r, err := c.Allocate(context.Background(), node, f.claims, nil)
	elapsed := time.Since(start)
	if err != nil || r.Outcome != Unsatisfiable {
		b.Fatal(fmt.Sprint(r, err))
	}
	return elapsed
}
