package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// large is a cluster of nodes with eight GPUs each, and of four claims a node, of which one is pending.
func large(nodes int) *inspect.Snapshot {
	var o inspect.Objects
	created := metav1.NewTime(demo.Now().Add(-time.Hour))
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: created}})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1}, NodeName: &name,
		}}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d", d),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
					"numa": {IntValue: ptr.To(int64(d / 4))}, "model": {StringValue: ptr.To("A100")},
				},
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
			})
		}
		o.Slices = append(o.Slices, slice)
		for c := range 4 {
			o.Claims = append(o.Claims, largeClaim(name, n, c, created))
		}
	}
	return inspect.New(o, inspect.Config{Revision: 1, Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health()})
}

func largeClaim(node string, n, c int, created metav1.Time) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprintf("team-%02d", n%20), Name: fmt.Sprintf("job-%05d-%d", n, c), CreationTimestamp: created,
	}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(1 + n%12),
	}}}
	if c == 3 {
		return claim
	}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "gpu", Driver: "gpu.example.com", Pool: node, Device: fmt.Sprintf("gpu-%d", 2*c)},
		{Request: "gpu", Driver: "gpu.example.com", Pool: node, Device: fmt.Sprintf("gpu-%d", 2*c+1)},
	}}}
	return claim
}

var largeOnce = sync.OnceValue(func() *inspect.Snapshot { return large(5000) })

// driveLarge shows a view of the large cluster, with all work in the background done.
func driveLarge(tb testing.TB, s *inspect.Snapshot, view string) *model {
	tb.Helper()
	m := newModel(context.Background(), Options{Source: Static(s), View: view, Clock: demo.Now, Profile: colorprofile.TrueColor})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	m.base = s
	settle(m, m.rebuildWorld())
	return m
}

// BenchmarkFrame is a key and the frame that follows it, on 5,000 nodes with 40,000 devices and 20,000
// claims, and with 1,000 pods that wait for the causes of that. p99 is that of single keys.
func BenchmarkFrame(b *testing.B) {
	for _, view := range []string{"claims", "devices", "nodes", "causes"} {
		b.Run(view, func(b *testing.B) {
			s := largeOnce()
			if view == "causes" {
				s = largeWithPods(5000, 1000)
			}
			m := driveLarge(b, s, view)
			m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
			times := make([]time.Duration, 0, b.N)
			keys := []tea.Key{{Code: 'j', Text: "j"}, {Code: tea.KeyPgDown}, {Code: 'k', Text: "k"}, {Code: tea.KeyEnd}, {Code: tea.KeyHome}}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				start := time.Now()
				m.Update(tea.KeyPressMsg(keys[i%len(keys)]))
				_ = m.View()
				times = append(times, time.Since(start))
			}
			b.StopTimer()
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs/p99")
		})
	}
}

// BenchmarkSnapshot is the arrival of a snapshot: what Update does of it, before the background.
func BenchmarkSnapshot(b *testing.B) {
	m := driveLarge(b, largeOnce(), "claims")
	b.ReportAllocs()
	for b.Loop() {
		m.Update(arrived{m.base})
	}
}

// BenchmarkBackground is what the background does of a snapshot until everything shows.
func BenchmarkBackground(b *testing.B) {
	for _, view := range []string{"claims", "devices", "nodes"} {
		b.Run(view, func(b *testing.B) {
			m := driveLarge(b, largeOnce(), view)
			b.ReportAllocs()
			for b.Loop() {
				settle(m, m.rebuildWorld())
			}
		})
	}
}

// TestFramesDoNotGrowWithTheCluster: a key and its frame allocate as much on 20 times as many nodes.
func TestFramesDoNotGrowWithTheCluster(t *testing.T) {
	small, big := large(100), large(2000)
	for _, view := range []string{"claims", "devices", "nodes"} {
		allocs := func(s *inspect.Snapshot) float64 {
			m := driveLarge(t, s, view)
			return testing.AllocsPerRun(20, func() {
				m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
				_ = m.View()
			})
		}
		if few, many := allocs(small), allocs(big); many > 1.5*few {
			t.Errorf("%s: %v allocations with 100 nodes, %v with 2000", view, few, many)
		}
	}
}

