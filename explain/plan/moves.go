package plan

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
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// MoveOptions say how far moves are looked for.
type MoveOptions struct {
	// Most is the number of pods that may be moved. 0 is a number that is more than anybody moves.
	Most int
	// Asks is the number of nodes that may be asked. 0 is a number that takes about a second.
	Asks int
}

const (
	defaultMost = 16
	defaultAsks = 400_000
	// fewAsks is how much is asked for a cheaper plan once there is one.
	fewAsks = 40_000
)

// MakeRoom finds the fewest pods that have to go elsewhere so that a pod or a claim fits, which need not be in the snapshot of the
// cluster. Pods are moved one after the other, each at most once, and only such as a controller makes anew. Every plan was rehearsed in the
// whole cluster. The error is that of the context, or of a question that could not be put.
func MakeRoom(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, opts MoveOptions) (*explain.Moves, error) {
	out, err := moves(ctx, c, subject, opts)
	if err != nil || there(subject) || out.Verdict != explain.Feasible {
		return out, err
	}
	doubts, err := unseenTarget(ctx, c, subject)
	if err != nil || len(doubts) == 0 {
		return out, err
	}
	out.Verdict, out.Message, out.Proven = explain.JointUnknown, doubts[0], false
	if len(out.Moves) > 0 {
		out.Doubts = append(out.Doubts, doubts...)
	}
	return out, nil
}

// unseenTarget says what is not known of the room for something, a sentence each.
func unseenTarget(ctx context.Context, c *scheduler.Cluster, subject metav1.Object) ([]string, error) {
	var out []string
	if text := unseenDevices(c.Snapshot()); text != "" {
		out = append(out, text)
	}
	pod, ok := subject.(*corev1.Pod)
	if !ok {
		return out, nil
	}
	out = append(out, shortOfQuota(c.Snapshot(), []*corev1.Pod{pod})...)
	foreigners, err := otherSchedulers(ctx, c, []*corev1.Pod{pod})
	return append(out, foreigners...), err
}

// moves is MakeRoom, of what is known.
func moves(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, opts MoveOptions) (*explain.Moves, error) {
	a, err := newArena(ctx, c, subject, cmp.Or(opts.Asks, defaultAsks))
	if err != nil {
		return nil, err
	}
	out := &explain.Moves{Subject: a.subject(), Fixed: a.fixed, Partial: question.Limits(c.Snapshot()), Basis: question.Basis(c)}
	if there(subject) {
		out.Verdict, out.Message, out.Proven = explain.Feasible, "has its place already", true
		return out, nil
	}
	if c.Snapshot().NodesAssumed() {
		out.Verdict, out.Message = explain.JointUnknown, "there are no nodes to look at, but only slices that name some"
		return out, nil
	}
	turn, err := a.target.member.Ask(ctx, c, nil)
	if err != nil {
		return nil, fmt.Errorf("looking for room for %s: %w", out.Subject.FullName(), err)
	}
	switch {
	case len(turn.Options) == 0 && !turn.Open && !turn.Fails && a.unread():
		return out, a.withAllGone(ctx, out)
	case turn.MayWait || turn.Open:
		out.Verdict, out.Message = explain.JointUnknown, "something that decides about it is not known; explain says what"
	case turn.Fails:
		out.Verdict, out.Message = explain.JointUnknown, "kube-scheduler gives up on it with an error; explain says why"
	case len(turn.Options) > 0:
		out.Verdict, out.Proven = explain.Feasible, true
		out.Message = fmt.Sprintf("fits on %s already, so nothing has to be moved", words.Count(len(turn.Options), "node"))
	default:
		return out, a.makeRoom(ctx, out, cmp.Or(opts.Most, defaultMost))
	}
	return out, nil
}

// unread reports whether there may be pods that are not known, or claims. Those could be moved too.
func (a *arena) unread() bool {
	s := a.base.Snapshot()
	return s.Health(inspect.Pods).Partial() || s.Health(inspect.Claims).Partial()
}

