package moves

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxRivals is the number of shapes of waiting pods that are asked whether they could come in between.
const maxRivals = 16

// trial makes moves one after the other in the whole cluster, as they would be made: the node of the target
// is tainted, nodes that are needed later are cordoned, a pod ends, and its replacement goes wherever
// kube-scheduler may put it.
type trial struct {
	*problem
	steps []step
	node  int
	// pinned says that all nodes are closed but the planned one.
	pinned bool
	// rivals are other pods that wait.
	rivals []*corev1.Pod

	moves  []explain.Move
	target *explain.PlacedPod
	doubts []string
}

// try makes moves twice: once on the planned nodes, and once on the last of those that kube-scheduler may
// choose. It returns nil if they do not work. If they only work on the planned nodes, all others are closed.
func (p *problem) try(ctx context.Context, steps []step, node int) (*trial, error) {
	rivals := p.rivals()
	for _, pinned := range []bool{false, true} {
		t := &trial{problem: p, steps: steps, node: node, pinned: pinned, rivals: rivals}
		var err error
		if t.target, err = t.run(ctx, t.planned); err != nil {
			return nil, err
		}
		if t.target == nil {
			continue
		}
		if works, err := t.run(ctx, t.elsewhere); err != nil || works != nil {
			return t, err
		}
	}
	return nil, nil
}

// rivals are the other pods that wait, one of each shape.
func (p *problem) rivals() []*corev1.Pod {
	users := p.users()
	self := cycle.SubjectOf(p.target.subject)
	waiting, _ := plan.Waiting(p.base.Snapshot(), func(pod *corev1.Pod) bool {
		return cycle.SubjectOf(pod) != self && !slices.Contains(users, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
	})
	known := map[string]bool{}
	var out []*corev1.Pod
	for _, pod := range waiting {
		shape := memberOf(p.base, pod).Shape
		if shape != "" && known[shape] {
			continue
		}
		if known[shape] = true; len(out) < maxRivals {
			out = append(out, pod)
		}
	}
	return out
}

// run makes all moves, and returns what the target then gets. The step returns the cluster after the i-th
// move, or nil if it is not possible.
func (t *trial) run(
	ctx context.Context, step func(ctx context.Context, c *scheduler.Cluster, i int) (*scheduler.Cluster, error),
) (*explain.PlacedPod, error) {
	c := t.base
	for i := range t.steps {
		if i == t.keptFrom() {
			c = t.keep(c)
		}
		var err error
		if c, err = step(ctx, c, i); c == nil || err != nil {
			return nil, err
		}
	}
	if t.keptFrom() == len(t.steps) {
		c = t.keep(c)
	}
	options, err := optionsFor(ctx, c, tolerant(t.problem.target.subject))
	if err != nil {
		return nil, err
	}
	name := inspect.NodeName(t.nodes[t.node].Name)
	at := slices.IndexFunc(options, func(o replay.Option) bool { return o.Node == name })
	if at < 0 {
		return nil, nil
	}
	reservation, err := options[at].Reserve(ctx)
	if err != nil {
		return nil, err
	}
	return &explain.PlacedPod{Subject: cycle.SubjectOf(t.problem.target.subject), Node: name, AnyOf: 1, Devices: devicesOf(reservation)}, nil
}

// optionsFor returns the nodes on which a pod or a claim fits in a cluster: none if that is not certain.
func optionsFor(ctx context.Context, c *scheduler.Cluster, subject metav1.Object) ([]replay.Option, error) {
	t, err := memberOf(c, subject).Ask(ctx, c, nil)
	if err != nil || !certain(t) {
		return nil, err
	}
	return t.Options, nil
}

func devicesOf(reservation *replay.Reservation) []explain.Device {
	var out []explain.Device
	for _, claim := range reservation.Claims {
		out = append(out, replay.DevicesOf(claim)...)
	}
	return out
}

// planned makes the i-th move to the planned node, and notes it.
func (t *trial) planned(ctx context.Context, c *scheduler.Cluster, i int) (*scheduler.Cluster, error) {
	st := t.steps[i]
	to := inspect.NodeName(t.nodes[st.to].Name)
	closed := t.closed(i)
	c = without(c, st.pod)
	options, err := optionsFor(ctx, cordoned(c, closed), st.subject)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(options, func(o replay.Option) bool { return o.Node == to })
	if at < 0 {
		return nil, nil
	}
	reservation, err := options[at].Reserve(ctx)
	if err != nil {
		return nil, err
	}
	if t.pinned {
		for _, o := range options {
			if o.Node != to {
				closed = append(closed, o.Node)
			}
		}
		slices.Sort(closed)
		options = options[at : at+1]
	}
	if err := t.interfere(ctx, i, cordoned(c, closed), options); err != nil {
		return nil, err
	}
	owner := metav1.GetControllerOf(st.pod)
	t.moves = append(t.moves, explain.Move{
		Pod: cycle.SubjectOf(st.pod), From: inspect.NodeName(t.nodes[st.from].Name), To: to, AnyOf: len(options), Closed: closed,
		Owner: owner.Kind + " " + owner.Name, Priority: corev1helpers.PodPriority(st.pod), Devices: devicesOf(reservation),
	})
	return replay.With(c, reservation), nil
}

// elsewhere makes the i-th move to the last of the nodes that kube-scheduler may choose.
func (t *trial) elsewhere(ctx context.Context, c *scheduler.Cluster, i int) (*scheduler.Cluster, error) {
	c = without(c, t.steps[i].pod)
	options, err := optionsFor(ctx, cordoned(c, t.moves[i].Closed), t.steps[i].subject)
	if err != nil || len(options) == 0 {
		return nil, err
	}
	reservation, err := options[len(options)-1].Reserve(ctx)
	if err != nil {
		return nil, err
	}
	return replay.With(c, reservation), nil
}

// keptFrom is the index of the move from which on the node of the target is kept for it: no pod goes there
// any more.
func (t *trial) keptFrom() int {
	for i := len(t.steps) - 1; i >= 0; i-- {
		if t.steps[i].to == t.node {
			return i + 1
		}
	}
	return 0
}

// keep taints the node of the target.
func (t *trial) keep(c *scheduler.Cluster) *scheduler.Cluster {
	return changeNodes(c, []inspect.NodeName{inspect.NodeName(t.nodes[t.node].Name)}, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, guards[0])
	})
}

