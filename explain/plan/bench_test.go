package plan

import (
	"fmt"
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

// BenchmarkDrain drains 50 of 5,000 nodes on which 20,000 pods run.
func BenchmarkDrain(b *testing.B) {
	o := explaintest.Farm(5000)
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""))
	var nodes []inspect.NodeName
	for i, node := range o.Nodes {
		for d := range 4 {
			explaintest.AddRunning(o, fmt.Sprintf("p-%04d-%d", i, d), node.Name, "Job", d)
		}
		if i%100 == 0 {
			nodes = append(nodes, inspect.NodeName(node.Name))
		}
	}
	c := explaintest.NewCluster(*o)
	b.ResetTimer()
	for b.Loop() {
		d, err := Play(b.Context(), c, Drain(c.Snapshot(), nodes...))
		if err != nil {
			b.Fatal(err)
		}
		if len(d.Gone) != 200 || d.Harm() > 0 {
			b.Fatalf("%d pods end, harm %d", len(d.Gone), d.Harm())
		}
	}
}

// BenchmarkWeakest looks for the node, the pool and the device of 25,000 nodes with 200,000 devices and
// 100,000 pods whose loss is the worst.
func BenchmarkWeakest(b *testing.B) {
	o := explaintest.Farm(25_000)
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""))
	for i, node := range o.Nodes {
		for d := range 4 {
			explaintest.AddRunning(o, fmt.Sprintf("p-%05d-%d", i, d), node.Name, "Job", d)
		}
	}
	c := explaintest.NewCluster(*o)
	s := c.Snapshot()
	devices, pools := DeviceWeights(s)
	for kind, parts := range map[string]func() ([]Part, func([]Part) *Event){
		"node": func() (parts []Part, lose func([]Part) *Event) {
			for name, weight := range NodeWeights(s) {
				parts = append(parts, Part{Name: string(name), Weight: weight})
			}
			return parts, func(p []Part) *Event { return LoseNodes(s, inspect.NodeName(p[0].Name)) }
		},
		"pool": func() (parts []Part, lose func([]Part) *Event) {
			ids := map[string]inspect.PoolID{}
			for id, weight := range pools {
				ids[id.String()] = id
				parts = append(parts, Part{Name: id.String(), Weight: weight})
			}
			return parts, func(p []Part) *Event {
				return LoseDevices(s, "it", func(id inspect.DeviceID) bool { return id.PoolID() == ids[p[0].Name] })
			}
		},
		"device": func() (parts []Part, lose func([]Part) *Event) {
			ids := map[string]inspect.DeviceID{}
			for id, weight := range devices {
				ids[id.String()] = id
				parts = append(parts, Part{Name: id.String(), Weight: weight})
			}
			return parts, func(p []Part) *Event {
				return LoseDevices(s, "it", func(id inspect.DeviceID) bool { return id == ids[p[0].Name] })
			}
		},
	} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				list, lose := parts()
				w, err := FindWeakest(b.Context(), c, list, 1, lose)
				if err != nil || w.Tried != minLosses || !w.Limited || w.Proven {
					b.Fatalf("%+v, %v", w, err)
				}
			}
		})
	}
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
