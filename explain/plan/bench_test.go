package plan

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

func BenchmarkReplay(b *testing.B) {
	o := explaintest.Farm(500)
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""), explaintest.Template("two", 2, `device.attributes["gpu.example.com"].model == "a100"`))
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
	pods := append(explaintest.Workers(500, "one", "one"), explaintest.Workers(500, "two", "two")...)
	b.ResetTimer()
	for b.Loop() {
		p, err := Place(b.Context(), c, pods, Options{NoJoint: true})
		if err != nil {
			b.Fatal(err)
		}
		if len(p.Replay.Placed) != len(pods) {
			b.Fatalf("%d placed, %v", len(p.Replay.Placed), p.Replay.Pending)
		}
	}
	b.ReportMetric(float64(len(pods))*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
}

// BenchmarkGang looks for a placement of a gang of 64 on 500 nodes, of which the scheduler's own choice
// places fewer.
func BenchmarkGang(b *testing.B) {
	o := explaintest.Farm(500)
	const v100 = `device.attributes["gpu.example.com"].model == "v100"`
	o.Templates = append(o.Templates, explaintest.Template("any", 1, ""), explaintest.Template("old", 8, v100))
	o.Nodes, o.Slices = o.Nodes[:500], o.Slices[:500]
	for i, slice := range o.Slices {
		if i >= 126 { // 42 nodes have old devices
			slice.Spec.Devices = slice.Spec.Devices[:0:0]
		}
	}
	pods := append(explaintest.Workers(22, "any", "any"), explaintest.Workers(42, "old", "old")...)
	c := explaintest.NewCluster(*o)
	b.ResetTimer()
	for b.Loop() {
		p, err := Place(b.Context(), c, pods, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if p.Joint.Verdict != explain.Feasible {
			b.Fatalf("%s: %s", p.Joint.Verdict, p.Joint.Message)
		}
	}
}
