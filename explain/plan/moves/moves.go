package moves

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

const (
	// maxMoves is more pods than anybody moves.
	maxMoves = 16
	// maxAsks is how many nodes may be asked, which takes about a second, and fewAsks how many for a cheaper
	// plan once there is one.
	maxAsks, fewAsks = 400_000, 40_000
	// maxDestinations is the number of nodes that are tried for a pod that depends on more than its node.
	maxDestinations = 4
)

// MakeRoom finds the fewest pods that have to go elsewhere so that a pod or a claim fits, which need not be
// in the snapshot of the cluster. Pods are moved one after the other, each at most once, and only such as a
// controller recreates. Every plan was tried in the whole cluster. The error is that of the context, or of a
// question that could not be put.
func MakeRoom(ctx context.Context, c *scheduler.Cluster, subject metav1.Object) (*explain.Moves, error) {
	p, err := newProblem(ctx, c, subject, maxAsks)
	if err != nil {
		return nil, err
	}
	out := &explain.Moves{Subject: cycle.SubjectOf(subject), Fixed: p.fixed, Partial: cycle.Unread(c.Snapshot()), Basis: cycle.BasisOf(c)}
	if placed(subject) {
		out.Verdict, out.Message, out.Proven = explain.Feasible, "has its place already", true
		return out, nil
	}
	if err := p.answer(ctx, out); err != nil || out.Verdict != explain.Feasible {
		return out, err
	}
	pod, _ := subject.(*corev1.Pod)
	doubts, err := plan.UnseenRoom(ctx, c, pod)
	if err != nil || len(doubts) == 0 {
		return out, err
	}
	out.Verdict, out.Message, out.Proven = explain.JointUnknown, doubts[0], false
	if len(out.Moves) > 0 {
		out.Doubts = append(out.Doubts, doubts...)
	}
	return out, nil
}

// placed reports whether a pod or a claim has what it needs.
func placed(subject metav1.Object) bool {
	switch subject := subject.(type) {
	case *corev1.Pod:
		return subject.Spec.NodeName != ""
	case *resourcev1.ResourceClaim:
		return subject.Status.Allocation != nil
	}
	return false
}

// answer is MakeRoom by what is known.
func (p *problem) answer(ctx context.Context, out *explain.Moves) error {
	s := p.base.Snapshot()
	if s.NodesAssumed() {
		out.Verdict, out.Message = explain.JointUnknown, "there are no nodes to look at, but only slices that name some"
		return nil
	}
	turn, err := p.target.member.Ask(ctx, p.base, nil)
	if err != nil {
		return fmt.Errorf("looking for room for %s: %w", out.Subject.FullName(), err)
	}
	unread := s.Health(inspect.Pods).Partial() || s.Health(inspect.Claims).Partial()
	switch {
	case len(turn.Options) == 0 && !turn.Open && !turn.Fails && unread:
		return p.withAllGone(ctx, out)
	case turn.MayWait || turn.Open:
		out.Verdict, out.Message = explain.JointUnknown, "something that decides about it is not known; explain says what"
	case turn.Fails:
		out.Verdict, out.Message = explain.JointUnknown, "kube-scheduler gives up on it with an error; explain says why"
	case len(turn.Options) > 0:
		out.Verdict, out.Proven = explain.Feasible, true
		out.Message = fmt.Sprintf("fits on %s already, so nothing has to be moved", words.Count(len(turn.Options), "node"))
	default:
		return p.makeRoom(ctx, out)
	}
	return nil
}

// withAllGone says of a target that fits nowhere whether that would be so without all pods and claims, where
// not all of these are known: those could be moved too.
func (p *problem) withAllGone(ctx context.Context, out *explain.Moves) error {
	out.Verdict, out.Message = explain.JointUnknown, "not all pods and claims could be read, so there may be others to move"
	if p.target.member.NonLocal {
		return nil
	}
	empty := scheduler.NewCluster(p.base.Snapshot().With(func(o *inspect.Objects) {
		o.Pods = nil
		o.Claims = slices.Clone(o.Claims)
		for i, claim := range o.Claims {
			free := *claim
			free.Status = resourcev1.ResourceClaimStatus{}
			o.Claims[i] = &free
		}
	}), scheduler.Options{Like: p.base})
	t, err := p.target.member.Ask(ctx, empty, nil)
	if err == nil && len(t.Options) == 0 && !t.Open && !t.Fails {
		out.Verdict, out.Message = explain.Infeasible, "does not even fit without all other pods and claims"
	}
	return err
}

// makeRoom looks for plans of more and more moves.
func (p *problem) makeRoom(ctx context.Context, out *explain.Moves) error {
	if hopeless, err := p.hopeless(ctx); err != nil || hopeless {
		out.Verdict, out.Message = explain.Infeasible, "does not even fit once all pods are gone that may be moved"
		return err
	}
	out.AtLeast = 1
	if !p.local(ctx, p.target) {
		single, err := p.single(ctx, slices.Concat(p.movable, p.other), nil)
		if err != nil || single != nil {
			p.take(out, single)
			return err
		}
		out.Verdict = explain.JointUnknown
		out.Message = "where it fits depends on more than one node, and no single move was found that makes room; more were not tried"
		return nil
	}
	if stuck, err := p.stuck(ctx); err != nil || stuck {
		out.Verdict, out.AtLeast = explain.Infeasible, 0
		out.Message = "has no room unless pods go, and none that may be moved fits on another node"
		return err
	}
	for moves := 1; moves <= maxMoves; moves++ {
		progress.Say(ctx, "moving "+words.Count(moves, "pod"))
		s := &search{problem: p, moves: moves}
		if err := s.run(ctx); err != nil {
			return err
		}
		if moves == 1 {
			var bound *cost
			if s.best != nil {
				bound = &s.bestCost
			}
			other, err := p.single(ctx, p.other, bound)
			if err != nil {
				return err
			}
			s.best = cmp.Or(other, s.best)
		}
		if s.best != nil {
			p.take(out, s.best)
			return nil
		}
		if p.spent() {
			break
		}
		if !p.partly {
			out.AtLeast = p.refuted(moves)
		}
		if !s.cut || moves >= len(p.movable) {
			p.none(out)
			return nil
		}
	}
	out.Verdict, out.Message = explain.JointUnknown, "not all moves were tried"
	return nil
}

