package scores

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// prepareTaintToleration is the plugin TaintToleration: the fewer taints that pods are to be kept off by if
// possible, and that the pod does not tolerate, the better.
func prepareTaintToleration(s *Scorer) (part, []filters.Doubt) {
	return newLocal(s, tolerationsOf(s.pod), func(n filters.Node) int64 {
		var out int64
		taints := n.Object().Spec.Taints
		for i := range taints {
			if taints[i].Effect == corev1.TaintEffectPreferNoSchedule && !s.index.Tolerates(s.pod, &taints[i]) {
				out++
			}
		}
		return out
	}, downFrom), nil
}

// tolerationsOf says which taints a pod tolerates. For how long does not matter.
func tolerationsOf(pod *corev1.Pod) string {
	out := ""
	for i := range pod.Spec.Tolerations {
		t := &pod.Spec.Tolerations[i]
		out += fmt.Sprintf("%q %q %q %q\n", t.Key, t.Operator, t.Value, t.Effect)
	}
	return out
}
