package filters

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// kubeAnswer is what the scheduler says of a pod.
type kubeAnswer struct {
	// Everywhere is what is said before nodes are asked (PreEnqueue, PreFilter), and counts for all of them.
	Everywhere []kubeRefusal
	// Nodes has every node of the cluster.
	Nodes map[string]kubeNode
}

// kubeNode is what the scheduler says of a pod on a node: the plugins that refuse it, each asked by itself,
// in their order.
type kubeNode struct {
	// Ahead has the plugins that refuse the node as if the pods ran there that are nominated to it and come
	// first. It is nil if there are none.
	Ahead []kubeRefusal
	// Alone has those that refuse it without such pods. The scheduler does not ask them if the others refuse
	// it.
	Alone []kubeRefusal
	// First is the plugin by which the framework refuses the node when it stops at the first one. It is "" if
	// the node passes, and also if the framework does not name one.
	First string
	// Passes says whether the framework lets the pod onto the node.
	Passes bool
}

// kubeRefusal is what a plugin has against a pod, or against a node for it.
type kubeRefusal struct {
	Plugin  string
	Code    fwk.Code
	Message string
}

func refusal(plugin string, s *fwk.Status) kubeRefusal {
	return kubeRefusal{Plugin: plugin, Code: s.Code(), Message: s.Message()}
}

// Ask asks all plugins about a pod. The pod need not be in the cluster.
func (s *kubeScheduler) Ask(pod *corev1.Pod) (kubeAnswer, error) {
	q := kubeQuestion{kubeScheduler: s, pod: pod, state: framework.NewCycleState(), out: kubeAnswer{Nodes: map[string]kubeNode{}}, restricted: map[string]sets.Set[string]{}}
	for _, p := range s.preEnqueue {
		if status := p.PreEnqueue(s.ctx, pod); !status.IsSuccess() {
			q.out.Everywhere = append(q.out.Everywhere, refusal(p.Name(), status))
		}
	}
	q.out.Everywhere = append(q.out.Everywhere, q.group()...)
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return kubeAnswer{}, fmt.Errorf("listing nodes: %w", err)
	}
	q.prepare(nodes)
	for _, n := range nodes {
		node, err := q.on(n)
		if err != nil {
			return kubeAnswer{}, fmt.Errorf("asking about node %s: %w", n.Node().Name, err)
		}
		q.out.Nodes[n.Node().Name] = node
	}
	return q.out, q.verdict(nodes)
}

// kubeQuestion is a pod that is being asked about.
type kubeQuestion struct {
	*kubeScheduler
	pod   *corev1.Pod
	state fwk.CycleState
	// restricted has the nodes that plugins have limited the pod to.
	restricted map[string]sets.Set[string]
	out        kubeAnswer
}

// prepare runs each PreFilter plugin, also after one that refuses.
func (q *kubeQuestion) prepare(nodes []fwk.NodeInfo) {
	skip := sets.New[string]()
	for _, p := range q.preFilter {
		result, status := p.PreFilter(q.ctx, q.state, q.pod, nodes)
		switch {
		case status.IsSkip():
			skip.Insert(p.Name())
		case !status.IsSuccess():
			skip.Insert(p.Name()) // it would find nothing in the state
			q.out.Everywhere = append(q.out.Everywhere, refusal(p.Name(), status))
		case !result.AllNodes():
			q.restricted[p.Name()] = result.NodeNames
		}
	}
	q.state.SetSkipFilterPlugins(skip)
}

// on asks each plugin about a node.
func (q *kubeQuestion) on(n fwk.NodeInfo) (kubeNode, error) {
	state, with, added, err := q.withNominated(n)
	if err != nil {
		return kubeNode{}, err
	}
	out := kubeNode{Alone: q.filters(q.state, n)}
	if added {
		out.Ahead = append([]kubeRefusal{}, q.filters(state, with)...)
	}
	return out, nil
}

