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
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// ShapeOptions say which nodes may be added.
type ShapeOptions struct {
	// Prices decide which answer is best. If they are nil, and no shape has a price of its own, that is the one with the fewest nodes.
	Prices *nodeshape.Prices
	// Max is the most nodes that may be added. 0 is as many as there are pods.
	Max int
	// Others are pods that wait too and are not asked about. Where they may take room that is asked for, no answer is a certain yes.
	Others []*corev1.Pod
	// Within is the namespace of which all pods are asked about that wait. It is "" if that is no matter of a namespace.
	Within string
	// Unseen says of pods that more is asked for than is known, a sentence each: then no answer is a certain yes.
	Unseen []string
}

// Shapes says which nodes, and how many of them, make pods fit that need not be in the snapshot of the cluster. Each answer was
// found by placing all pods in the cluster with these nodes. The error is that of the context, or of a question that could not be put.
func Shapes(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, shapes []nodeshape.Shape, opts ShapeOptions) (*explain.ShapePlan, error) {
	s := &shaper{base: c, shapes: withDaemons(c.Snapshot(), shapes), opts: opts, questions: question.Options{Hypothetical: true}}
	s.out = &explain.ShapePlan{Partial: question.Limits(c.Snapshot()), Basis: question.Basis(c)}
	if c.Snapshot().NodesAssumed() {
		return nil, fmt.Errorf("adding nodes to the cluster: its nodes could not be read")
	}
	s.price()
	s.out.Unseen = unseen(c.Snapshot(), opts.Within, opts.Unseen)
	if err := s.lookAtOthers(ctx, pods); err != nil {
		return nil, err
	}
	foreigners, err := otherSchedulers(ctx, s.withEach(), pods)
	if err != nil {
		return nil, err
	}
	s.out.Unseen = append(slices.Clip(s.out.Unseen), append(foreigners, unknownTurns(pods)...)...)
	s.out.Unseen = append(s.out.Unseen, shortOfQuota(c.Snapshot(), pods)...)
	if err := s.begin(ctx, pods); err != nil {
		return nil, err
	}
	if s.out.Fits || s.out.MayFit {
		return s.out, nil
	}
	for i := range s.shapes {
		answer, err := s.single(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("adding nodes like %s: %w", s.shapes[i].Name, err)
		}
		s.out.Shapes = append(s.out.Shapes, *answer)
	}
	if err := s.mix(ctx); err != nil {
		return nil, err
	}
	s.doubt()
	s.rank()
	return s.out, nil
}

// doubt makes no answer a certain yes where more is asked for than is known.
func (s *shaper) doubt() {
	for i := range s.out.Shapes {
		if a := &s.out.Shapes[i]; len(s.out.Unseen) > 0 && a.Verdict == explain.ShapeFits {
			a.Verdict, a.Minimal, a.Why = explain.ShapeMayFit, false, s.out.Unseen[0]
			a.AtBest, a.AtBestProven = a.Nodes(), a.AtBestProven && a.AtBest == a.Nodes()
		}
	}
}

// shaper adds nodes to a cluster and looks what becomes of pods.
type shaper struct {
	base      *scheduler.Cluster
	shapes    []nodeshape.Shape
	opts      ShapeOptions
	questions question.Options
	out       *explain.ShapePlan
	// pods are those that a node may help, in the order of the queue.
	pods []*corev1.Pod
	// kinds are the pods that are alike.
	kinds []*podKind
	// kindOf has the kind of each pod.
	kindOf map[explain.Subject]*podKind
	// local says that a pod that is placed changes nothing for others but what is left of its node. Then small is the cluster with
	// those nodes alone on which any pod fits, and else it is the whole.
	local bool
	small *scheduler.Cluster
	// blockers has for each shape what other pods take at least that keep one of a kind off a fresh node of it.
	blockers map[int]map[*podKind]weights
}

// podKind is pods that differ in nothing but their names.
type podKind struct {
	pods []*corev1.Pod
	// fits is the number of nodes of the cluster as it is on which one fits, and onFresh says of which shapes a fresh node holds one.
	fits    int
	onFresh []bool
	// unsure says that something is not known that decides about it, and fails that the scheduler gives up on it with an error.
	unsure, fails bool
	member        *cycle.Member
	weight        weights
}