// cordoned is a cluster in which some nodes take no new pods.
func cordoned(c *scheduler.Cluster, nodes []inspect.NodeName) *scheduler.Cluster {
	return changeNodes(c, nodes, func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, guards[1])
	})
}

// changeNodes is a cluster in which some nodes have changed.
func changeNodes(c *scheduler.Cluster, nodes []inspect.NodeName, change func(*corev1.Node)) *scheduler.Cluster {
	if len(nodes) == 0 {
		return c
	}
	return scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) {
		o.Nodes = slices.Clone(c.Snapshot().Nodes())
		for i := range o.Nodes {
			if slices.Contains(nodes, inspect.NodeName(o.Nodes[i].Name)) {
				o.Nodes[i] = o.Nodes[i].DeepCopy()
				change(o.Nodes[i])
			}
		}
	}), scheduler.Options{Like: c})
}

// tolerant is the target as it is changed: a pod tolerates the taint that keeps the node for it.
func tolerant(subject metav1.Object) metav1.Object {
	pod, ok := subject.(*corev1.Pod)
	if !ok {
		return subject
	}
	pod = pod.DeepCopy()
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
		Key: guards[0].Key, Operator: corev1.TolerationOpExists, Effect: guards[0].Effect,
	})
	return pod
}

// closed are the nodes that are needed after the i-th move, and are not tainted yet.
func (t *trial) closed(i int) []inspect.NodeName {
	var out []inspect.NodeName
	add := func(node int) {
		if name := inspect.NodeName(t.nodes[node].Name); node != t.steps[i].to && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, later := range t.steps[i+1:] {
		if later.to != t.node {
			add(later.to)
		}
	}
	if i < t.keptFrom() {
		add(t.node)
	}
	slices.Sort(out)
	return out
}

// interfere notes who else could take the room that a move makes, or the room that the moved pod needs.
func (t *trial) interfere(ctx context.Context, i int, c *scheduler.Cluster, options []replay.Option) error {
	needed := []*corev1.Node{t.nodes[t.node]}
	if len(options) <= len(t.rivals) {
		for _, o := range options {
			if at := t.index[o.Node]; at != t.node {
				needed = append(needed, t.nodes[at])
			}
		}
	}
	for _, pod := range t.rivals {
		turn, err := memberOf(c, pod).Ask(ctx, c, needed)
		if err != nil {
			return err
		}
		if len(turn.Options) > 0 {
			t.doubt(fmt.Sprintf("pod %s/%s waits too, and may take the room on %s first", pod.Namespace, pod.Name, turn.Options[0].Node))
		}
	}
	if _, ok := t.problem.target.subject.(*corev1.Pod); !ok {
		return nil
	}
	turn, err := memberOf(c, tolerant(t.problem.target.subject)).Ask(ctx, c, nil)
	if err != nil {
		return err
	}
	for _, o := range turn.Options {
		if t.index[o.Node] != t.node {
			name := cycle.SubjectOf(t.problem.target.subject).FullName()
			t.doubt(fmt.Sprintf("%s may take the room on %s while %s is moved", name, o.Node, t.steps[i].pod.Name))
			break
		}
	}
	return nil
}

func (t *trial) doubt(text string) {
	if !slices.Contains(t.doubts, text) {
		t.doubts = append(t.doubts, text)
	}
}
