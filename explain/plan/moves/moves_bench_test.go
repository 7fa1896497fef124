package moves

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// busyFarm is a farm on each node of which so many pods have a device each.
func busyFarm(nodes, each int) *inspect.Objects {
	o := explaintest.Farm(nodes)
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""))
	for i := range nodes {
		node := fmt.Sprintf("node-%04d", i)
		for d := range each {
			pod := explaintest.Worker(fmt.Sprintf("%s-%d", node, d), "one")
			pod.Spec.NodeName = node
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: types.UID("web"), Controller: ptr.To(true)}}
			pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpus", ResourceClaimName: ptr.To(pod.Name + "-gpus")}}
			o.Pods = append(o.Pods, pod)
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: pod.Name + "-gpus"}, Spec: o.Templates[0].Spec.Spec}
			claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
			claim.Status.Allocation = &resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
					{Request: "gpus", Driver: "gpu.example.com", Pool: node, Device: fmt.Sprintf("gpu-%d", d)},
				}},
				NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
					{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
				}}}},
			}
			o.Claims = append(o.Claims, claim)
		}
	}
	return o
}

// BenchmarkMakeRoom makes room on 500 nodes with eight devices each, of which some are free on each.
func BenchmarkMakeRoom(b *testing.B) {
	for _, bb := range []struct {
		name         string
		each         int
		wanted, want int64
	}{{"one", 6, 3, 1}, {"two", 5, 5, 2}, {"four", 4, 8, 4}, {"six", 6, 8, 6}, {"full", 8, 1, 0}} {
		b.Run(bb.name, func(b *testing.B) {
			o := busyFarm(500, bb.each)
			o.Templates = append(o.Templates, explaintest.Template("many", bb.wanted, ""))
			target := explaintest.Worker("target", "many")
			c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
			b.ResetTimer()
			for b.Loop() {
				m, err := MakeRoom(b.Context(), c, target)
				if err != nil {
					b.Fatal(err)
				}
				if int64(len(m.Moves)) != bb.want || bb.want > 0 && (!m.Proven || m.Verdict != explain.Feasible) || bb.want == 0 && m.Verdict != explain.Infeasible {
					b.Fatalf("%s: %d moves, proven %t, at least %d: %s", m.Verdict, len(m.Moves), m.Proven, m.AtLeast, m.Message)
				}
			}
		})
	}
}
