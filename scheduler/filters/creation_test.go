package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestCreation has what the API server adds to pods when they are created.
func TestCreation(t *testing.T) {
	node := roomy(func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
	})
	s := live(inspect.Objects{Nodes: []*corev1.Node{node}})
	const notReady = `NodeTainted "node.kubernetes.io/not-ready:NoSchedule"! the pod does not tolerate the node's taint node.kubernetes.io/not-ready:NoSchedule`
	const unreachable = "\n" + `NodeTainted "node.kubernetes.io/unreachable:NoExecute"! the pod does not tolerate the node's taint node.kubernetes.io/unreachable:NoExecute`
	created := func(p *corev1.Pod) { p.UID = "u" }
	says := func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpEqual, Value: "x"}}
	}
	if got := said(TaintToleration, waiting(nil), "n", s); got != notReady {
		t.Errorf("to be created: %s", got)
	}
	if got := said(TaintToleration, waiting(created), "n", s); got != notReady+unreachable {
		t.Errorf("created: %s", got)
	}
	if got := said(TaintToleration, waiting(says), "n", s); got != notReady+unreachable {
		t.Errorf("that has such a toleration, which does not help: %s", got)
	}

	runtime := func(p *corev1.Pod) { p.Spec.RuntimeClassName = ptr.To("gvisor") }
	const unknown = `?  "runtime class gvisor" runtime class gvisor may add requests, tolerations and a node selector to the pod when it is created`
	if got := said(NodeResourcesFit, waiting(runtime), "n", s); got != unknown {
		t.Errorf("with a runtime class, to be created: %s", got)
	}
	if got := said(NodeResourcesFit, waiting(func(p *corev1.Pod) { runtime(p); created(p) }), "n", s); got != "" {
		t.Errorf("with a runtime class, created: %s", got)
	}
	if got := said(NodeResourcesFit, waiting(func(p *corev1.Pod) { runtime(p); p.Spec.Overhead = list("cpu", "1") }), "n", s); got != "" {
		t.Errorf("with an overhead: %s", got)
	}
}
