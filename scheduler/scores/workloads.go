package scores

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// mayBeSpread reports whether nodes could differ by how constraints spread the pod, whatever selects the pods
// that count. It selects pods of the namespace that have a label of the pod, if only services can; where
// there is none, nodes differ only if one has the label of a constraint and another one has not.
func (s *Scorer) mayBeSpread(constraints []corev1.TopologySpreadConstraint) bool {
	controlled := inspect.SelectsPods(metav1.GetControllerOfNoCopy(s.pod))
	labelled := make([]int, len(constraints))
	for _, n := range s.nodes {
		for pod := range n.Pods() {
			if pod.Namespace == s.pod.Namespace && pod.DeletionTimestamp == nil && (controlled || share(pod.Labels, s.pod.Labels)) {
				return true
			}
		}
		for i := range constraints {
			if _, ok := n.Object().Labels[constraints[i].TopologyKey]; ok {
				labelled[i]++
			}
		}
	}
	return slices.ContainsFunc(labelled, func(n int) bool { return n != 0 && n != len(s.nodes) })
}

// share reports whether two sets of labels have one in common.
func share(a, b map[string]string) bool {
	for key, value := range a {
		if other, ok := b[key]; ok && other == value {
			return true
		}
	}
	return false
}
