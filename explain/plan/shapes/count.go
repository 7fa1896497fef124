package shapes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

const (
	// maxSteps is the number of counts of a shape that are tried one after the other; more are halved.
	maxSteps = 6
	// maxReaching is the most nodes of a shape that are tried for pods that reach beyond their nodes, each
	// count by itself.
	maxReaching = 8
	// maxExplored is the number of pods up to which all choices of nodes are tried.
	maxExplored = 64
)

// counter counts the nodes of one shape that make all pods fit.
type counter struct {
	*finder
	shape  int
	most   int // that may be added; with more nodes than pods one stays empty
	crowd  *crowd
	answer *explain.ShapeAnswer
}

// count says how many nodes of a shape make all pods fit.
func (f *finder) count(ctx context.Context, shape int) (*explain.ShapeAnswer, error) {
	s := &f.shapes[shape]
	c := &counter{finder: f, shape: shape, most: len(f.pods), answer: &explain.ShapeAnswer{
		Name: s.Name, Source: string(s.Source), From: s.From, Devices: s.Devices(), Verdict: explain.ShapeUnknown, Assumes: s.Assumes,
	}}
	for _, most := range []int{f.max, s.Max} {
		if most > 0 {
			c.most = min(c.most, most)
		}
	}
	never := slices.IndexFunc(f.kinds, func(k *podKind) bool { return k.fits == 0 && !k.onFresh[shape] && !k.unsure && !k.ties() })
	if never >= 0 {
		return c.answer, c.fails(ctx, f.kinds[never].pods[0])
	}
	var err error
	if !f.local {
		err = c.tryEach(ctx)
	} else if c.crowd, err = f.crowdOn(ctx, shape); err == nil {
		err = c.fewest(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c.answer, c.finish(ctx)
}

// fails says that the shape does not help because of a pod.
func (c *counter) fails(ctx context.Context, pod *corev1.Pod) error {
	why, err := c.whyNot(ctx, c.shape, pod)
	if err != nil {
		return err
	}
	c.answer.Verdict, c.answer.Pod, c.answer.Code, c.answer.Why = explain.ShapeFails, why.Subject, why.Code, why.Message
	return nil
}

// fewest finds the fewest nodes with which all pods are placed for certain, and at best.
func (c *counter) fewest(ctx context.Context) error {
	a := c.answer
	if err := c.atBest(ctx); err != nil || a.Verdict == explain.ShapeFails || a.AtBest > c.most {
		return err
	}
	low, lowRefuted := a.AtBest-1, a.AtBestProven || a.AtBest == 0
	if low < 0 {
		low, lowRefuted = 0, true // kube-scheduler does not place all as things are
	}
	high := -1
	tried := min(c.most, low+maxSteps)
	for ; low < tried && high < 0; low++ {
		state, _, err := c.attempt(ctx, low+1)
		if err != nil {
			return err
		}
		if state == sure {
			high = low + 1
			break
		}
		lowRefuted = state == refuted
	}
	if high < 0 && c.most > tried {
		state, _, err := c.attempt(ctx, c.most)
		if err != nil {
			return err
		}
		if state == sure {
			high = c.most
		}
	}
	for high-low > 1 {
		mid := (low + high) / 2
		state, _, err := c.attempt(ctx, mid)
		if err != nil {
			return err
		}
		if state == sure {
			high = mid
		} else {
			low, lowRefuted = mid, state == refuted
		}
	}
	if high >= 0 {
		a.Count, a.Verdict, a.Minimal = high, explain.ShapeFits, lowRefuted
		return nil
	}
	a.Count, a.Verdict = max(a.AtBest, 1), explain.ShapeMayFit
	a.Why = "it depends on which of the nodes that fit kube-scheduler takes"
	return nil
}

// atBest finds the fewest nodes with which all pods can be placed by some choice of nodes. For pods that are
// tied to their nodes more nodes do no harm, so that it is enough to look at one less. If there are none up
// to the limit, the shape fails.
func (c *counter) atBest(ctx context.Context) error {
	a := c.answer
	var err error
	if a.AtBest, err = c.frugal(ctx); err != nil {
		return err
	}
	for a.AtBest > 0 {
		t := cycle.NewReplay(c.with(c.small, c.shape, a.AtBest-1), nil)
		if err := t.Run(ctx, c.pods); err != nil {
			return err
		}
		joint, err := plan.Best(ctx, t)
		if err != nil {
			return err
		}
		switch joint.Verdict {
		case explain.Feasible:
			a.AtBest--
			continue
		case explain.Infeasible:
			a.AtBestProven = true
			if a.AtBest > c.most {
				return c.tooFew(ctx, joint)
			}
		case explain.JointUnknown:
			if a.AtBest > c.most {
				a.Why = fmt.Sprintf("whether %s is enough is not known: %s", words.Count(c.most, "node"), joint.Message)
			}
		}
		return nil
	}
	a.AtBestProven = true
	return nil
}

// tooFew says that all nodes that may be added do not suffice: because of a pod that none of them holds, or
// of their number.
func (c *counter) tooFew(ctx context.Context, joint *explain.JointPlan) error {
	for _, subject := range joint.Conflict {
		if kind := c.kindOf[subject]; !kind.onFresh[c.shape] {
			return c.fails(ctx, kind.pods[len(kind.pods)-1])
		}
	}
	c.answer.Verdict = explain.ShapeFails
	c.answer.Why = fmt.Sprintf("%s not enough: %s", words.Plural(c.most, "1 node is", fmt.Sprintf("%d nodes are", c.most)), joint.Message)
	return nil
}

// frugal returns a number of nodes with which all pods can be placed: those that are used if one is taken
// only where no other fits. It is one more than the limit if that does not suffice.
func (c *counter) frugal(ctx context.Context) (int, error) {
	added := map[string]int{} // from 1
	for i := range c.most {
		added[string(c.shapes[c.shape].NodeName(i))] = i + 1
	}
	best := c.most + 1
	for _, pods := range [][]*corev1.Pod{c.pods, c.largestFirst()} {
		used := map[string]bool{}
		t := cycle.NewReplay(c.with(c.small, c.shape, c.most), nil)
		t.Choose = func(_ *corev1.Pod, nodes []*corev1.Node) int {
			at, cost := 0, len(added)+2
			for i, node := range nodes {
				own := added[node.Name] // 0 for a node that there is
				if own > 0 && !used[node.Name] {
					own = len(added) + 1
				}
				if own < cost {
					at, cost = i, own
				}
			}
			if added[nodes[at].Name] > 0 {
				used[nodes[at].Name] = true
			}
			return at
		}
		complete := true
		for _, pod := range pods {
			var err error
			if complete, _, err = t.One(ctx, pod); err != nil {
				return 0, err
			}
			if !complete {
				break
			}
		}
		if complete && !t.Doubtful {
			best = min(best, len(used))
		}
	}
	return best, nil
}

// largestFirst are the pods, those first that few others can keep off a node.
func (c *counter) largestFirst() []*corev1.Pod {
	out := slices.Clone(c.pods)
	size := func(p *corev1.Pod) weights { return c.crowd.takes[c.kindOf[cycle.SubjectOf(p)]] }
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(size(a)[1], size(b)[1]), cmp.Compare(size(a)[2], size(b)[2]), cmp.Compare(size(a)[0], size(b)[0]))
	})
	return out
}

