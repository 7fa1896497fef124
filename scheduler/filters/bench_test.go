package filters

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// largeCluster has 5,000 nodes with four pods each, and statuses as kubelets report them.
func largeCluster() inspect.Objects {
	var o inspect.Objects
	for i := range 5000 {
		name := fmt.Sprintf("node-%04d", i)
		node := testNode(name, "cpu", "96", "memory", "791553720Ki", "ephemeral-storage", "1843319700Ki", "pods", "110", "hugepages-2Mi", "0", "hugepages-1Gi", "0", "nvidia.com/gpu", "8")
		node.Labels = map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprint("zone-", i%3)}
		o.Nodes = append(o.Nodes, node)
		for j := range 4 {
			pod := testPod(fmt.Sprintf("pod-%04d-%d", i, j), name, "cpu", "4", "memory", "16Gi", "nvidia.com/gpu", "1")
			pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), Resources: corev1.ResourceRequirements{Requests: list("cpu", "100m", "memory", "128Mi")}}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: pod.Spec.Containers[0].Resources.Requests, Resources: &pod.Spec.Containers[0].Resources}}
			o.Pods = append(o.Pods, pod)
		}
	}
	return o
}

func BenchmarkIndex(b *testing.B) {
	s := live(largeCluster())
	for b.Loop() {
		NewIndex(s, nil)
	}
}

func BenchmarkIndexLike(b *testing.B) {
	before := NewIndex(live(largeCluster()), nil)
	s := before.Snapshot().With(func(o *inspect.Objects) { o.Pods = o.Pods[1:] })
	for b.Loop() {
		NewIndex(s, before)
	}
}

// BenchmarkOn asks about every node, each of which refuses.
func BenchmarkOn(b *testing.B) {
	x := NewIndex(live(largeCluster()), nil)
	pod := testPod("p", "", "cpu", "90", "memory", "64Gi", "nvidia.com/gpu", "2")
	pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-1"}
	for b.Loop() {
		p := x.Prepare(pod)
		for _, n := range x.nodes {
			if len(p.On(inspect.NodeName(n.Name)).Refusals) == 0 {
				b.Fatal("passes")
			}
		}
	}
}

// askingPod asks for what most plugins look at.
func askingPod() *corev1.Pod {
	pod := testPod("p", "", "cpu", "90", "memory", "64Gi", "nvidia.com/gpu", "2")
	pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-1"}
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080}}
	return pod
}

// bare prepares the plugins of a pod as if kube-scheduler could not be configured.
func bare(x *Index, pod *corev1.Pod) *Prepared {
	k := newKin(pod)
	p := &Prepared{Index: x, Pod: pod, kin: k, statements: make([]statement, len(plugins))}
	differs := k.differs(pod)
	for i := range plugins {
		a, known := k.recall(i, pod, differs)
		if !known {
			a = statement{pod: pod, differs: differs}
			a.check, a.everywhere = plugins[i].prepare(p)
			k.remember(i, a)
		}
		p.add(i, a)
	}
	return p
}

// usuallyConfigured is the snapshot with a configuration of kube-scheduler that says nothing.
func usuallyConfigured(tb testing.TB, s *inspect.Snapshot) *inspect.Snapshot {
	tb.Helper()
	config, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration"), func(string) bool { return false })
	if err != nil {
		tb.Fatal(err)
	}
	return s.WithScheduler(config)
}

// BenchmarkPrepare says how much longer a pod takes to prepare than its plugins alone, without a
// configuration of kube-scheduler and with one. It takes turns, and the shortest of many turns counts.
func BenchmarkPrepare(b *testing.B) {
	without := live(largeCluster())
	for _, c := range []struct {
		name string
		s    *inspect.Snapshot
	}{{"no configuration", without}, {"the usual configuration", usuallyConfigured(b, without)}} {
		b.Run(c.name, func(b *testing.B) {
			const turns, times = 200, 100
			x, pod := NewIndex(c.s, nil), askingPod()
			least := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for range turns {
					for i, prepare := range []func(*Index, *corev1.Pod) *Prepared{bare, (*Index).Prepare} {
						start := time.Now()
						for range times {
							prepare(x, pod)
						}
						least[i] = min(least[i], time.Since(start))
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(least[1].Nanoseconds())/times, "ns/pod")
			b.ReportMetric(float64(least[1])/float64(least[0]), "times-bare")
		})
	}
}

// TestNoConfigurationCostsNothing: without a configuration of kube-scheduler a pod is prepared with the
// memory of its plugins alone, and not as with the usual one in its place.
func TestNoConfigurationCostsNothing(t *testing.T) {
	objects := inspect.Objects{Nodes: []*corev1.Node{testNode("a", "cpu", "96", "pods", "110")}}
	without := live(objects)
	allocs := func(s *inspect.Snapshot, prepare func(*Index, *corev1.Pod) *Prepared) float64 {
		x, pod := NewIndex(s, nil), askingPod()
		return testing.AllocsPerRun(100, func() { prepare(x, pod) })
	}
	alone, whole, usual := allocs(without, bare), allocs(without, (*Index).Prepare), allocs(usuallyConfigured(t, without), (*Index).Prepare)
	if whole > alone || usual <= alone {
		t.Errorf("%v allocations of the plugins, %v without a configuration, %v with the usual one", alone, whole, usual)
	}
}

func BenchmarkWith(b *testing.B) {
	x := NewIndex(live(largeCluster()), nil)
	more := []*podInfo{newPodInfo(testPod("p", "", "cpu", "1"), newCounter(requestRules{}))}
	for b.Loop() {
		x.with(x.nodes[7], more)
	}
}
