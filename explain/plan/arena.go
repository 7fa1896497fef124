package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// arena is a cluster in which pods may be moved. What it says of a node depends on what is on that node alone.
type arena struct {
	base   *scheduler.Cluster
	opts   question.Options
	nodes  []*corev1.Node
	index  map[inspect.NodeName]int
	target *piece
	// pieces are the pods that may be moved, in the order of the snapshot, and on are those of a node.
	pieces []*piece
	on     [][]*piece
	// other are pods that may be moved, but depend on more than the node that they are on, or change more.
	other []*piece
	fixed []explain.FixedPods
	// partly says that not all choices were tried, and unsure that something was not certain.
	partly, unsure bool
	// left is how many more nodes may be asked.
	left int

	// known are answers of nodes that have changed, and first those of all nodes as they are. clears are the pods that make room
	// on them.
	known  map[string]bool
	first  map[string][]bool
	clears map[string]*clearings
}

// piece is a pod that may be moved, or what is to find room.
type piece struct {
	id int
	// pod is as it is in the cluster. It is nil for what is to find room.
	pod *corev1.Pod
	// subject is what is placed.
	subject metav1.Object
	member  *cycle.Member
	from    int // index of its node; -1 of what is to find room
	devices int
}

// cellCost is what it costs to build a cluster in which a node is another, in nodes that are asked.
const cellCost = 40

// newArena looks at who may be moved.
func newArena(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, asks int) (*arena, error) {
	a := &arena{
		base: c, opts: question.Options{Hypothetical: true}, nodes: c.Snapshot().Nodes(), index: map[inspect.NodeName]int{}, left: asks,
		known: map[string]bool{}, first: map[string][]bool{}, clears: map[string]*clearings{},
	}
	for i, node := range a.nodes {
		a.index[inspect.NodeName(node.Name)] = i
	}
	a.target = &piece{id: -1, subject: subject, from: -1}
	a.target.member = a.memberOf(a.target)
	a.on = make([][]*piece, len(a.nodes))
	local := map[string]bool{}
	for i, pod := range c.Snapshot().Objects().Pods {
		at, ok := a.index[inspect.NodeName(pod.Spec.NodeName)]
		if !ok || inspect.Ended(pod) {
			continue
		}
		if r := fixedBy(c.Snapshot(), pod); r != nil {
			a.fix(r, pod)
			continue
		}
		p := &piece{id: i, pod: pod, subject: replacementOf(pod), from: at, devices: a.devicesOf(pod)}
		p.member = a.memberOf(p)
		if _, known := local[p.member.Shape]; !known || p.member.Shape == "" {
			local[p.member.Shape] = a.local(ctx, p)
		}
		if !local[p.member.Shape] {
			a.other = append(a.other, p)
			continue
		}
		a.pieces, a.on[at] = append(a.pieces, p), append(a.on[at], p)
	}
	return a, ctx.Err()
}

// local reports whether where a piece can be placed depends on the node alone, and it changes nothing else.
func (a *arena) local(ctx context.Context, p *piece) bool {
	return !p.member.Unseen && cycle.Local(ctx, a.base, p.member)
}

// memberOf is a piece as it is placed. Claims that the pod names are those that it will find once it has ended.
func (a *arena) memberOf(p *piece) *cycle.Member {
	switch subject := p.subject.(type) {
	case *resourcev1.ResourceClaim:
		return question.ClaimMember(subject, a.opts)
	case *corev1.Pod:
		return question.Member(without(a.base, p.holding()), subject, a.opts)
	}
	return nil
}

// fix notes a pod that may not be moved.
func (a *arena) fix(r *rule, pod *corev1.Pod) {
	at := slices.IndexFunc(a.fixed, func(f explain.FixedPods) bool { return f.Key == r.key })
	if at < 0 {
		at = len(a.fixed)
		a.fixed = append(a.fixed, explain.FixedPods{Key: r.key, Reason: r.reason})
	}
	a.fixed[at].Pods = append(a.fixed[at].Pods, subjectOf(pod))
}

// devicesOf is the number of devices that a pod has.
func (a *arena) devicesOf(pod *corev1.Pod) int {
	n := 0
	for _, ref := range claimRefsOf(pod) {
		if claim, ok := a.base.Snapshot().Claim(ref); ok && claim.Status.Allocation != nil {
			n += len(claim.Status.Allocation.Devices.Results)
		}
	}
	return n
}

// claimRefsOf are the claims that a pod uses, as far as they exist.
func claimRefsOf(pod *corev1.Pod) []inspect.ClaimRef {
	var out []inspect.ClaimRef
	for i := range pod.Spec.ResourceClaims {
		if name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok && name != "" {
			out = append(out, inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		}
	}
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		out = append(out, inspect.ClaimRef{Namespace: pod.Namespace, Name: status.ResourceClaimName})
	}
	return out
}

// step is a piece that leaves its node and goes to another one. to is -1 for a piece that has so much choice that it is placed last.
type step struct {
	*piece
	to int
}

