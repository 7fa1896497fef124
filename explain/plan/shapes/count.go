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
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
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
	// maxPodNodes is the number of pods times that of nodes up to which few nodes are tried although with the
	// most of them some pod is left waiting.
	maxPodNodes = 1_000_000
)

// counter counts the nodes of one shape that make all pods fit.
type counter struct {
	*finder
	shape  int
	most   int // that may be added; with more nodes than pods one stays empty
	may    int // the fewest with which all were placed in some run; 0 if they never were
	waits  *corev1.Pod
	crowd  *crowd
	all    *replay.Replay // with the most nodes, once that was played
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
	if f.local && c.most == len(f.pods) && c.most > maxExplored { // then there is a node for each pod that fits on one of the shape
		joint, err := f.tooMany(ctx, shape)
		if err != nil {
			return nil, err
		}
		if joint != nil {
			return c.answer, c.tooFew(ctx, joint)
		}
	}
	var err error
	if f.local {
		c.crowd, err = f.crowdOn(ctx, shape)
	}
	if err == nil {
		err = c.fewest(ctx)
	}
	if err != nil {
		return nil, err
	}
	return c.answer, c.finish(ctx)
}

// tooMany proves that there are too many pods for the nodes of the cluster, of those that fit on no node of a
// shape. It is nil if that is not proved.
func (f *finder) tooMany(ctx context.Context, shape int) (*explain.JointPlan, error) {
	return plan.TooMany(ctx, f.base, slices.DeleteFunc(slices.Clone(f.pods), func(pod *corev1.Pod) bool {
		return f.kindOf[cycle.SubjectOf(pod)].onFresh[shape]
	}))
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

// fewest finds the fewest nodes with which all pods are placed for certain. A few counts are tried one after
// the other, and for pods that are tied to their nodes, to which more nodes do no harm, larger ones by
// halves.
func (c *counter) fewest(ctx context.Context) error {
	a, steps := c.answer, maxReaching
	if c.local {
		steps = maxSteps
	}
	steps = min(c.most, steps)
	if c.local && c.most > steps && len(c.pods)*len(c.small.Snapshot().Nodes()) > maxPodNodes {
		// No number is certain to do then: that a crowd leaves room for all is so with more nodes too.
		if state, err := c.attempt(ctx, c.most); err != nil || state == refuted {
			if err == nil {
				err = c.atMost(ctx)
			}
			return err
		}
	}
	low, high, lowRefuted := 0, -1, true // kube-scheduler does not place all as things are
	try := func(n int) error {
		state, err := c.attempt(ctx, n)
		if state == sure {
			high = n
		} else {
			low, lowRefuted = n, state == refuted
		}
		return err
	}
	for n := 1; n <= steps && high < 0; n++ {
		if err := try(n); err != nil {
			return err
		}
	}
	if c.local && high < 0 && c.most > steps {
		state, err := c.attempt(ctx, c.most)
		if err != nil {
			return err
		}
		if state == sure {
			high = c.most
		}
	}
	for high-low > 1 { // never if there is no high
		if err := try((low + high) / 2); err != nil {
			return err
		}
	}
	if high >= 0 {
		a.Count, a.Verdict, a.Minimal = high, explain.ShapeFits, lowRefuted
		return nil
	}
	return c.noneSure(ctx, steps)
}

// noneSure says what is known where no number of nodes is certain to do, of which the first steps were tried.
func (c *counter) noneSure(ctx context.Context, steps int) error {
	a := c.answer
	switch {
	case c.local:
		return c.atMost(ctx)
	case slices.ContainsFunc(c.kinds, func(k *podKind) bool { return k.unsure }):
		a.Why = "something that decides about these pods is not known"
		if len(c.out.Unseen) > 0 {
			a.Why = c.out.Unseen[0]
		}
		return nil
	}
	if c.waits != nil {
		a.Pod = cycle.SubjectOf(c.waits)
	}
	a.Why = fmt.Sprintf("up to %s were tried, and with none is it certain that kube-scheduler places all: "+
		"pods depend on where others are", words.Count(steps, "node"))
	return nil
}

// atMost says what becomes of the pods with all nodes that may be added, if no number of them is certain to
// do. If they cannot be placed on these by any choice of nodes, the shape fails.
func (c *counter) atMost(ctx context.Context) error {
	a := c.answer
	if c.may == 0 {
		t, err := c.run(ctx, c.most)
		if err != nil {
			return err
		}
		joint, err := plan.Best(ctx, t)
		if err != nil {
			return err
		}
		switch joint.Verdict {
		case explain.Infeasible:
			return c.tooFew(ctx, joint)
		case explain.JointUnknown:
			a.Why = fmt.Sprintf("whether %s %s enough is not known: %s", words.Count(c.most, "node"), words.Plural(c.most, "is", "are"), joint.Message)
			return nil
		case explain.Feasible:
			c.may = c.most
		}
	}
	a.Count, a.Verdict = c.may, explain.ShapeMayFit
	a.Why = "it depends on which of the nodes that fit kube-scheduler takes"
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

// certainty says what becomes of all pods with some nodes added.
type certainty int

const (
	unclear certainty = iota
	refuted           // kube-scheduler may leave some waiting
	sure              // it places all, whichever nodes it chooses
)

// attempt looks whether kube-scheduler places all pods with n nodes added.
func (c *counter) attempt(ctx context.Context, n int) (certainty, error) {
	t, err := c.run(ctx, n)
	if err != nil {
		return unclear, err
	}
	switch {
	case t.Doubtful:
		return unclear, nil
	case len(t.Waiting) > 0:
		c.waits = cmp.Or(c.waits, t.Waiting[0].Pod)
		return refuted, nil
	}
	if c.may == 0 || n < c.may {
		c.may = n
	}
	if c.crowd.enough(n) {
		return sure, nil
	}
	if len(c.pods) > maxExplored {
		return unclear, nil
	}
	switch certain, depends, err := plan.Certain(ctx, t); {
	case err != nil:
		return unclear, err
	case certain:
		return sure, nil
	case depends:
		return refuted, nil
	}
	return unclear, nil
}

// run plays what becomes of all pods with n nodes added.
func (c *counter) run(ctx context.Context, n int) (*replay.Replay, error) {
	if n == c.most && c.all != nil {
		return c.all, nil
	}
	t := replay.New(c.with(c.small, c.shape, n), nil)
	if err := t.Run(ctx, c.pods); err != nil {
		return nil, err
	}
	if n == c.most {
		c.all = t
	}
	return t, nil
}

// finish places all pods once more, in the whole cluster with the nodes of the answer.
func (c *counter) finish(ctx context.Context) error {
	a := c.answer
	if a.Verdict != explain.ShapeFits {
		return nil
	}
	t := replay.New(c.with(c.base, c.shape, a.Count), nil)
	if err := t.Run(ctx, c.pods); err != nil {
		return err
	}
	if len(t.Waiting) > 0 || t.Doubtful {
		a.Verdict, a.Minimal, a.Why = explain.ShapeUnknown, false, "placing all pods in the whole cluster gave another answer"
	}
	return nil
}
