package demo

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// reported is what every kubelet says that its node has.
var reported = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}

// room is what the pods of the cluster leave on each node.
func room(t *testing.T, snapshot *inspect.Snapshot) map[string]corev1.ResourceList {
	t.Helper()
	left := map[string]corev1.ResourceList{}
	for _, node := range snapshot.Nodes() {
		left[node.Name] = node.Status.Allocatable.DeepCopy()
		for _, name := range reported {
			if q := node.Status.Allocatable[name]; q.Sign() <= 0 {
				t.Errorf("node %s does not say how much %s it has, so nothing is known of pods there", node.Name, name)
			}
		}
	}
	for _, pod := range snapshot.Objects().Pods {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if on := left[pod.Spec.NodeName]; on != nil && !ended {
			for name, quantity := range needs(pod) {
				q := on[name]
				q.Sub(quantity)
				on[name] = q
			}
		}
	}
	return left
}

// needs is what a pod takes of a node, but what the scheduler gets it from DRA.
func needs(pod *corev1.Pod) corev1.ResourceList {
	out := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	out[corev1.ResourcePods] = resource.MustParse("1")
	if served := pod.Status.ExtendedResourceClaimStatus; served != nil {
		for _, mapping := range served.RequestMappings {
			delete(out, corev1.ResourceName(mapping.ResourceName))
		}
	}
	return out
}

// short is a resource of which a node has too little left for a pod, or "".
func short(left corev1.ResourceList, pod *corev1.Pod) corev1.ResourceName {
	for name, quantity := range needs(pod) {
		if q := left[name]; q.Cmp(quantity) < 0 {
			return name
		}
	}
	return ""
}

// Devices decide where the pods of the cluster can run, and nothing else: nodes have room for the pods that
// run there, and the pod of a claim that can be allocated on a node fits there. The exception is the one that
// README.md names.
func TestPodsHaveRoom(t *testing.T) {
	snapshot := snapshotOf(t)
	left := room(t, snapshot)
	for node, resources := range left {
		for name, quantity := range resources {
			if quantity.Sign() < 0 {
				t.Errorf("the pods on node %s take more %s than it has", node, name)
			}
		}
	}
	for ref, row := range readTable(t) {
		if row.verdict != "Allocatable" {
			continue
		}
		for _, podRef := range snapshot.PodsOf(inspect.RefOf(claimOf(t, snapshot, ref))) {
			pod, _ := snapshot.Pod(podRef)
			var lacking []corev1.ResourceName
			for _, node := range row.nodes {
				if name := short(left[node], pod); name != "" {
					lacking = append(lacking, name)
				}
			}
			var want []corev1.ResourceName
			if ref == "ml/allreduce-0" {
				want = slices.Repeat([]corev1.ResourceName{corev1.ResourceCPU}, len(row.nodes))
			}
			if !slices.Equal(lacking, want) {
				t.Errorf("nodes %v of %s lack %v, want %v", row.nodes, ref, lacking, want)
			}
		}
	}
}
