package moves

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// problem is a cluster in which pods may be moved. What it remembers of a node depends on what is on that
// node alone.
type problem struct {
	base   *scheduler.Cluster
	nodes  []*corev1.Node
	index  map[inspect.NodeName]int
	target *candidate
	// movable are the pods that may be moved, in the order of the snapshot, and on are those of each node.
	movable []*candidate
	on      [][]*candidate
	// other are pods that may be moved too, but depend on more than the node that they are on, or change
	// more.
	other []*candidate
	fixed []explain.FixedPods
	// partly says that not all choices were tried, and unsure that something was not certain.
	partly, unsure bool
	// left is how many more nodes may be asked.
	left int

	// first are the answers of all nodes as they are, known those of nodes that have changed, and victims the
	// pods that make room.
	first   map[string][]bool
	known   map[string]bool
	victims map[string]*victims
}

// candidate is a pod that may be moved, or the target, which is to find room.
type candidate struct {
	id int
	// pod is as it is in the cluster. It is nil for the target.
	pod *corev1.Pod
	// subject is what is placed.
	subject metav1.Object
	member  *replay.Member
	from    int // index of its node; -1 for the target
	devices int
}

// clusterCost is what it costs to build a cluster in which a node has changed, in nodes that are asked.
const clusterCost = 40

// newProblem finds out who may be moved.
func newProblem(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, asks int) (*problem, error) {
	p := &problem{
		base: c, nodes: c.Snapshot().Nodes(), index: map[inspect.NodeName]int{}, left: asks,
		known: map[string]bool{}, first: map[string][]bool{}, victims: map[string]*victims{},
	}
	for i, node := range p.nodes {
		p.index[inspect.NodeName(node.Name)] = i
	}
	p.target = &candidate{id: -1, subject: subject, from: -1, member: memberOf(c, subject)}
	p.on = make([][]*candidate, len(p.nodes))
	local := map[string]bool{}
	for i, pod := range c.Snapshot().Objects().Pods {
		at, ok := p.index[inspect.NodeName(pod.Spec.NodeName)]
		if !ok || inspect.Ended(pod) {
			continue
		}
		if r := fixedBy(c.Snapshot(), pod); r != nil {
			p.fix(r, pod)
			continue
		}
		m := &candidate{id: i, pod: pod, subject: replacementOf(pod), from: at}
		m.member = memberOf(without(c, m.holding()...), m.subject)
		for _, ref := range plan.ClaimRefsOf(pod) {
			if claim, ok := c.Snapshot().Claim(ref); ok && claim.Status.Allocation != nil {
				m.devices += len(claim.Status.Allocation.Devices.Results)
			}
		}
		if _, known := local[m.member.Shape]; !known || m.member.Shape == "" {
			local[m.member.Shape] = p.local(ctx, m)
		}
		if !local[m.member.Shape] {
			p.other = append(p.other, m)
			continue
		}
		p.movable, p.on[at] = append(p.movable, m), append(p.on[at], m)
	}
	return p, ctx.Err()
}

// local reports whether where a candidate can be placed depends on the node alone, and it changes nothing
// else.
func (p *problem) local(ctx context.Context, m *candidate) bool {
	return !m.member.Unseen && replay.Local(ctx, p.base, m.member)
}

// memberOf is a pod or a claim as it is placed in a cluster.
func memberOf(c *scheduler.Cluster, subject metav1.Object) *replay.Member {
	if claim, ok := subject.(*resourcev1.ResourceClaim); ok {
		return replay.ClaimMember(claim, cycle.Options{})
	}
	return replay.PodMember(c, subject.(*corev1.Pod), cycle.Options{})
}

// certain reports whether it is known on which nodes a member fits.
func certain(t *replay.Turn) bool { return !t.MayWait && !t.Open && !t.Fails }

// fix notes a pod that may not be moved.
func (p *problem) fix(r *rule, pod *corev1.Pod) {
	at := slices.IndexFunc(p.fixed, func(f explain.FixedPods) bool { return f.Key == r.key })
	if at < 0 {
		at = len(p.fixed)
		p.fixed = append(p.fixed, explain.FixedPods{Key: r.key, Reason: r.reason})
	}
	p.fixed[at].Pods = append(p.fixed[at].Pods, cycle.SubjectOf(pod))
}

// step is a candidate that leaves its node and goes to another one. to is -1 for one that has so much choice
// that it is placed last.
type step struct {
	*candidate
	to int
}

// stepsAt returns the steps that change a node, in order: what a pod gets depends on who left before it came.
func stepsAt(steps []step, node int) []step {
	var out []step
	for _, s := range steps {
		if s.from == node || s.to == node {
			out = append(out, s)
		}
	}
	return out
}

