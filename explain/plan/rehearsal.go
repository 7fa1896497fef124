package plan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxRivals is the number of shapes of waiting pods that are asked whether they could come in between.
const maxRivals = 16

// rehearsal makes moves one after the other in the whole cluster, as they would be made: the node of the target is tainted, nodes
// that are needed later are cordoned, a pod ends, and the one in its place goes wherever kube-scheduler may put it.
//
// That is played twice, once on the planned nodes and once on the last of those that kube-scheduler may choose.
type rehearsal struct {
	a       *arena
	steps   []step
	node    int
	planned *scheduler.Cluster
	other   *scheduler.Cluster
	// pinned says that all nodes are closed but the planned one.
	pinned bool
	moves  []explain.Move
	target *explain.PlacedPod
	doubts []string
	// rivals are other pods that wait.
	rivals []*corev1.Pod
}

// rehearse plays moves. It is nil if they do not work.
func (a *arena) rehearse(ctx context.Context, steps []step, node int) (*rehearsal, error) {
	for _, pinned := range []bool{false, true} {
		r := &rehearsal{a: a, steps: steps, node: node, pinned: pinned, rivals: a.rivals()}
		r.planned, r.other = a.base, a.base
		var err error
		if r.target, err = r.play(ctx); err != nil || r.target != nil {
			return r, err
		}
	}
	return nil, nil
}

// changeNodes is a cluster in which some nodes are others.
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

// cordoned is a cluster in which nodes take no new pods.
func cordoned(c *scheduler.Cluster, nodes []inspect.NodeName) *scheduler.Cluster {
	return changeNodes(c, nodes, func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, guards[1])
	})
}

func (r *rehearsal) play(ctx context.Context) (*explain.PlacedPod, error) {
	for i := range r.steps {
		if i == r.keptFrom() {
			r.planned, r.other = r.keep(r.planned), r.keep(r.other)
		}
		if ok, err := r.step(ctx, i); err != nil || !ok {
			return nil, err
		}
	}
	if r.keptFrom() == len(r.steps) {
		r.planned, r.other = r.keep(r.planned), r.keep(r.other)
	}
	target := tolerant(r.a.target.subject)
	if fits, _, _, err := r.put(ctx, r.other, target, r.a.nodes[r.node].Name); err != nil || !fits {
		return nil, err
	}
	fits, taking, _, err := r.put(ctx, r.planned, target, r.a.nodes[r.node].Name)
	if err != nil || !fits {
		return nil, err
	}
	out := &explain.PlacedPod{Subject: r.a.subject(), Node: inspect.NodeName(r.a.nodes[r.node].Name), AnyOf: 1}
	for _, claim := range taking.Claims {
		out.Devices = append(out.Devices, question.DevicesOf(claim)...)
	}
	return out, nil
}

// keptFrom is the index of the move from which on the node of the target is kept for it: no pod goes there any more.
func (r *rehearsal) keptFrom() int {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].to == r.node {
			return i + 1
		}
	}
	return 0
}

// keep taints the node of the target.
func (r *rehearsal) keep(c *scheduler.Cluster) *scheduler.Cluster {
	return changeNodes(c, []inspect.NodeName{inspect.NodeName(r.a.nodes[r.node].Name)}, func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, guards[0]) })
}