// withAllGone says of a target that fits nowhere whether that would be so without all pods and claims, where not all of these are known.
func (a *arena) withAllGone(ctx context.Context, out *explain.Moves) error {
	out.Verdict, out.Message = explain.JointUnknown, "not all pods and claims could be read, so there may be others to move"
	if a.target.member.NonLocal {
		return nil
	}
	empty := scheduler.NewCluster(a.base.Snapshot().With(func(o *inspect.Objects) {
		o.Pods = nil
		o.Claims = slices.Clone(o.Claims)
		for i, claim := range o.Claims {
			free := *claim
			free.Status = resourcev1.ResourceClaimStatus{}
			o.Claims[i] = &free
		}
	}), scheduler.Options{Like: a.base})
	t, err := a.target.member.Ask(ctx, empty, nil)
	if err == nil && len(t.Options) == 0 && !t.Open && !t.Fails {
		out.Verdict, out.Message = explain.Infeasible, "does not even fit without all other pods and claims"
	}
	return err
}

// there reports whether a pod or a claim has what it needs.
func there(subject metav1.Object) bool {
	switch subject := subject.(type) {
	case *corev1.Pod:
		return subject.Spec.NodeName != ""
	case *resourcev1.ResourceClaim:
		return subject.Status.Allocation != nil
	}
	return false
}

// makeRoom looks for plans of more and more moves.
func (a *arena) makeRoom(ctx context.Context, out *explain.Moves, most int) error {
	if hopeless, err := a.hopeless(ctx); err != nil || hopeless {
		out.Verdict, out.Message = explain.Infeasible, "does not even fit once all pods are gone that may be moved"
		return err
	}
	out.AtLeast = 1
	if !a.local(ctx, a.target) {
		single, err := a.single(ctx, append(slices.Clone(a.pieces), a.other...), nil)
		if err != nil || single != nil {
			a.take(out, single)
			return err
		}
		out.Verdict, out.Message = explain.JointUnknown, "where it fits depends on more than one node, and no single move was found that makes room; more were not tried"
		return nil
	}
	if stuck, err := a.stuck(ctx); err != nil || stuck {
		out.Verdict, out.Message, out.AtLeast = explain.Infeasible, "has no room unless pods go, and none that may be moved fits on another node", 0
		return err
	}
	for moves := 1; moves <= most; moves++ {
		best, cut, err := a.search(ctx, moves)
		if err != nil {
			return err
		}
		if best != nil {
			a.take(out, best)
			return nil
		}
		if a.spent() {
			break
		}
		if !a.partly {
			out.AtLeast = a.refuted(moves)
		}
		if !cut || moves >= len(a.pieces) {
			a.none(out)
			return nil
		}
	}
	out.Verdict, out.Message = explain.JointUnknown, "not all moves were tried"
	return nil
}

// search looks for the cheapest plan of a number of moves. cut says that with more there could be one.
func (a *arena) search(ctx context.Context, moves int) (best *rehearsal, cut bool, err error) {
	s := &movesearch{arena: a, moves: moves}
	s.verify = func(steps []step, node int) (bool, error) {
		r, err := a.rehearse(ctx, steps, node)
		if err != nil || r == nil {
			a.partly = a.partly || err == nil
			return false, err
		}
		best, a.left = r, min(a.left, fewAsks)
		return true, nil
	}
	if err := s.run(ctx); err != nil {
		return nil, false, err
	}
	if moves > 1 || len(a.other) == 0 {
		return best, s.cut, nil
	}
	var bound *cost
	if best != nil {
		bound = &s.bestCost
	}
	other, err := a.single(ctx, a.other, bound)
	if other != nil {
		best = other
	}
	return best, s.cut, err
}

// refuted is how many pods have to be moved at least if so many of those that were tried are too few.
func (a *arena) refuted(moves int) int {
	if len(a.other) > 0 || a.unsure {
		return min(2, moves+1) // of the others, single ones were tried
	}
	return moves + 1
}

// none says that nothing was found, and more moves could not find more.
func (a *arena) none(out *explain.Moves) {
	if len(a.other) > 0 || a.unsure || a.partly {
		out.Verdict = explain.JointUnknown
		out.Message = "no moves were found that make room, but not all were tried"
		return
	}
	out.Verdict, out.AtLeast = explain.Infeasible, 0
	out.Message = "has no room unless pods go that do not fit on other nodes"
}

