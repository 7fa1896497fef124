package filters

import (
	"cmp"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// Prepared is a pod as the filters see it in a cluster.
type Prepared struct {
	*Index
	Pod *corev1.Pod
	// Everywhere is what plugins say of the pod before they are asked about nodes: it holds on every node.
	Everywhere Outcome
	// profile is that of kube-scheduler which schedules the pod. It is nil for the default one, and for pods
	// of other schedulers, which are decided as by that.
	profile    *schedulerconfig.Profile
	checks     []check
	statements []statement // of each plugin
	trial      *trial      // nil unless kube-scheduler has taken pods away on trial
	kin        *kin
	// all is what On says of each node, in their order, once that was asked about all.
	all atomic.Pointer[[]Outcome]
}

// Prepare makes a pod ready to be asked about. The pod need not be in the snapshot. If it is, it must not be
// on a node.
func (x *Index) Prepare(pod *corev1.Pod) *Prepared { return x.prepare(pod, newKin(pod)) }

func (x *Index) prepare(pod *corev1.Pod, k *kin) *Prepared {
	p := &Prepared{Index: x, Pod: pod, kin: k, statements: make([]statement, len(plugins))}
	p.profile, _ = x.snapshot.Scheduler().Profile(pod.Spec.SchedulerName)
	differs := k.differs(pod)
	for i := range plugins {
		a, known := k.recall(i, pod, differs)
		if !known {
			a = statement{pod: pod, differs: differs}
			if a.check, a.everywhere = plugins[i].prepare(p); p.profile != nil {
				a.check, a.everywhere = p.applied(plugins[i].name, a.check, a.everywhere)
			}
			k.remember(i, a)
		}
		p.add(i, a)
	}
	if p.profile != nil {
		p.Everywhere.and(p.others())
	}
	return p
}

// add adds what a plugin says of the pod.
func (p *Prepared) add(plugin int, a statement) {
	p.statements[plugin] = a
	p.Everywhere.and(a.everywhere)
	if a.check != nil {
		p.checks = append(p.checks, a.check)
	}
}

// On says what all plugins have against a node of the snapshot, besides what they say of the pod everywhere.
//
// Pods of at least the same priority for which the scheduler has made room on the node are taken to be there,
// and also not to be there: the pod has to pass either way, as for the scheduler. Whether it knows of those
// of another scheduler depends on whether both run as one program, so these can only raise a doubt.
func (p *Prepared) On(node inspect.NodeName) Outcome {
	n := p.node(string(node))
	if n == nil {
		return doubt(Doubt{Resource: inspect.Nodes, Key: "unknown", Message: "the node is not known"})
	}
	if all := p.all.Load(); all != nil {
		return (*all)[p.position[n.Name]]
	}
	return p.on(n)
}

// OnAll says what On does of all nodes of the snapshot, in their order, and remembers it. inTurn calls a
// function with each number below another one, in any order or several at once.
func (p *Prepared) OnAll(inTurn func(n int, call func(int) error) error) []Outcome {
	const chunk = 256
	out := make([]Outcome, len(p.nodes))
	_ = inTurn((len(out)+chunk-1)/chunk, func(c int) error {
		for i := c * chunk; i < min(len(out), (c+1)*chunk); i++ {
			out[i] = p.on(p.at(i))
		}
		return nil
	})
	p.all.Store(&out)
	return out
}

// on is On of a node.
func (p *Prepared) on(n *nodeInfo) Outcome {
	out := p.alone(n)
	ours, others := p.ahead(n)
	if len(ours) > 0 {
		o := p.besides(n, ours)
		if len(o.Refusals) > 0 {
			return o
		}
		out.addDoubts(o.Doubts)
	}
	if len(others) == 0 || len(out.Refusals) > 0 {
		return out
	}
	for _, r := range p.besides(n, append(ours, others...)).Refusals {
		out.addDoubts([]Doubt{{
			Plugin: r.Plugin, Key: "nominated " + r.Key,
			Message: "another scheduler has made room there for pod " + others[0].Namespace + "/" + others[0].Name + "; with it, " + r.Message,
		}})
	}
	return out
}

// besides is what the plugins say of a node on which there are more pods.
func (p *Prepared) besides(n *nodeInfo, pods []*podInfo) Outcome {
	if t := p.trial; t != nil {
		with := t.of.with(t.of.node(n.Name), pods).Prepare(p.Pod).Tried(t.lower, t.gone...)
		return with.alone(with.node(n.Name))
	}
	with := p.with(n, pods)
	return with.Prepare(p.Pod).alone(with.node(n.Name))
}

// alone is On without regard to pods that wait for room on the node.
func (p *Prepared) alone(n *nodeInfo) Outcome {
	var o Outcome
	for _, c := range p.checks {
		o.and(c.on(n))
	}
	return o
}

// ahead are the other pods that wait for room on a node and come no later than the pod: those of its
// scheduler, and others.
func (p *Prepared) ahead(n *nodeInfo) (ours, others []*podInfo) {
	for _, other := range p.nominated[n.Name] {
		same := other.Namespace == p.Pod.Namespace && other.Name == p.Pod.Name
		switch {
		case same || corev1helpers.PodPriority(other.Pod) < corev1helpers.PodPriority(p.Pod):
		case schedulerOf(other.Pod) == schedulerOf(p.Pod), p.snapshot.Schedules(other.Pod) && p.snapshot.Schedules(p.Pod): // one program has all profiles
			ours = append(ours, other)
		default:
			others = append(others, other)
		}
	}
	return ours, others
}

func schedulerOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
}