// moved is the snapshot that follows another: so many of the claims have come free or were allocated again,
// and as many slices have a device that became unhealthy or was healed.
func moved(s *inspect.Snapshot, step, changes int) *inspect.Snapshot {
	o := *s.Objects()
	o.Claims, o.Slices = slices.Clone(o.Claims), slices.Clone(o.Slices)
	for n := range changes {
		at := (step*changes + n) * 7919
		claim := o.Claims[at%len(o.Claims)].DeepCopy()
		if claim.Status.Allocation == nil {
			claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
				{Request: "gpu", Driver: "gpu.example.com", Pool: o.Slices[at%len(o.Slices)].Name, Device: "gpu-7"}}}}
		} else {
			claim.Status.Allocation = nil
		}
		o.Claims[at%len(o.Claims)] = claim
		slice := o.Slices[at%len(o.Slices)].DeepCopy()
		slice.Spec.Devices[0].Taints = append(slice.Spec.Devices[0].Taints, resourcev1.DeviceTaint{Key: "unhealthy", Effect: resourcev1.DeviceTaintEffectNoSchedule})
		o.Slices[at%len(o.Slices)] = slice
	}
	return s.Next(o, inspect.Config{Revision: s.Revision() + 1, Time: s.Time().Add(time.Second), Features: s.Features(), Health: demo.Health()})
}

// BenchmarkNextWorld is what a snapshot costs in which one of a hundred claims and of a hundred slices has
// changed, from its arrival until everything shows.
func BenchmarkNextWorld(b *testing.B) {
	for _, view := range []string{"claims", "devices", "nodes"} {
		b.Run(view, func(b *testing.B) {
			m := driveLarge(b, largeOnce(), view)
			moments := []*inspect.Snapshot{m.base}
			for i := range b.N {
				moments = append(moments, moved(moments[i], i, 200))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for _, s := range moments[1:] {
				m.base = s
				settle(m, m.rebuildWorld())
			}
		})
	}
}

// largeWithPods is the large cluster with a pod for each claim, all of ReplicaSets: three run on each node,
// and so many wait.
func largeWithPods(nodes, waiting int) *inspect.Snapshot {
	return large(nodes).With(func(o *inspect.Objects) {
		left := waiting
		o.Claims = slices.DeleteFunc(slices.Clone(o.Claims), func(c *resourcev1.ResourceClaim) bool {
			if c.Status.Allocation != nil {
				return false
			}
			left--
			return left < 0
		})
		for i, c := range o.Claims {
			name := c.Name
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: c.Namespace, Name: name, UID: types.UID("pod-" + name), CreationTimestamp: c.CreationTimestamp,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "job", Controller: ptr.To(true)}},
			}}
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
			pod.Status.Phase = corev1.PodPending
			if a := c.Status.Allocation; a != nil {
				c = c.DeepCopy()
				pod.Spec.NodeName, pod.Status.Phase = a.Devices.Results[0].Pool, corev1.PodRunning
				c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: pod.UID}}
				o.Claims[i] = c
			}
			o.Pods = append(o.Pods, pod)
		}
	})
}

// BenchmarkPlan is what the background does for the page about a node of 5,000 that is drained, while so many
// pods wait.
func BenchmarkPlan(b *testing.B) {
	for _, waiting := range []int{0, 10, 100} {
		b.Run(fmt.Sprintf("%d waiting", waiting), func(b *testing.B) {
			m := driveLarge(b, largeWithPods(5000, waiting), "nodes")
			for b.Loop() {
				_, cmd := m.Update(screen.Open{Page: screen.Drain, Ref: screen.Ref{Kind: screen.Node, Name: "node-00007"}})
				settle(m, cmd)
				if frame := (frame{m}).draw(); !strings.Contains(frame, "draining node node-00007 ends 3 pods") {
					b.Fatal(frame)
				}
				settle(m, m.back())
			}
		})
	}
}