// price gives the shapes their prices.
func (s *shaper) price() {
	for i := range s.shapes {
		s.shapes[i].Price = s.opts.Prices.Of(&s.shapes[i])
		s.out.Priced = s.out.Priced || s.shapes[i].Price != nil
	}
	if s.opts.Prices != nil {
		s.out.Currency = s.opts.Prices.Currency
	}
}

// begin places the pods in the cluster as it is, and sorts out those that no node helps.
func (s *shaper) begin(ctx context.Context, pods []*corev1.Pod) error {
	r := newFreeReplay(newSimulation(s.base))
	if err := r.run(ctx, pods); err != nil {
		return err
	}
	s.out.Pods = len(r.asked) + len(r.out.Running)
	for _, w := range r.waiting {
		s.out.Waiting = append(s.out.Waiting, subjectOf(w.pod))
	}
	switch {
	case len(r.waiting) == 0 && len(s.out.Unseen) > 0:
		s.out.MayFit = true
		return nil
	case len(r.waiting) == 0 && !r.doubtful:
		if err := r.certain(ctx, s.base); err != nil {
			return err
		}
		if s.out.Fits = r.out.Certain; s.out.Fits {
			return nil
		}
	}
	if err := s.sort(ctx, r.pods()); err != nil {
		return err
	}
	s.sortGroups()
	if len(s.out.Stuck) == 0 {
		return s.narrow(ctx)
	}
	rest := newFreeReplay(newSimulation(s.base))
	if err := rest.run(ctx, s.pods); err != nil {
		return err
	}
	if err := rest.certain(ctx, s.base); err != nil {
		return err
	}
	s.out.Fits = len(rest.waiting) == 0 && rest.out.Certain && len(s.out.Unseen) == 0
	s.out.MayFit = len(rest.waiting) == 0 && len(s.out.Unseen) > 0
	return s.narrow(ctx)
}

// lookAtOthers notes pods that wait too and may take room on the nodes that there are, or that are added.
func (s *shaper) lookAtOthers(ctx context.Context, pods []*corev1.Pod) error {
	others, err := rivals(ctx, s.withEach(), pods, s.opts.Others)
	if err != nil || len(others) == 0 {
		return err
	}
	var names []string
	for _, pod := range others {
		names = append(names, subjectOf(pod).FullName())
	}
	s.out.Unseen = append(slices.Clip(s.out.Unseen), fmt.Sprintf("%s too and may take the room first (%s); ask about pending to count all",
		words.Plural(len(names), "1 other pod waits", fmt.Sprintf("%d other pods wait", len(names))), words.Shorten(names, maxNamed)))
	return nil
}

// sort finds the kinds of the pods, and which of them no node helps.
func (s *shaper) sort(ctx context.Context, pods []*corev1.Pod) error {
	all := s.withEach()
	s.kindOf = map[explain.Subject]*podKind{}
	known := map[string]*podKind{}
	stuck := map[*podKind]*explain.PendingPod{}
	for _, pod := range pods {
		m := question.Member(s.base, pod, s.questions)
		kind := known[m.Shape]
		if kind == nil || m.Shape == "" {
			kind = &podKind{pods: []*corev1.Pod{pod}, member: m}
			if err := s.look(ctx, all, kind); err != nil {
				return err
			}
			known[m.Shape] = kind
			why, err := s.stuck(ctx, kind)
			if err != nil {
				return err
			}
			if why == nil {
				s.kinds = append(s.kinds, kind)
			} else {
				why.Alike = len(stuck)
			}
			stuck[kind] = why
		} else {
			kind.pods = append(kind.pods, pod)
		}
		s.kindOf[m.Subject] = kind
		if why := stuck[kind]; why != nil {
			own := *why
			own.Subject = m.Subject
			s.out.Stuck = append(s.out.Stuck, own)
			continue
		}
		s.pods = append(s.pods, pod)
	}
	return nil
}

// withEach is the cluster with one node of each shape.
func (s *shaper) withEach() *scheduler.Cluster {
	return grown(s.base, func(o *inspect.Objects) {
		for i := range s.shapes {
			s.shapes[i].Add(o, 0)
		}
	})
}

