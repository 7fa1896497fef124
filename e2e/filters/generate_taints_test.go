package filters

import (
	corev1 "k8s.io/api/core/v1"
)

// taints is the aspect of TaintToleration and NodeUnschedulable.
var taints = aspect{node: (*generator).taints, pod: (*generator).tolerations}

var (
	taintKeys   = []string{"dedicated", "example.com/sla", corev1.TaintNodeNotReady, corev1.TaintNodeUnschedulable}
	taintValues = []string{"", "ml", "web", "950", "990", "007"}
	effects     = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule}
)

func (g *generator) taints(node *corev1.Node) {
	node.Spec.Unschedulable = g.chance(0.3)
	for range g.IntN(3) {
		taint := corev1.Taint{Key: pick(g, taintKeys...), Value: pick(g, taintValues...), Effect: pick(g, effects...)}
		known := false
		for _, t := range node.Spec.Taints {
			known = known || t.MatchTaint(&taint)
		}
		if !known {
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
	}
}

func (g *generator) tolerations(pod *corev1.Pod) {
	pod.Spec.Tolerations = times(g, 3, func() corev1.Toleration {
		t := corev1.Toleration{
			Key:      pick(g, taintKeys...),
			Operator: pick(g, "", corev1.TolerationOpEqual, corev1.TolerationOpExists),
			Effect:   pick(g, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute),
		}
		switch {
		case t.Operator == corev1.TolerationOpExists:
			t.Key = pick(g, t.Key, t.Key, "")
		case g.gates[gateTolerationComparison] && g.chance(0.5):
			t.Operator, t.Value = pick(g, corev1.TolerationOpGt, corev1.TolerationOpLt), pick(g, "900", "950", "-10")
		default:
			t.Value = pick(g, taintValues...)
		}
		if t.Effect == corev1.TaintEffectNoExecute && g.chance(0.3) {
			t.TolerationSeconds = new(int64(30))
		}
		return t
	})
}