// spent reports whether no more nodes may be asked.
func (p *problem) spent() bool { return p.left <= 0 }

// holding is the pod of a candidate if it holds claims that its replacement asks for, so that it has to go
// first.
func (m *candidate) holding() []*corev1.Pod {
	if m.pod == nil || !slices.ContainsFunc(m.pod.Spec.ResourceClaims, func(e corev1.PodResourceClaim) bool { return e.ResourceClaimName != nil }) {
		return nil
	}
	return []*corev1.Pod{m.pod}
}

// key is the same for candidates that get the same answers from nodes that they are not on.
func (m *candidate) key() string {
	if m.member.Shape == "" || m.pod == nil {
		return fmt.Sprint("#", m.id)
	}
	return m.member.Shape
}

// ask returns on which nodes of a cluster a candidate fits: of those given, or of all if they are nil. What
// is not certain counts as no.
func (p *problem) ask(ctx context.Context, c *scheduler.Cluster, m *candidate, nodes []*corev1.Node) ([]bool, error) {
	asked := len(nodes)
	if nodes == nil {
		asked = len(p.nodes)
	}
	p.left -= asked + clusterCost
	t, err := m.member.Ask(ctx, c, nodes)
	if err != nil {
		return nil, fmt.Errorf("looking for room for %s/%s: %w", m.subject.GetNamespace(), m.subject.GetName(), err)
	}
	fits := make([]bool, len(p.nodes))
	if !certain(t) {
		p.unsure = true
		return fits, nil
	}
	for i := range t.Options {
		fits[p.index[t.Options[i].Node]] = true
	}
	return fits, nil
}

// fits returns on which nodes a candidate fits as the cluster is.
func (p *problem) fits(ctx context.Context, m *candidate) ([]bool, error) {
	key := m.key()
	if known, ok := p.first[key]; ok {
		return known, nil
	}
	fits, err := p.ask(ctx, without(p.base, m.holding()...), m, nil)
	if err == nil {
		p.first[key] = fits
	}
	return fits, err
}

// fitsOn reports whether a candidate fits on a node after some steps.
func (p *problem) fitsOn(ctx context.Context, m *candidate, node int, steps []step) (bool, error) {
	steps = stepsAt(steps, node)
	if len(steps) == 0 {
		fits, err := p.fits(ctx, m)
		return err == nil && fits[node], err
	}
	key := fmt.Sprint(node)
	for _, s := range steps {
		key += fmt.Sprint(" ", s.id, s.from == node)
	}
	key += "?" + m.key()
	if fits, ok := p.known[key]; ok {
		return fits, nil
	}
	if p.spent() {
		return false, nil
	}
	c, err := p.changed(ctx, node, steps, m)
	if err != nil || c == nil {
		return false, err
	}
	fits, err := p.ask(ctx, c, m, p.nodes[node:node+1])
	if err != nil {
		return false, err
	}
	p.known[key] = fits[node]
	return fits[node], nil
}

// changed is a cluster in which steps have changed a node, as a candidate finds it. It is nil if one of those
// that come does not fit.
func (p *problem) changed(ctx context.Context, node int, steps []step, m *candidate) (*scheduler.Cluster, error) {
	gone := m.holding()
	for _, s := range steps {
		if s.to == node {
			gone = append(gone, s.pod) // which is elsewhere
		}
	}
	c := without(p.base, gone...)
	for _, s := range steps {
		p.left -= clusterCost
		if s.from == node {
			c = without(c, s.pod)
			continue
		}
		t, err := s.member.Ask(ctx, c, p.nodes[node:node+1])
		if err != nil {
			return nil, err
		}
		if len(t.Options) != 1 {
			return nil, nil
		}
		reservation, err := t.Options[0].Reserve(ctx)
		if err != nil {
			return nil, err
		}
		c = replay.With(c, reservation)
	}
	return c, nil
}

// cost is what it costs to move pods: the fewer the better, then the least important, then the youngest, then
// the fewest devices.
type cost struct {
	pods    int
	highest int32
	sum     int64
	oldest  int64 // when the oldest was created
	devices int
}

func costOf(candidates []*candidate) cost {
	out := cost{pods: len(candidates), highest: -1 << 31, oldest: 1 << 62}
	for _, m := range candidates {
		priority := corev1helpers.PodPriority(m.pod)
		out.highest = max(out.highest, priority)
		out.sum += int64(priority)
		out.oldest = min(out.oldest, m.pod.CreationTimestamp.Unix())
		out.devices += m.devices
	}
	return out
}