// subject is what is to find room.
func (a *arena) subject() explain.Subject {
	if pod, ok := a.target.subject.(*corev1.Pod); ok {
		return subjectOf(pod)
	}
	return explain.Subject{Kind: "ResourceClaim", Namespace: a.target.subject.GetNamespace(), Name: a.target.subject.GetName()}
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

func (r *rehearsal) memberOf(c *scheduler.Cluster, subject metav1.Object) *cycle.Member {
	p := *r.a
	p.base = c
	return p.memberOf(&piece{subject: subject})
}

// put places a subject on a node of a cluster if it fits there. options are all nodes that may be chosen.
func (r *rehearsal) put(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, node string) (fits bool, taking *cycle.Taking, options []cycle.Option, err error) {
	t, err := r.memberOf(c, subject).Ask(ctx, c, nil)
	if err != nil || t.MayWait || t.Open || t.Fails {
		return false, nil, nil, err
	}
	for i := range t.Options {
		if string(t.Options[i].Node) == node {
			taking, err = t.Options[i].Take(ctx)
			return err == nil, taking, t.Options, err
		}
	}
	return false, nil, t.Options, nil
}

// step makes the i-th move.
func (r *rehearsal) step(ctx context.Context, i int) (bool, error) {
	st := r.steps[i]
	to := r.a.nodes[st.to].Name
	closed := r.closed(i)
	planned, other := without(r.planned, []*corev1.Pod{st.pod}), without(r.other, []*corev1.Pod{st.pod})
	fits, taking, options, err := r.put(ctx, cordoned(planned, closed), st.subject, to)
	if err != nil || !fits {
		return false, err
	}
	if r.pinned {
		for _, o := range options {
			if string(o.Node) != to {
				closed = append(closed, o.Node)
			}
		}
		slices.Sort(closed)
		options = options[:1]
	}
	if err := r.interfere(ctx, i, cordoned(planned, closed), options); err != nil {
		return false, err
	}
	m := explain.Move{
		Pod: subjectOf(st.pod), From: inspect.NodeName(r.a.nodes[st.from].Name), To: inspect.NodeName(to), AnyOf: len(options), Closed: closed,
		Owner: ownerOf(st.pod), Priority: priorityOf(st.pod),
	}
	for _, claim := range taking.Claims {
		m.Devices = append(m.Devices, question.DevicesOf(claim)...)
	}
	r.moves = append(r.moves, m)
	r.planned = cycle.With(planned, taking)
	return r.elsewhere(ctx, st, other, closed)
}

// elsewhere makes a move in the other run: to the last node that kube-scheduler may choose.
func (r *rehearsal) elsewhere(ctx context.Context, st step, c *scheduler.Cluster, closed []inspect.NodeName) (bool, error) {
	open := cordoned(c, closed)
	t, err := r.memberOf(open, st.subject).Ask(ctx, open, nil)
	if err != nil || len(t.Options) == 0 || t.MayWait || t.Open || t.Fails {
		return false, err
	}
	taking, err := t.Options[len(t.Options)-1].Take(ctx)
	if err != nil {
		return false, err
	}
	r.other = cycle.With(c, taking)
	return true, nil
}

// closed are the nodes that are needed after the i-th move, and are not tainted yet.
func (r *rehearsal) closed(i int) []inspect.NodeName {
	var out []inspect.NodeName
	add := func(node int) {
		if name := inspect.NodeName(r.a.nodes[node].Name); node != r.steps[i].to && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, later := range r.steps[i+1:] {
		if later.to != r.node {
			add(later.to)
		}
	}
	if i < r.keptFrom() {
		add(r.node)
	}
	slices.Sort(out)
	return out
}

// rivals are the other pods that wait, one of each shape.
func (a *arena) rivals() []*corev1.Pod {
	users := a.users()
	waiting, _ := Waiting(a.base.Snapshot(), func(pod *corev1.Pod) bool {
		return subjectOf(pod) != a.subject() && !slices.Contains(users, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
	})
	known := map[string]bool{}
	var out []*corev1.Pod
	for _, pod := range waiting {
		shape := question.Member(a.base, pod, a.opts).Shape
		if shape != "" && known[shape] {
			continue
		}
		if known[shape] = true; len(out) < maxRivals {
			out = append(out, pod)
		}
	}
	return out
}

// interfere notes who else could take the room that a move makes, or the room that the moved pod needs.
func (r *rehearsal) interfere(ctx context.Context, i int, c *scheduler.Cluster, options []cycle.Option) error {
	needed := []*corev1.Node{r.a.nodes[r.node]}
	if len(options) <= len(r.rivals) {
		for _, o := range options {
			if at := r.a.index[o.Node]; at != r.node {
				needed = append(needed, r.a.nodes[at])
			}
		}
	}
	for _, pod := range r.rivals {
		t, err := r.memberOf(c, pod).Ask(ctx, c, needed)
		if err != nil {
			return err
		}
		if len(t.Options) > 0 {
			r.doubt(fmt.Sprintf("pod %s/%s waits too, and may take the room on %s first", pod.Namespace, pod.Name, t.Options[0].Node))
		}
	}
	if _, ok := r.a.target.subject.(*corev1.Pod); !ok {
		return nil
	}
	t, err := r.memberOf(c, tolerant(r.a.target.subject)).Ask(ctx, c, nil)
	if err != nil {
		return err
	}
	for _, o := range t.Options {
		if r.a.index[o.Node] != r.node {
			r.doubt(fmt.Sprintf("%s may take the room on %s while %s is moved", r.a.subject().FullName(), o.Node, r.steps[i].pod.Name))
			break
		}
	}
	return nil
}

func (r *rehearsal) doubt(text string) {
	if !slices.Contains(r.doubts, text) {
		r.doubts = append(r.doubts, text)
	}
}

// ownerOf names what makes a pod anew.
func ownerOf(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return owner.Kind + " " + owner.Name
	}
	return ""
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