// tryEach tries one count after the other, where pods depend on more than their nodes. That none does is not
// proved by it.
func (c *counter) tryEach(ctx context.Context) error {
	a := c.answer
	most := min(c.most, maxReaching)
	refutedBefore := true
	for n := 1; n <= most; n++ {
		state, waits, err := c.attempt(ctx, n)
		if err != nil {
			return err
		}
		if state == sure {
			a.Count, a.AtBest, a.Verdict, a.Minimal = n, n, explain.ShapeFits, refutedBefore
			return nil
		}
		refutedBefore = state == refuted
		if waits != nil && a.Pod == (explain.Subject{}) {
			a.Pod = cycle.SubjectOf(waits)
		}
	}
	if slices.ContainsFunc(c.kinds, func(k *podKind) bool { return k.unsure }) {
		a.Pod, a.Why = explain.Subject{}, "something that decides about these pods is not known"
		if len(c.out.Unseen) > 0 {
			a.Why = c.out.Unseen[0]
		}
		return nil
	}
	a.Why = fmt.Sprintf("up to %s were tried, and with none is it certain that kube-scheduler places all: "+
		"pods depend on where others are", words.Count(most, "node"))
	return nil
}

// certainty says what becomes of all pods with some nodes added.
type certainty int

const (
	unclear certainty = iota
	refuted           // kube-scheduler may leave some waiting
	sure              // it places all, whichever nodes it chooses
)

