package triage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/shapes"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// crowdedObjects are nodes with eight GPUs of one of three models, and five times as many pods that wait, of
// 200 shapes, with more than there are devices for.
func crowdedObjects(nodes int) inspect.Objects {
	const driver = "gpu.example.com"
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}
	class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{class}}
	models := []string{"H100", "A100", "L40", "B200"}
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, "zone": fmt.Sprint("z", i%3)}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("96"), corev1.ResourceMemory: resource.MustParse("768Gi"), corev1.ResourcePods: resource.MustParse("110")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
		}}
		for d := range int64(8) {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", d), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: &models[i%3]}, "numa": {IntValue: ptr.To(d / 4)}, "index": {IntValue: ptr.To(d)},
			}})
		}
		o.Slices = append(o.Slices, slice)
	}
	start := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	for i := range 5 * nodes {
		shape := i % 200
		rng := rand.New(rand.NewPCG(uint64(shape), 4))
		request := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: []int64{1, 2, 4, 5, 8, 9}[rng.IntN(6)]}
		request.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(
			`device.attributes["gpu.example.com"].model == %q && device.attributes["gpu.example.com"].index >= %d`, models[rng.IntN(4)], shape%3)}}}
		devices := resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "g", Exactly: request}}}
		if rng.IntN(2) == 0 {
			devices.Constraints = []resourcev1.DeviceConstraint{{Requests: []string{"g"}, MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("gpu.example.com/numa"))}}
		}
		meta := metav1.ObjectMeta{Namespace: fmt.Sprint("t", shape%20), Name: fmt.Sprintf("w-%05d", i), UID: types.UID(fmt.Sprint("p", i)), CreationTimestamp: metav1.NewTime(start.Add(time.Duration(i) * time.Second))}
		pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			ResourceClaims: []corev1.PodResourceClaim{{Name: "g", ResourceClaimName: ptr.To(meta.Name)}},
			Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(1+shape%8), resource.DecimalSI)}, Claims: []corev1.ResourceClaim{{Name: "g"}},
			}}},
		}}
		meta.UID = types.UID(fmt.Sprint("c", i))
		o.Pods, o.Claims = append(o.Pods, pod), append(o.Claims, &resourcev1.ResourceClaim{ObjectMeta: meta, Spec: resourcev1.ResourceClaimSpec{Devices: devices}})
	}
	return o
}

// BenchmarkPlans asks about all pods that wait in clusters of 250 nodes, and of twice and four times as many,
// with five times as many pods. times-first is the time divided by that in the smallest cluster.
func BenchmarkPlans(b *testing.B) {
	all := func(s *inspect.Snapshot) []*corev1.Pod {
		pods, _ := plan.Waiting(s, func(*corev1.Pod) bool { return true })
		return pods
	}
	for _, question := range []struct {
		name string
		ask  func(context.Context, *scheduler.Cluster) error
	}{
		{"pending", func(ctx context.Context, c *scheduler.Cluster) error {
			_, err := plan.Place(ctx, c, all(c.Snapshot()), plan.Options{})
			return err
		}},
		{"nodes pending", func(ctx context.Context, c *scheduler.Cluster) error {
			kinds, err := shapes.OfCluster(c.Snapshot(), all(c.Snapshot()))
			if err != nil {
				return err
			}
			_, err = shapes.Find(ctx, c, all(c.Snapshot()), kinds, shapes.Options{})
			return err
		}},
		{"drain", func(ctx context.Context, c *scheduler.Cluster) error {
			_, err := disruption.Play(ctx, c, disruption.Drain(c.Snapshot(), "node-00010"))
			return err
		}},
		{"lose node --any 1", func(ctx context.Context, c *scheduler.Cluster) error {
			var parts []disruption.Part
			for _, node := range c.Snapshot().Nodes() {
				parts = append(parts, disruption.Part{Name: node.Name})
			}
			w, err := disruption.FindWeakest(ctx, c, parts, 1, func(p []disruption.Part) *disruption.Event {
				return disruption.LoseNodes(c.Snapshot(), inspect.NodeName(p[0].Name))
			})
			if err == nil && (w.Tried != 3 || !w.Proven) {
				return fmt.Errorf("%d losses were played", w.Tried)
			}
			return err
		}},
		{"explain", func(ctx context.Context, c *scheduler.Cluster) error {
			_, err := triage.Of(ctx, c, triage.Options{})
			return err
		}},
	} {
		var first time.Duration
		for _, nodes := range []int{250, 500, 1000} {
			b.Run(fmt.Sprintf("%s/nodes=%d", question.name, nodes), func(b *testing.B) {
				o := crowdedObjects(nodes)
				var took time.Duration
				for b.Loop() {
					c := explaintest.FreshCluster(o)
					start := time.Now()
					if err := question.ask(b.Context(), c); err != nil {
						b.Fatal(err)
					}
					took += time.Since(start)
				}
				took /= time.Duration(b.N)
				if first == 0 {
					first = took
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(took.Seconds()*1000, "ms")
				b.ReportMetric(took.Seconds()/first.Seconds(), "times-first")
			})
		}
	}
}
