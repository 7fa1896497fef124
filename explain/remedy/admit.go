package remedy

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/go-logr/logr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// admit writes what lets the pod that was asked about onto a node that keeps it off: the node is uncordoned,
// and taints that the pod does not tolerate are taken away.
func (b *builder) admit(name inspect.NodeName) {
	node, ok := b.s.Node(name)
	pod, asked := b.s.Pod(b.asking)
	if !ok || !asked {
		return
	}
	if node.Spec.Unschedulable {
		b.add(b.kubectl("uncordon", b.name(node.Name)))
	}
	for _, taint := range node.Spec.Taints {
		keepsOff := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		if !keepsOff || strings.HasPrefix(taint.Key, "node.kubernetes.io/") || // which Kubernetes sets and takes back
			corev1helpers.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, &taint, false) {
			continue
		}
		b.add(b.kubectl("taint", "node", b.name(node.Name), taint.ToString()+"-"))
	}
}
