package filters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// says is what somebody has against a node, or against all of them: why, by plugin.
type says map[filters.Plugin]string

// answer is what somebody says of a pod.
type answer struct {
	nodes map[string]says
	// other is what the scheduler says of a node with, or without, the pods that are nominated to it, when it
	// would not ask about nodes at all. This project may say that: it has reasons against single nodes where
	// the plugin gives up before.
	other map[string]says
	// doubts are what was not decided, by node.
	doubts map[string]says
	// fails says that a plugin of the scheduler fails at a node. Where it gets so far, it gives up on the
	// pod, whatever it found of other nodes, so this project decides nothing.
	fails bool
}

// disagreement is a plugin of which one side says that it refuses a node.
type disagreement struct {
	pod, node    string
	plugin       filters.Plugin
	theirs, ours string // "" if the plugin lets the pod onto the node
}

func (d disagreement) String() string {
	side := func(s string) string {
		if s == "" {
			return "passes"
		}
		return "refuses: " + s
	}
	return fmt.Sprintf("pod %s on node %s: kube-scheduler's %s %s; ours %s", d.pod, d.node, d.plugin, side(d.theirs), side(d.ours))
}

// like tells whether two disagreements are about the same plugin and go the same way.
func (d disagreement) like(other disagreement) bool {
	return d.plugin == other.plugin && (d.theirs == "") == (other.theirs == "")
}

// comparison is what came of the pods of a problem.
type comparison struct {
	theirs, ours  []answer // by pod
	disagreements []disagreement
}

// comparer asks both sides about all pods of a problem.
type comparer func(t *testing.T, p *problem) (comparison, error)

// decide is what this project says of a pod. Tests of the comparison itself have others.
type decide func(index *filters.Index, pod *corev1.Pod, nodes []*corev1.Node) answer

// pluginByPlugin compares what the plugins say.
func pluginByPlugin(decide decide) comparer {
	return func(t *testing.T, p *problem) (comparison, error) {
		t.Helper()
		asked, theirs, err := askScheduler(t, p)
		if err != nil {
			return comparison{}, err
		}
		snapshot := asked.snapshot()
		index := filters.NewIndex(snapshot, filters.NewIndex(earlier(snapshot), nil))
		var out comparison
		for i, pod := range asked.asked {
			ours, theirs := decide(index, pod, snapshot.Nodes()), read(theirs[i])
			out.ours, out.theirs = append(out.ours, ours), append(out.theirs, theirs)
			out.disagreements = append(out.disagreements, differences(pod, theirs, ours)...)
		}
		return out, nil
	}
}

// earlier is a cluster that is like another one and has less in it. An index is made from its index: that
// must not matter.
func earlier(s *inspect.Snapshot) *inspect.Snapshot {
	return s.With(func(o *inspect.Objects) {
		o.Nodes, o.Pods = o.Nodes[:(len(o.Nodes)+1)/2], slices.DeleteFunc(o.Pods, func(pod *corev1.Pod) bool { return len(pod.Name)%2 == 0 })
		o.VolumeClaims, o.Volumes = o.VolumeClaims[:len(o.VolumeClaims)/2], o.Volumes[:len(o.Volumes)/2]
	})
}

// asker returns a problem as the server has it, and what a scheduler says of the pods.
type asker func(t *testing.T, p *problem) (*problem, []kubeAnswer, error)

// askScheduler returns the problem as the server has it, and what the scheduler says of the pods.
func askScheduler(t *testing.T, p *problem) (*problem, []kubeAnswer, error) {
	t.Helper()
	admitted, err := p.admitted()
	if err != nil {
		return nil, nil, err
	}
	var out []kubeAnswer
	withKubeScheduler(t, &admitted.objects, func(_ *testing.T, s *kubeScheduler) {
		for _, pod := range admitted.asked {
			answer, failure := s.Ask(pod)
			if failure != nil {
				err = fmt.Errorf("asking kube-scheduler about pod %s: %w", pod.Name, failure)
				return
			}
			out = append(out, answer)
		}
	}, p.controllers.objects()...)
	return admitted, out, err
}

// read sorts the answer of the scheduler by node.
func read(a kubeAnswer) answer {
	out := answer{nodes: map[string]says{}, other: map[string]says{}}
	for name, node := range a.Nodes {
		out.fails = out.fails || slices.ContainsFunc(node.Alone, func(r kubeRefusal) bool { return r.Code == fwk.Error })
		refusals, other := node.Alone, node.Ahead
		if slices.ContainsFunc(node.Ahead, known) {
			refusals, other = node.Ahead, node.Alone
		}
		if len(a.Everywhere) == 0 || node.Ahead == nil {
			other = refusals
		}
		out.nodes[name], out.other[name] = saysOf(a.Everywhere, refusals), saysOf(a.Everywhere, other)
	}
	return out
}

// known tells whether this project has the plugin.
func known(r kubeRefusal) bool {
	return slices.Contains(filters.Plugins(), filters.Plugin(r.Plugin))
}

func saysOf(everywhere, node []kubeRefusal) says {
	out := says{}
	for _, r := range slices.Concat(everywhere, node) {
		out[filters.Plugin(r.Plugin)] = cmp.Or(r.Message, r.Code.String())
	}
	return out
}

// ours is what this project says.
func ours(index *filters.Index, pod *corev1.Pod, nodes []*corev1.Node) answer {
	out := answer{nodes: map[string]says{}, doubts: map[string]says{}}
	prepared := index.Prepare(pod)
	for _, node := range nodes {
		o := prepared.On(inspect.NodeName(node.Name))
		on, doubts := says{}, says{}
		for _, r := range slices.Concat(prepared.Everywhere.Refusals, o.Refusals) {
			on[r.Plugin] = cmp.Or(r.Message, string(r.Code))
		}
		for _, d := range slices.Concat(prepared.Everywhere.Doubts, o.Doubts) {
			doubts[d.Plugin] = d.Message
		}
		out.nodes[node.Name], out.doubts[node.Name] = on, doubts
	}
	return out
}

// differences are the plugins that this project has and decides otherwise, in the order of nodes and plugins.
func differences(pod *corev1.Pod, theirs, ours answer) []disagreement {
	var out []disagreement
	for _, node := range slices.Sorted(maps.Keys(theirs.nodes)) {
		for _, plugin := range filters.Plugins() {
			if _, doubted := ours.doubts[node][plugin]; doubted || leaves(pod, plugin) {
				continue
			}
			d := disagreement{pod: pod.Name, node: node, plugin: plugin, theirs: theirs.nodes[node][plugin], ours: ours.nodes[node][plugin]}
			_, other := theirs.other[node][plugin]
			if refuses := d.ours != ""; refuses != (d.theirs != "") && refuses != other {
				out = append(out, d)
			}
		}
	}
	return out
}

// leaves tells whether the scheduler has no opinion: it leaves a pod that is being deleted out of its group
// before it looks at the group.
func leaves(pod *corev1.Pod, plugin filters.Plugin) bool {
	return pod.DeletionTimestamp != nil && plugin == filters.GangScheduling
}

// lacking is what this project would say without one of its plugins.
func lacking(plugin filters.Plugin) decide {
	return func(index *filters.Index, pod *corev1.Pod, nodes []*corev1.Node) answer {
		a := ours(index, pod, nodes)
		for node := range a.nodes {
			delete(a.nodes[node], plugin)
			delete(a.doubts[node], plugin)
		}
		return a
	}
}