// withGiven is the cluster with one node of each shape that is described elsewhere. Copies of what there is tell nothing new.
func (s *shaper) withGiven() *scheduler.Cluster {
	if !slices.ContainsFunc(s.shapes, func(n nodeshape.Shape) bool { return n.Source != nodeshape.Cluster }) {
		return s.base
	}
	return grown(s.base, func(o *inspect.Objects) {
		for i := range s.shapes {
			if s.shapes[i].Source != nodeshape.Cluster {
				s.shapes[i].Add(o, 0)
			}
		}
	})
}

func grown(c *scheduler.Cluster, change func(*inspect.Objects)) *scheduler.Cluster {
	return scheduler.NewCluster(c.Snapshot().With(change), scheduler.Options{Like: c})
}

// look asks all nodes, and one of each shape, about a kind of pod.
func (s *shaper) look(ctx context.Context, all *scheduler.Cluster, kind *podKind) error {
	t, err := kind.member.Ask(ctx, s.base, nil)
	if err != nil {
		return err
	}
	kind.fits, kind.unsure, kind.fails = len(t.Options), t.MayWait || t.Open, t.Fails
	kind.onFresh = make([]bool, len(s.shapes))
	nodes := make([]*corev1.Node, len(s.shapes))
	for i := range s.shapes {
		node, ok := all.Snapshot().Node(s.shapes[i].NodeName(0))
		if !ok {
			return fmt.Errorf("adding a node like %s: there is a node of that name", s.shapes[i].Name)
		}
		nodes[i] = node
	}
	if len(nodes) == 0 {
		return nil
	}
	if t, err = kind.member.Ask(ctx, all, nodes); err != nil {
		return err
	}
	kind.unsure = kind.unsure || t.MayWait || t.Open
	kind.fails = kind.fails || t.Fails
	for i := range s.shapes {
		kind.onFresh[i] = slices.ContainsFunc(t.Options, func(o cycle.Option) bool { return o.Node == s.shapes[i].NodeName(0) })
	}
	return nil
}

// stuck says why no node helps pods of a kind, or nil if one may. That a pod depends on where others are is no reason.
func (s *shaper) stuck(ctx context.Context, kind *podKind) (*explain.PendingPod, error) {
	if kind.fits > 0 || slices.Contains(kind.onFresh, true) || kind.unsure || (kind.member.NonLocal || kind.member.Unseen) && !s.heldBack(kind.pods[0]) {
		return nil, nil
	}
	e, err := question.PodObject(ctx, s.withGiven(), kind.pods[0], s.questions)
	if err != nil {
		return nil, err
	}
	return pendingBy(e, &turn{member: kind.member, fails: kind.fails}), nil
}

// heldBack reports whether something keeps a pod from being placed before any node is asked.
func (s *shaper) heldBack(pod *corev1.Pod) bool {
	return len(s.base.Filters().Prepare(pod).Everywhere.Refusals) > 0
}

// narrow leaves out the nodes that take no part.
func (s *shaper) narrow(ctx context.Context) error {
	subjects := make([]metav1.Object, len(s.pods))
	for i, pod := range s.pods {
		subjects[i] = pod
	}
	s.small = s.base
	s.local = question.Row(ctx, s.withEach(), subjects, s.questions).Local &&
		!slices.ContainsFunc(s.kinds, func(k *podKind) bool { return k.member.NonLocal || k.member.Unseen || k.fails || k.unsure })
	if !s.local {
		return nil
	}
	keep := map[string]bool{}
	for _, kind := range s.kinds {
		t, err := kind.member.Ask(ctx, s.base, nil)
		if err != nil {
			return err
		}
		for i := range t.Options {
			keep[string(t.Options[i].Node)] = true
		}
	}
	if len(keep) == 0 { // without any, the nodes would be taken to be unknown
		for _, node := range s.base.Snapshot().Nodes()[:1] {
			keep[node.Name] = true
		}
	}
	s.small = grown(s.base, func(o *inspect.Objects) {
		o.Nodes = slices.DeleteFunc(o.Nodes, func(n *corev1.Node) bool { return !keep[n.Name] })
	})
	return nil
}
