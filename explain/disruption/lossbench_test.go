package disruption

import (
	"fmt"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

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
