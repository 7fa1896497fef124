package shapes

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// BenchmarkShapes asks about a hundred pods of three kinds that wait in a full cluster of 500 nodes, with ten
// kinds of nodes.
func BenchmarkShapes(b *testing.B) {
	const a100 = `device.attributes["gpu.example.com"].model == "a100"`
	o := explaintest.Farm(500)
	for _, node := range o.Nodes {
		node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("0")
	}
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""), explaintest.Template("two", 2, a100), explaintest.Template("four", 4, a100))
	pods := append(append(explaintest.Workers(40, "one", "one"), explaintest.Workers(40, "two", "two")...), explaintest.Workers(20, "four", "four")...)
	var shapes []nodeshape.Shape
	for i := range 10 {
		model := []string{"a100", "v100"}[i%2]
		var devices []string
		for range 1 + i {
			devices = append(devices, model)
		}
		node, slice := smallNode(fmt.Sprint("shape-", i), 64, devices...)
		shape := nodeshape.Shape{Name: node.Name, Source: nodeshape.Manifest, Node: node}
		shape.Company.Slices = []*resourcev1.ResourceSlice{slice}
		shapes = append(shapes, shape)
	}
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
	for b.Loop() {
		p, err := Find(b.Context(), c, pods, shapes, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if p.Shapes[0].Verdict != explain.ShapeFits {
			b.Fatalf("%+v", p.Shapes)
		}
		b.Logf("%+v", p.Shapes)
	}
}