// take notes a plan that was rehearsed.
func (a *arena) take(out *explain.Moves, r *rehearsal) {
	if r == nil {
		return
	}
	out.Verdict, out.Moves, out.Target, out.Doubts = explain.Feasible, r.moves, r.target, r.doubts
	out.Proven = out.AtLeast == len(r.moves)
	if len(out.Doubts) > 0 {
		out.Verdict, out.Message = explain.JointUnknown, "others may come in between"
	}
	out.Partial = append(out.Partial, "PodDisruptionBudgets are not read: one may forbid that a pod is ended now")
	if users := a.users(); len(users) > 0 {
		out.Partial = append(out.Partial, fmt.Sprintf("whether %s fits beside the devices was not asked: ask about the pod", users[0]))
	}
}

// users are the pods that use the claim for which room is made.
func (a *arena) users() []inspect.PodRef {
	if claim, ok := a.target.subject.(*resourcev1.ResourceClaim); ok {
		return a.base.Snapshot().PodsOf(inspect.RefOf(claim))
	}
	return nil
}

// hopeless reports whether the target fits nowhere even without all pods that may be moved. Where it depends on where others are,
// that says nothing: it may have to be with them, or where as many are.
func (a *arena) hopeless(ctx context.Context) (bool, error) {
	if a.target.member.NonLocal {
		return false, nil
	}
	var gone []*corev1.Pod
	for _, p := range slices.Concat(a.pieces, a.other) {
		gone = append(gone, p.pod)
	}
	t, err := a.target.member.Ask(ctx, without(a.base, gone), nil)
	return err == nil && len(t.Options) == 0 && !t.MayWait && !t.Open && !t.Fails, err
}

// stuck reports whether no pod can be moved at all as the cluster is. Then none can be the first.
func (a *arena) stuck(ctx context.Context) (bool, error) {
	for _, p := range slices.Concat(a.pieces, a.other) {
		fits, err := a.fits(ctx, p)
		if err != nil {
			return false, err
		}
		for node, ok := range fits {
			if ok && node != p.from {
				return false, nil
			}
		}
	}
	return !a.unsure && len(a.other) == 0, nil
}

// maxDestinations is the number of nodes that are tried for a single pod that is moved.
const maxDestinations = 4

// single tries to move one pod, whatever depends on where pods are: the cheapest one that costs less than bound, if that is not nil.
func (a *arena) single(ctx context.Context, candidates []*piece, bound *cost) (*rehearsal, error) {
	candidates = slices.Clone(candidates)
	slices.SortStableFunc(candidates, func(x, y *piece) int { return costOf([]*piece{x}).compare(costOf([]*piece{y})) })
	for _, p := range candidates {
		if bound != nil && costOf([]*piece{p}).compare(*bound) >= 0 {
			break
		}
		if a.spent() {
			a.partly = true
			break
		}
		gone := without(a.base, []*corev1.Pod{p.pod})
		fits, err := a.ask(ctx, gone, a.target, nil)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(fits, true) {
			continue
		}
		if r, err := a.singleTo(ctx, p, gone); r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// singleTo looks for a node for a pod without which the target fits.
func (a *arena) singleTo(ctx context.Context, p *piece, gone *scheduler.Cluster) (*rehearsal, error) {
	t, err := p.member.Ask(ctx, gone, nil)
	if err != nil || t.MayWait || t.Open || t.Fails {
		a.partly = true
		return nil, err
	}
	tried := 0
	for _, o := range t.Options {
		if a.index[o.Node] == p.from {
			continue
		}
		if tried++; tried > maxDestinations {
			a.partly = true
			break
		}
		taking, err := o.Take(ctx)
		if err != nil {
			return nil, err
		}
		fits, err := a.ask(ctx, cycle.With(gone, taking), a.target, nil)
		if err != nil {
			return nil, err
		}
		for node, ok := range fits {
			if !ok {
				continue
			}
			if r, err := a.rehearse(ctx, []step{{p, a.index[o.Node]}}, node); r != nil || err != nil {
				return r, err
			}
		}
	}
	return nil, nil
}
