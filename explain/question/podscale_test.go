//go:build unix

package question_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// BenchmarkExplainPod explains pods that fit on no node of a cluster with 5,000 nodes and 20,000 pods, and in
// the same run a claim: the one that the pod uses, or, if it uses none, that of the question "occupancy".
// "new" begins with the objects, "kept" asks a cluster that was asked about a similar pod and a similar
// claim.
func BenchmarkExplainPod(b *testing.B) {
	for _, name := range []string{"selector", "occupancy", "constraint", "cpu", "spread", "anti-affinity", "volume"} {
		for _, row := range []string{"new", "kept"} {
			b.Run(fmt.Sprintf("%s/5000/%s", name, row), func(b *testing.B) { benchmarkExplainPod(b, name, row == "kept") })
		}
	}
}

func benchmarkExplainPod(b *testing.B, name string, kept bool) {
	b.Helper()
	o := busyCluster(5000)
	pods := func(similar bool) func(*scheduler.Cluster) {
		pod := busyPods(similar)[name]
		return func(c *scheduler.Cluster) {
			refused(b)(question.PodObject(context.Background(), c, pod, question.Options{}))
		}
	}
	claims := func(similar bool) func(*scheduler.Cluster) {
		ref := busyClaim(name, similar)
		if explaintest.BigQuestions()[name] == nil {
			ref = busyClaim("occupancy", similar)
		}
		return func(c *scheduler.Cluster) {
			refused(b)(question.Claim(context.Background(), c, ref, question.Options{}))
		}
	}
	var pod, claim work
	for b.Loop() {
		take := func(ask func(similar bool) func(*scheduler.Cluster)) func() {
			if !kept {
				return func() { ask(false)(explaintest.FreshCluster(o)) }
			}
			c := explaintest.FreshCluster(o)
			ask(true)(c)
			return func() { ask(false)(c) }
		}
		pod.add(b, take(pods))
		claim.add(b, take(claims))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(pod.cpu)/float64(claim.cpu), "times-claim")
	b.ReportMetric(float64(pod.bytes)/float64(claim.bytes), "bytes-ratio")
}

// work is what questions took in all: time of all processors, and bytes.
type work struct {
	cpu   time.Duration
	bytes uint64
}

func (w *work) add(tb testing.TB, f func()) {
	tb.Helper()
	var cpu time.Duration
	_, bytes := measure(func() {
		before := cpuTime(tb)
		f()
		cpu = cpuTime(tb) - before
	})
	w.cpu, w.bytes = w.cpu+cpu, w.bytes+bytes
}

// cpuTime is the time of all processors that the process has used.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// refused expects an answer that is no, with a conflict. All but that about a volume also have fixes.
func refused(tb testing.TB) func(*explain.Explanation, error) {
	tb.Helper()
	return func(e *explain.Explanation, err error) {
		tb.Helper()
		if err != nil || e.Verdict != explain.Unsatisfiable || e.Conflict == nil {
			tb.Fatalf("%v: %+v", err, e)
		}
	}
}
