package triage_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
)

// TestNodesThatCannotBeCompared: a pod for which kube-scheduler fails to choose among the nodes that fit is
// not said to be all right.
func TestNodesThatCannotBeCompared(t *testing.T) {
	o := explaintest.NodesWithDevices(2, 2)
	waiting(&o, "a", 1, 0, func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"-1"}}}},
		}}}}
	})
	got, err := triage.Of(t.Context(), explaintest.NewCluster(o), triage.Options{})
	if err != nil || len(got.Ready) > 0 || got.Undecided() != 1 {
		t.Errorf("ready %v, undecided %d, %v", got.Ready, got.Undecided(), err)
	}
}