// at are the steps that change a node, in order: what a pod gets depends on who left before it came.
func at(steps []step, node int) []step {
	var out []step
	for _, s := range steps {
		if s.from == node || s.to == node {
			out = append(out, s)
		}
	}
	return out
}

// spent reports whether no more may be asked.
func (a *arena) spent() bool { return a.left <= 0 }

// fits says on which nodes a piece can be placed as the cluster is.
func (a *arena) fits(ctx context.Context, p *piece) ([]bool, error) {
	key := p.key()
	if known, ok := a.first[key]; ok {
		return known, nil
	}
	fits, err := a.ask(ctx, without(a.base, p.holding()), p, nil)
	if err == nil {
		a.first[key] = fits
	}
	return fits, err
}

// holding is the pod of a piece if it holds claims that the piece will ask for, so that it has to go first.
func (p *piece) holding() []*corev1.Pod {
	if p.pod == nil || !slices.ContainsFunc(p.pod.Spec.ResourceClaims, func(e corev1.PodResourceClaim) bool { return e.ResourceClaimName != nil }) {
		return nil
	}
	return []*corev1.Pod{p.pod}
}

// key is the same for pieces that get the same answers from nodes that they are not on.
func (p *piece) key() string {
	if p.member.Shape == "" || p.pod == nil {
		return fmt.Sprint("#", p.id)
	}
	return p.member.Shape
}

// ask puts a piece to nodes of a cluster, or to all. What is not certain counts as no.
func (a *arena) ask(ctx context.Context, c *scheduler.Cluster, p *piece, nodes []*corev1.Node) ([]bool, error) {
	asked := len(nodes)
	if nodes == nil {
		asked = len(a.nodes)
	}
	a.left -= asked + cellCost
	t, err := p.member.Ask(ctx, c, nodes)
	if err != nil {
		return nil, fmt.Errorf("looking for room for %s/%s: %w", p.subject.GetNamespace(), p.subject.GetName(), err)
	}
	fits := make([]bool, len(a.nodes))
	if t.MayWait || t.Open || t.Fails {
		a.unsure = true
		return fits, nil
	}
	for i := range t.Options {
		fits[a.index[t.Options[i].Node]] = true
	}
	return fits, nil
}

// fitsOn says whether a piece can be placed on a node once steps were made.
func (a *arena) fitsOn(ctx context.Context, p *piece, node int, steps []step) (bool, error) {
	there := at(steps, node)
	if len(there) == 0 {
		fits, err := a.fits(ctx, p)
		return err == nil && fits[node], err
	}
	key := cellKey(node, there) + "?" + p.key()
	if fits, ok := a.known[key]; ok {
		return fits, nil
	}
	if a.spent() {
		return false, nil
	}
	c, err := a.cell(ctx, node, there, p)
	if err != nil || c == nil {
		return false, err
	}
	fits, err := a.ask(ctx, c, p, a.nodes[node:node+1])
	if err != nil {
		return false, err
	}
	a.known[key] = fits[node]
	return fits[node], nil
}

// cell is a cluster in which steps have changed a node, as a piece finds it. It is nil if one of those that come does not fit.
func (a *arena) cell(ctx context.Context, node int, steps []step, p *piece) (*scheduler.Cluster, error) {
	held := p.holding()
	for _, s := range steps {
		if s.to == node {
			held = append(held, s.pod) // which is elsewhere
		}
	}
	c := without(a.base, held)
	for _, s := range steps {
		a.left -= cellCost
		if s.from == node {
			c = without(c, []*corev1.Pod{s.pod})
			continue
		}
		t, err := s.member.Ask(ctx, c, a.nodes[node:node+1])
		if err != nil {
			return nil, err
		}
		if len(t.Options) != 1 {
			return nil, nil
		}
		taking, err := t.Options[0].Take(ctx)
		if err != nil {
			return nil, err
		}
		c = cycle.With(c, taking)
	}
	return c, nil
}

func cellKey(node int, steps []step) string {
	var b strings.Builder
	fmt.Fprint(&b, node)
	for _, s := range steps {
		if s.from == node {
			fmt.Fprint(&b, " -", s.id)
		} else {
			fmt.Fprint(&b, " +", s.id)
		}
	}
	return b.String()
}

// cost is what it costs to move pods: the fewer the better, then the least important, then the youngest, then the fewest devices.
type cost struct {
	pods    int
	highest int32
	sum     int64
	oldest  int64 // when the oldest was created
	devices int
}

func costOf(pieces []*piece) cost {
	out := cost{pods: len(pieces), highest: -1 << 31, oldest: 1 << 62}
	for _, p := range pieces {
		priority := corev1helpers.PodPriority(p.pod)
		out.highest = max(out.highest, priority)
		out.sum += int64(priority)
		out.oldest = min(out.oldest, p.pod.CreationTimestamp.Unix())
		out.devices += p.devices
	}
	return out
}