// attempt looks whether kube-scheduler places all pods with n nodes added. waits is a pod that it may leave
// waiting.
func (c *counter) attempt(ctx context.Context, n int) (state certainty, waits *corev1.Pod, err error) {
	with := c.with(c.small, c.shape, n)
	lastOf := func(_ *corev1.Pod, nodes []*corev1.Node) int { return len(nodes) - 1 }
	for _, choose := range []func(*corev1.Pod, []*corev1.Node) int{nil, spreading(), lastOf} {
		t := cycle.NewReplay(with, nil)
		t.Choose = choose
		if err := t.Run(ctx, c.pods); err != nil {
			return unclear, nil, err
		}
		switch {
		case t.Doubtful:
			return unclear, nil, nil
		case len(t.Waiting) > 0:
			return refuted, t.Waiting[0].Pod, nil
		}
	}
	if c.crowd.enough(n) {
		return sure, nil, nil
	}
	if len(c.pods) > maxExplored {
		return unclear, nil, nil
	}
	t := cycle.NewReplay(with, nil)
	if err := t.Run(ctx, c.pods); err != nil {
		return unclear, nil, err
	}
	switch certain, depends, err := plan.Certain(ctx, t); {
	case err != nil:
		return unclear, nil, err
	case certain:
		return sure, nil, nil
	case depends:
		return refuted, nil, nil
	}
	return unclear, nil, nil
}

// spreading chooses the node that was chosen least.
func spreading() func(*corev1.Pod, []*corev1.Node) int {
	chosen := map[string]int{}
	return func(_ *corev1.Pod, nodes []*corev1.Node) int {
		at := 0
		for i, n := range nodes {
			if chosen[n.Name] < chosen[nodes[at].Name] {
				at = i
			}
		}
		chosen[nodes[at].Name]++
		return at
	}
}

// finish places all pods once more, in the whole cluster with the nodes of the answer, and says what they
// cost.
func (c *counter) finish(ctx context.Context) error {
	a, shape := c.answer, &c.shapes[c.shape]
	if a.Verdict == explain.ShapeFits {
		t := cycle.NewReplay(c.with(c.base, c.shape, a.Count), nil)
		if err := t.Run(ctx, c.pods); err != nil {
			return err
		}
		if len(t.Waiting) > 0 || t.Doubtful {
			a.Verdict, a.Minimal, a.Why = explain.ShapeUnknown, false, "placing all pods in the whole cluster gave another answer"
		}
	}
	if shape.Price != nil && a.Count > 0 {
		total := *shape.Price * float64(a.Count)
		a.Price = &total
	}
	if shape.Unsure && a.Verdict == explain.ShapeFits {
		a.Verdict, a.Why = explain.ShapeMayFit, "not all that pods need of it is described"
	}
	return nil
}
