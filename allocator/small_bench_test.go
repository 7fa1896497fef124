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
// Both sides have their expressions compiled, as a scheduler that runs has. For "new" each makes what it makes
// of a cluster for a question: the scheduler its allocator, which it makes for every pod, we a Cluster. For
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

// askBoth puts the question about every node to both sides and returns how long each took.
func (c *contest) askBoth(tb testing.TB, again bool) (ours, theirs time.Duration) {
	tb.Helper()
	start := time.Now()
	cluster := c.cluster
	if !again {
		cluster = NewCluster(c.snapshot, Options{Library: c.library})
	}
	for _, node := range c.q.objects.Nodes {
		if _, err := cluster.Allocate(c.ctx, node, c.q.pending, nil); err != nil {
			tb.Fatal(err)
		}
	}
	middle := time.Now()
	var scheduler structured.Allocator
	if scheduler = c.scheduler; !again {
		scheduler = c.newScheduler(tb)
	}
	for _, node := range c.q.objects.Nodes {
		if _, err := scheduler.Allocate(c.ctx, node, c.q.pending); err != nil {
			tb.Fatal(err)
		}
	}
	return middle.Sub(start), time.Since(middle)
}

// BenchmarkSmall reports how much longer we take than the scheduler's allocator, over many small random problems.
func BenchmarkSmall(b *testing.B) {
	names := map[outcome]string{gotDevices: "satisfiable", gotNothing: "unsatisfiable"}
	for _, want := range []outcome{gotDevices, gotNothing} {
		contests := smallContests(b, want)
		for _, again := range []bool{false, true} {
			row := names[want] + "/new"
			if again {
				row = names[want] + "/again"
			}
			b.Run(row, func(b *testing.B) {
				var ratios []float64
				for b.Loop() {
					ratios = smallRatios(b, contests, again)
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

func smallRatios(b *testing.B, contests []*contest, again bool) []float64 {
	b.Helper()
	var ratios []float64
	for _, c := range contests {
		var ours, theirs time.Duration
		for i := range smallRepeats {
			o, t := c.askBoth(b, again)
			if i == 0 {
				ours, theirs = o, t
			}
			ours, theirs = min(ours, o), min(theirs, t)
		}
		ratios = append(ratios, float64(ours)/float64(theirs))
	}
	return ratios
}
