package filters

import (
	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Prepared is a pod as the filters see it in a cluster.
type Prepared struct {
	*Index
	Pod *corev1.Pod
	// Everywhere is what plugins say of the pod before they are asked about nodes: it holds on every node.
	Everywhere Outcome
	checks     []check
}

// Prepare makes a pod ready to be asked about. The pod need not be in the snapshot. If it is, it must not be on a node.
func (x *Index) Prepare(pod *corev1.Pod) *Prepared {
	p := &Prepared{Index: x, Pod: pod}
	for i := range plugins {
		c, everywhere := plugins[i].prepare(p)
		p.Everywhere.and(everywhere)
		if c != nil {
			p.checks = append(p.checks, c)
		}
	}
	return p
}

// On says what all plugins have against a node of the snapshot, besides what they say of the pod everywhere.
//
// Pods of at least the same priority for which the scheduler has made room on the node are taken to be there, and also not
// to be there: the pod has to pass either way, as for the scheduler.
func (p *Prepared) On(node inspect.NodeName) Outcome {
	n := p.node(string(node))
	if n == nil {
		return doubt(Doubt{Key: "unknown node", Message: "nothing is known of the node " + string(node)})
	}
	if ahead := p.ahead(n); len(ahead) > 0 {
		with := p.with(n, ahead)
		if o := with.Prepare(p.Pod).alone(with.node(n.Name)); len(o.Refusals) > 0 {
			return o
		}
	}
	return p.alone(n)
}

// alone is On without regard to pods that wait for room on the node.
func (p *Prepared) alone(n *nodeInfo) Outcome {
	var o Outcome
	for _, c := range p.checks {
		o.and(c.on(n))
	}
	return o
}

// ahead are the other pods that wait for room on a node and come no later than the pod.
func (p *Prepared) ahead(n *nodeInfo) []*podInfo {
	var out []*podInfo
	for _, other := range p.nominated[n.Name] {
		same := other.Namespace == p.Pod.Namespace && other.Name == p.Pod.Name
		if !same && corev1helpers.PodPriority(other.Pod) >= corev1helpers.PodPriority(p.Pod) {
			out = append(out, other)
		}
	}
	return out
}
