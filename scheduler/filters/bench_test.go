package filters

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
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

func BenchmarkWith(b *testing.B) {
	x := NewIndex(live(largeCluster()), nil)
	more := []*podInfo{newPodInfo(testPod("p", "", "cpu", "1"), newCounter(requestRules{}))}
	for b.Loop() {
		x.with(x.nodes[7], more)
	}
}
