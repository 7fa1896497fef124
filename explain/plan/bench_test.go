package plan

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// farm is a cluster of nodes with eight GPUs each, of which every third has older ones.
func farm(nodes int) *inspect.Objects {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}}
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("512Gi"), corev1.ResourcePods: resource.MustParse("110")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
		model := "a100"
		if i%3 == 0 {
			model = "v100"
		}
		slice := &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
			},
		}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name:       fmt.Sprintf("gpu-%d", d),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To(model)}},
			})
		}
		o.Slices = append(o.Slices, slice)
	}
	return o
}

// template is a claim template for some GPUs.
func template(name string, count int64, selector string) *resourcev1.ResourceClaimTemplate {
	request := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
	if selector != "" {
		request.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}}
	}
	return &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "gpus", Exactly: request}},
		}}},
	}
}

// worker is a pod with a claim from a template.
func worker(name, template string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "example.com/train:1", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")},
				Claims:   []corev1.ResourceClaim{{Name: "gpus"}},
			}}},
			ResourceClaims: []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimTemplateName: ptr.To(template)}},
		},
	}
}

func workers(n int, prefix, template string) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		out = append(out, worker(fmt.Sprintf("%s-%04d", prefix, i), template))
	}
	return out
}

func BenchmarkReplay(b *testing.B) {
	o := farm(500)
	o.Templates = append(o.Templates, template("one", 1, ""), template("two", 2, `device.attributes["gpu.example.com"].model == "a100"`))
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
	pods := append(workers(500, "one", "one"), workers(500, "two", "two")...)
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
	o := farm(5000)
	o.Templates = append(o.Templates, template("one", 1, ""))
	var nodes []inspect.NodeName
	for i, node := range o.Nodes {
		for d := range 4 {
			running(o, fmt.Sprintf("p-%04d-%d", i, d), node.Name, "Job", d)
		}
		if i%100 == 0 {
			nodes = append(nodes, inspect.NodeName(node.Name))
		}
	}
	c := fresh(*o)
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
	o := farm(25_000)
	o.Templates = append(o.Templates, template("one", 1, ""))
	for i, node := range o.Nodes {
		for d := range 4 {
			running(o, fmt.Sprintf("p-%05d-%d", i, d), node.Name, "Job", d)
		}
	}
	c := fresh(*o)
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
	o := farm(500)
	const v100 = `device.attributes["gpu.example.com"].model == "v100"`
	o.Templates = append(o.Templates, template("any", 1, ""), template("old", 8, v100))
	o.Nodes, o.Slices = o.Nodes[:500], o.Slices[:500]
	for i, slice := range o.Slices {
		if i >= 126 { // 42 nodes have old devices
			slice.Spec.Devices = slice.Spec.Devices[:0:0]
		}
	}
	pods := append(workers(22, "any", "any"), workers(42, "old", "old")...)
	c := fresh(*o)
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