// filters runs each Filter plugin, also after one that refuses.
func (q *kubeQuestion) filters(state fwk.CycleState, n fwk.NodeInfo) []kubeRefusal {
	var out []kubeRefusal
	for plugin, only := range q.restricted { // of a profile that has its Filter off
		if !only.Has(n.Node().Name) && !slices.ContainsFunc(q.filter, func(p filterPlugin) bool { return p.Name() == plugin }) {
			out = append(out, kubeRefusal{Plugin: plugin, Code: fwk.UnschedulableAndUnresolvable, Message: "not among the nodes that PreFilter left"})
		}
	}
	for _, p := range q.filter {
		if state.GetSkipFilterPlugins().Has(p.Name()) {
			continue
		}
		name := n.Node().Name
		if status := p.Filter(q.ctx, state, q.pod, n); !status.IsSuccess() {
			out = append(out, refusal(p.Name(), status))
		} else if only, ok := q.restricted[p.Name()]; ok && !only.Has(name) {
			out = append(out, kubeRefusal{Plugin: p.Name(), Code: fwk.UnschedulableAndUnresolvable, Message: "not among the nodes that PreFilter left"})
		}
	}
	return out
}

// withNominated returns the state and the node as if those pods ran there that are nominated to it and come
// first, as RunFilterPluginsWithNominatedPods does; and whether there are any.
func (q *kubeQuestion) withNominated(n fwk.NodeInfo) (fwk.CycleState, fwk.NodeInfo, bool, error) {
	state, with, added := q.state, n, false
	for _, other := range nominatedOn(q.Framework, n.Node().Name) {
		if priority(other.GetPod()) < priority(q.pod) || other.GetPod().UID == q.pod.UID {
			continue
		}
		if !added {
			state, with, added = q.state.Clone(), n.Snapshot(), true
		}
		with.AddPodInfo(other)
		if status := q.RunPreFilterExtensionAddPod(q.ctx, state, q.pod, other, with); !status.IsSuccess() {
			return nil, nil, false, status.AsError()
		}
	}
	return state, with, added, nil
}

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// verdict runs the framework as the scheduler does. Its verdict has to be what follows from asking the
// plugins one by one.
func (q *kubeQuestion) verdict(nodes []fwk.NodeInfo) error {
	state := framework.NewCycleState()
	result, everywhere, _ := q.RunPreFilterPlugins(q.ctx, state, q.pod)
	for _, n := range nodes {
		name := n.Node().Name
		node := q.out.Nodes[name]
		switch {
		case !everywhere.IsSuccess():
			node.First = everywhere.Plugin()
		case !result.AllNodes() && !result.NodeNames.Has(name):
		default:
			status := q.RunFilterPluginsWithNominatedPods(q.ctx, state, q.pod, n)
			if node.Passes = status.IsSuccess(); !node.Passes {
				node.First = status.Plugin()
			}
		}
		q.out.Nodes[name] = node
		if err := q.consistent(node); err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
	}
	return nil
}

// consistent reports an error if the framework does not say of a node what its plugins do.
func (q *kubeQuestion) consistent(n kubeNode) error {
	all, refusals := sets.New[string](), n.Ahead
	if len(n.Ahead) == 0 {
		refusals = n.Alone
	}
	for _, r := range slices.Concat(q.out.Everywhere, refusals) {
		all.Insert(r.Plugin)
	}
	enqueued := sets.New("GangScheduling") // what the framework was not asked about
	for _, p := range q.preEnqueue {
		enqueued.Insert(p.Name())
	}
	if refused := len(all.Difference(enqueued)) > 0; n.Passes && refused || !n.Passes && len(all) == 0 || n.First != "" && !all.Has(n.First) {
		return fmt.Errorf("the framework says that it passes: %t, refused first by %q; its plugins that refuse it: %q", n.Passes, n.First, sets.List(all))
	}
	return nil
}
