package plan

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// simulation is a cluster in which pods are placed one after the other, as kube-scheduler places them.
//
// Pods of one shape get the same answer from a node on which nothing has changed, so what nodes said to a shape is kept, and only
// those are asked again on which something was placed since. That holds as long as what is placed changes nothing but what is left
// of its node.
type simulation struct {
	cluster *scheduler.Cluster
	opts    question.Options
	// local says of shapes whether what they take is of their node alone.
	local map[string]bool
	turns map[string]*knownTurn
	// changed has the node that each step changed.
	changed []inspect.NodeName
	index   map[inspect.NodeName]int
}

// knownTurn is what the nodes say to pods of a shape.
type knownTurn struct {
	fits []bool // by the index of the node
	// seen is the number of changes that are taken into account.
	seen int
}

// newSimulation begins with a cluster as it is.
func newSimulation(c *scheduler.Cluster) *simulation {
	s := &simulation{opts: question.Options{Hypothetical: true}}
	s.reset(c)
	return s
}

// reset goes on with another cluster, of which nothing is known.
func (s *simulation) reset(c *scheduler.Cluster) {
	s.cluster, s.local = c, map[string]bool{}
	s.turns, s.changed = map[string]*knownTurn{}, nil
	s.index = make(map[inspect.NodeName]int, len(c.Snapshot().Nodes()))
	for i, node := range c.Snapshot().Nodes() {
		s.index[inspect.NodeName(node.Name)] = i
	}
}

// fork is a simulation that goes on by itself from here.
func (s *simulation) fork() *simulation {
	out := *s
	out.changed = slices.Clip(s.changed)
	out.turns = make(map[string]*knownTurn, len(s.turns))
	for shape, t := range s.turns {
		out.turns[shape] = &knownTurn{slices.Clone(t.fits), t.seen}
	}
	return &out
}

// forkFor is fork where only pods of one shape are asked about.
func (s *simulation) forkFor(shape string) *simulation {
	out := *s
	out.changed, out.local, out.turns = slices.Clip(s.changed), maps.Clone(s.local), map[string]*knownTurn{}
	if t, ok := s.turns[shape]; ok {
		out.turns[shape] = &knownTurn{slices.Clone(t.fits), t.seen}
	}
	return &out
}

// turn is what may become of a pod at its turn.
type turn struct {
	member *cycle.Member
	// nodes may be chosen, in the order of the cluster.
	nodes []*corev1.Node
	// mayWait, open and fails are those of a cycle.Turn.
	mayWait, open, fails bool
}

// ask says where a pod can be placed now.
func (s *simulation) ask(ctx context.Context, pod *corev1.Pod) (*turn, error) {
	m := cycle.PodMember(s.cluster, pod, cycle.Options{})
	all := s.cluster.Snapshot().Nodes()
	known, ok := s.turns[m.Shape]
	if !ok || m.Shape == "" || m.NonLocal || m.Unseen {
		t, err := m.Ask(ctx, s.cluster, nil)
		if err != nil {
			return nil, err
		}
		out := &turn{member: m, mayWait: t.MayWait, open: t.Open, fails: t.Fails}
		fits := make([]bool, len(all))
		for i := range t.Options {
			if at, ok := s.index[t.Options[i].Node]; ok {
				fits[at] = true
			}
		}
		out.take(all, fits)
		if m.Shape != "" && !m.NonLocal && !m.Unseen && !t.MayWait && !t.Open && !t.Fails {
			s.turns[m.Shape] = &knownTurn{fits, len(s.changed)}
		}
		return out, nil
	}
	sure, err := s.update(ctx, m, known)
	if err != nil || !sure {
		delete(s.turns, m.Shape)
		if err != nil {
			return nil, err
		}
		return s.ask(ctx, pod)
	}
	out := &turn{member: m}
	out.take(all, known.fits)
	return out, nil
}

// take notes the nodes that fit.
func (t *turn) take(all []*corev1.Node, fits []bool) {
	n := 0
	for _, ok := range fits {
		if ok {
			n++
		}
	}
	t.nodes = make([]*corev1.Node, 0, n)
	for i, ok := range fits {
		if ok {
			t.nodes = append(t.nodes, all[i])
		}
	}
}

// update asks the nodes that have changed since. It reports whether the answers are certain.
func (s *simulation) update(ctx context.Context, m *cycle.Member, known *knownTurn) (sure bool, err error) {
	all := s.cluster.Snapshot().Nodes()
	var nodes []*corev1.Node
	asked := map[int]bool{}
	for _, name := range s.changed[known.seen:] {
		if at, ok := s.index[name]; ok && !asked[at] {
			asked[at] = true
			nodes = append(nodes, all[at])
		}
	}
	known.seen = len(s.changed)
	if len(nodes) == 0 {
		return true, nil
	}
	t, err := m.Ask(ctx, s.cluster, nodes)
	if err != nil {
		return false, err
	}
	for at := range asked {
		known.fits[at] = false
	}
	for i := range t.Options {
		known.fits[s.index[t.Options[i].Node]] = true
	}
	return !t.MayWait && !t.Open && !t.Fails, nil
}

// place puts a pod on one of the nodes of its turn.
func (s *simulation) place(ctx context.Context, t *turn, node *corev1.Node) (*cycle.Taking, error) {
	answer, err := t.member.Ask(ctx, s.cluster, []*corev1.Node{node})
	if err != nil {
		return nil, err
	}
	if len(answer.Options) != 1 {
		return nil, nil
	}
	taking, err := answer.Options[0].Take(ctx)
	if err != nil {
		return nil, err
	}
	s.put(ctx, t.member, taking)
	return taking, nil
}

// put notes what a pod takes.
func (s *simulation) put(ctx context.Context, m *cycle.Member, taking *cycle.Taking) {
	s.cluster = cycle.With(s.cluster, taking)
	node := inspect.NodeName(taking.Pod.Spec.NodeName)
	if _, known := s.local[m.Shape]; !known || m.Shape == "" {
		s.local[m.Shape] = cycle.Local(ctx, s.cluster, m)
	}
	onlyNode := s.local[m.Shape] && !m.Unseen && !slices.ContainsFunc(taking.Claims, func(claim *resourcev1.ResourceClaim) bool {
		return whatif.PinnedNode(claim.Status.Allocation.NodeSelector) != node
	})
	if !onlyNode {
		s.turns = map[string]*knownTurn{}
		return
	}
	s.changed = append(s.changed, node)
}
