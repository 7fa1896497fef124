package allocator

import (
	"slices"
	"testing"
	"time"

	"k8s.io/dynamic-resource-allocation/structured"
)

// Small problems: what one of them takes in comparison with the scheduler's allocator, where neither a large
// cluster nor a long search is in its favour or ours.
//
// Both sides have their expressions compiled, as a scheduler that runs has. For "cold" and "new" each makes
// what it makes of a cluster for a question: the scheduler its state of what is allocated and its allocator,
// which it makes for every pod, we a Cluster; for "cold" also the Snapshot below it, from the objects. For
// "again" a question is put to what is there already. All nodes of the problem are asked.

// smallProblems is how many problems of each outcome are compared, smallRepeats how often each is answered by
// both sides in turn; the quickest answer of each side counts.
const (
	smallProblems = 300
	smallRepeats  = 7
)

// smallContests are random problems with the same outcome on all their nodes.
func smallContests(tb testing.TB, want outcome) []*contest {
	tb.Helper()
	var out []*contest
	for seed := uint64(1); len(out) < smallProblems; seed++ {
		q := generate(seeded(seed))
		got := compare(q, nil)
		if got.left > 0 || got.panics > 0 || len(got.ours) == 0 || got.differs != "" ||
			slices.ContainsFunc(got.ours, func(a answer) bool { return a.outcome != want }) {
			continue
		}
		out = append(out, newContest(tb, q))
	}
	return out
}

// start is what there is before the time is taken.
type start string

const (
	cold  start = "cold"
	fresh start = "new"
	again start = "again"
)

// clusterAt makes what is missing of our Cluster.
func (c *contest) clusterAt(from start) *Cluster {
	switch from {
	case cold:
		return NewCluster(snapshotOf(c.q), Options{Library: c.library})
	case fresh:
		return NewCluster(c.snapshot, Options{Library: c.library})
	}
	return c.cluster
}

// askBoth puts the question about every node to both sides and returns how long each took.
func (c *contest) askBoth(tb testing.TB, from start) (ours, theirs time.Duration) {
	tb.Helper()
	begin := time.Now()
	cluster := c.clusterAt(from)
	for _, node := range c.q.objects.Nodes {
		if _, err := cluster.Allocate(c.ctx, node, c.q.pending, nil); err != nil {
			tb.Fatal(err)
		}
	}
	middle := time.Now()
	var scheduler structured.Allocator
	if scheduler = c.scheduler; from != again {
		scheduler = c.newScheduler(tb)
	}
	for _, node := range c.q.objects.Nodes {
		if _, err := scheduler.Allocate(c.ctx, node, c.q.pending); err != nil {
			tb.Fatal(err)
		}
	}
	return middle.Sub(begin), time.Since(middle)
}

// BenchmarkSmall reports how much longer we take than the scheduler's allocator, over many small random
// problems.
func BenchmarkSmall(b *testing.B) {
	names := map[outcome]string{gotDevices: "satisfiable", gotNothing: "unsatisfiable"}
	for _, want := range []outcome{gotDevices, gotNothing} {
		contests := smallContests(b, want)
		for _, from := range []start{cold, fresh, again} {
			b.Run(names[want]+"/"+string(from), func(b *testing.B) {
				var ratios []float64
				for b.Loop() {
					ratios = smallRatios(b, contests, from)
				}
				slices.Sort(ratios)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(ratios[len(ratios)/2], "median-times-slower")
				b.ReportMetric(ratios[len(ratios)*9/10], "p90-times-slower")
				b.ReportMetric(ratios[len(ratios)-1], "max-times-slower")
			})
		}
	}
}

func smallRatios(b *testing.B, contests []*contest, from start) []float64 {
	b.Helper()
	var ratios []float64
	for _, c := range contests {
		var ours, theirs time.Duration
		for i := range smallRepeats {
			o, t := c.askBoth(b, from)
			if i == 0 {
				ours, theirs = o, t
			}
			ours, theirs = min(ours, o), min(theirs, t)
		}
		ratios = append(ratios, float64(ours)/float64(theirs))
	}
	return ratios
}