// refuted is how many pods have to be moved at least if plans of so many moves do not do.
func (p *problem) refuted(moves int) int {
	if len(p.other) > 0 || p.unsure { // of the others, only single moves were tried
		return 2
	}
	return moves + 1
}

// none says that nothing was found, and more moves could not find more.
func (p *problem) none(out *explain.Moves) {
	if len(p.other) > 0 || p.unsure || p.partly {
		out.Verdict = explain.JointUnknown
		out.Message = "no moves were found that make room, but not all were tried"
		return
	}
	out.Verdict, out.AtLeast = explain.Infeasible, 0
	out.Message = "has no room unless pods go that do not fit on other nodes"
}

// take notes a plan that was tried.
func (p *problem) take(out *explain.Moves, t *trial) {
	if t == nil {
		return
	}
	out.Verdict, out.Moves, out.Target, out.Doubts = explain.Feasible, t.moves, t.target, t.doubts
	out.Proven = out.AtLeast == len(t.moves)
	if len(out.Doubts) > 0 {
		out.Verdict, out.Message = explain.JointUnknown, "others may come in between"
	}
	out.Partial = append(out.Partial, "PodDisruptionBudgets are not taken into account: one may forbid that a pod is ended now")
	if users := p.users(); len(users) > 0 {
		out.Partial = append(out.Partial, fmt.Sprintf("whether %s fits beside the devices was not asked: ask about the pod", users[0]))
	}
}

// users are the pods that use the claim for which room is made.
func (p *problem) users() []inspect.PodRef {
	if claim, ok := p.target.subject.(*resourcev1.ResourceClaim); ok {
		return p.base.Snapshot().PodsOf(inspect.RefOf(claim))
	}
	return nil
}

// hopeless reports whether the target fits nowhere even without all pods that may be moved. Where it depends
// on where others are, that says nothing: it may have to be with them, or where as many are.
func (p *problem) hopeless(ctx context.Context) (bool, error) {
	if p.target.member.NonLocal {
		return false, nil
	}
	gone := words.Each(slices.Concat(p.movable, p.other), func(m *candidate) *corev1.Pod { return m.pod })
	t, err := p.target.member.Ask(ctx, without(p.base, gone...), nil)
	return err == nil && len(t.Options) == 0 && certain(t), err
}

// stuck reports whether no pod can be moved at all as the cluster is. Then none can be the first.
func (p *problem) stuck(ctx context.Context) (bool, error) {
	for _, m := range slices.Concat(p.movable, p.other) {
		fits, err := p.fits(ctx, m)
		if err != nil {
			return false, err
		}
		for node, ok := range fits {
			if ok && node != m.from {
				return false, nil
			}
		}
	}
	return !p.unsure && len(p.other) == 0, nil
}

// single tries to move one pod, whatever depends on where pods are: the cheapest one that costs less than
// bound, if that is not nil.
func (p *problem) single(ctx context.Context, candidates []*candidate, bound *cost) (*trial, error) {
	candidates = slices.Clone(candidates)
	slices.SortStableFunc(candidates, func(x, y *candidate) int {
		return costOf([]*candidate{x}).compare(costOf([]*candidate{y}))
	})
	for _, m := range candidates {
		if bound != nil && costOf([]*candidate{m}).compare(*bound) >= 0 {
			break
		}
		if p.spent() {
			p.partly = true
			break
		}
		gone := without(p.base, m.pod)
		fits, err := p.ask(ctx, gone, p.target, nil)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(fits, true) {
			continue
		}
		if t, err := p.singleTo(ctx, m, gone); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// singleTo looks for a node for a pod without which the target fits.
func (p *problem) singleTo(ctx context.Context, m *candidate, gone *scheduler.Cluster) (*trial, error) {
	turn, err := m.member.Ask(ctx, gone, nil)
	if err != nil || !certain(turn) {
		p.partly = true
		return nil, err
	}
	options := slices.DeleteFunc(turn.Options, func(o replay.Option) bool { return p.index[o.Node] == m.from })
	if len(options) > maxDestinations {
		p.partly, options = true, options[:maxDestinations]
	}
	for _, o := range options {
		reservation, err := o.Reserve(ctx)
		if err != nil {
			return nil, err
		}
		fits, err := p.ask(ctx, replay.With(gone, reservation), p.target, nil)
		if err != nil {
			return nil, err
		}
		for node, ok := range fits {
			if !ok {
				continue
			}
			if t, err := p.try(ctx, []step{{m, p.index[o.Node]}}, node); t != nil || err != nil {
				return t, err
			}
		}
	}
	return nil, nil
}
