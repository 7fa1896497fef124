package filters

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// prepareNodeUnschedulable is the plugin NodeUnschedulable: a cordoned node takes only pods that tolerate the
// taint that such nodes get, whether it is there already or not.
func prepareNodeUnschedulable(p *Prepared) (check, Outcome) {
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if p.tolerates(&taint) {
		return nil, Outcome{}
	}
	return nodeUnschedulable{p.unknownNode(NodeUnschedulable, "whether the node is unschedulable")}, Outcome{}
}

type nodeUnschedulable struct{ unknown Outcome }

func (c nodeUnschedulable) on(n *nodeInfo) Outcome {
	if !n.Spec.Unschedulable {
		return c.unknown
	}
	return refuse(Refusal{Plugin: NodeUnschedulable, Code: Unschedulable, Unresolvable: true, Message: "the node is unschedulable"})
}

// tolerates reports whether the pod tolerates a taint of a node.
func (p *Prepared) tolerates(taint *corev1.Taint) bool {
	comparisons := p.snapshot.Features().Enabled(inspect.GateTaintTolerationComparisonOperators)
	return corev1helpers.TolerationsTolerateTaint(logr.Discard(), p.Pod.Spec.Tolerations, taint, comparisons)
}
