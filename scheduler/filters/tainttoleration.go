package filters

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// prepareTaintToleration is the plugin TaintToleration: a pod must tolerate the taints of its node, but for
// those that the scheduler only tries to avoid.
func prepareTaintToleration(p *Prepared) (check, Outcome) {
	if slices.ContainsFunc(p.Pod.Spec.Tolerations, toleratesAll) {
		return nil, Outcome{}
	}
	return taintToleration{p, p.unknownNode(TaintToleration, "whether the node has taints")}, Outcome{}
}

// toleratesAll reports whether a toleration is of all taints.
func toleratesAll(t corev1.Toleration) bool {
	return t.Key == "" && t.Effect == "" && t.Operator == corev1.TolerationOpExists
}

type taintToleration struct {
	*Prepared
	unknown Outcome
}

func (c taintToleration) on(n *nodeInfo) Outcome {
	out := c.unknown
	for i := range n.Spec.Taints {
		taint := &n.Spec.Taints[i]
		blocks := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		if blocks && !c.tolerates(taint) && !toleratedOnceCreated(c.Pod, taint) {
			out.and(refuse(Refusal{
				Plugin: TaintToleration, Code: NodeTainted, Unresolvable: true, Key: taint.ToString(), Taint: taint,
				Message: "the pod does not tolerate the node's taint " + taint.ToString(),
			}))
		}
	}
	return out
}
