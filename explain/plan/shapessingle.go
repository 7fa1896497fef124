package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

const (
	// maxSteps is the number of counts of a shape that are tried one after the other; more are halved.
	maxSteps = 6
	// maxReaching is the most nodes of a shape that are tried for pods that reach beyond their nodes, each count by itself.
	maxReaching = 8
)

// limit is the most nodes of a shape that may be added. With more nodes than pods one stays empty.
func (s *shaper) limit(shape int) int {
	n := len(s.pods)
	for _, most := range []int{s.opts.Max, s.shapes[shape].Max} {
		if most > 0 {
			n = min(n, most)
		}
	}
	return n
}

// single looks how many nodes of one shape make all pods fit.
func (s *shaper) single(ctx context.Context, shape int) (*explain.ShapeAnswer, error) {
	a := &explain.ShapeAnswer{Parts: []explain.ShapePart{s.part(shape, 0)}, Verdict: explain.ShapeUnknown, Assumes: s.shapes[shape].Assumes}
	if at := slices.IndexFunc(s.kinds, func(k *podKind) bool { return s.never(k, shape) }); at >= 0 {
		return a, s.fails(ctx, a, shape, s.kinds[at].pods[0])
	}
	if err := s.block(ctx, shape); err != nil {
		return nil, err
	}
	var err error
	if s.local {
		err = s.count(ctx, a, shape)
	} else {
		err = s.tryEach(ctx, a, shape)
	}
	if err != nil {
		return nil, err
	}
	return a, s.finish(ctx, a, counts{shape: a.Parts[0].Count})
}

// never reports whether pods of a kind are placed neither in the cluster as it is nor on a node of a shape.
func (s *shaper) never(k *podKind, shape int) bool {
	return k.fits == 0 && !k.onFresh[shape] && !k.unsure && !k.member.NonLocal && !k.member.Unseen
}

// part is so many nodes of a shape.
func (s *shaper) part(shape, count int) explain.ShapePart {
	n := &s.shapes[shape]
	return explain.ShapePart{Name: n.Name, Source: string(n.Source), From: n.From, Count: count, Devices: n.Devices()}
}

// fails says that a shape does not help because of a pod.
func (s *shaper) fails(ctx context.Context, a *explain.ShapeAnswer, shape int, pod *corev1.Pod) error {
	why, err := s.whyNot(ctx, shape, pod)
	if err != nil {
		return err
	}
	a.Verdict, a.Pod, a.Code, a.Why = explain.ShapeFails, why.Subject, why.Code, why.Message
	return nil
}

// count finds the fewest nodes of a shape with which all pods are placed for certain, and at best.
func (s *shaper) count(ctx context.Context, a *explain.ShapeAnswer, shape int) error {
	most := s.limit(shape)
	if err := s.atBest(ctx, a, shape, most); err != nil || a.Verdict == explain.ShapeFails || a.AtBest > most {
		return err
	}
	low, lowRefuted := a.AtBest-1, a.AtBestProven || a.AtBest == 0
	if low < 0 {
		low, lowRefuted = 0, true // kube-scheduler does not place all as things are
	}
	high := -1
	for n := low + 1; n <= most && n <= low+maxSteps; n++ {
		state, _, err := s.attempt(ctx, counts{shape: n})
		if err != nil {
			return err
		}
		if state == sure {
			high = n
			a.Minimal = lowRefuted
			break
		}
		lowRefuted = state == refuted
	}
	if high < 0 && most > low+maxSteps {
		var err error
		if high, a.Minimal, err = s.halve(ctx, shape, low+maxSteps, most, lowRefuted); err != nil {
			return err
		}
	}
	if high >= 0 {
		a.Parts[0].Count, a.Verdict = high, explain.ShapeFits
		return nil
	}
	a.Parts[0].Count, a.Verdict = max(a.AtBest, 1), explain.ShapeMayFit
	a.Why = "it depends on which of the nodes that fit kube-scheduler takes"
	return nil
}

// halve finds between two counts one that is certain to do where one less was not. It returns -1 if the higher does not.
func (s *shaper) halve(ctx context.Context, shape, low, high int, lowRefuted bool) (count int, minimal bool, err error) {
	state, _, err := s.attempt(ctx, counts{shape: high})
	if err != nil || state != sure {
		return -1, false, err
	}
	for high-low > 1 {
		mid := (low + high) / 2
		if state, _, err = s.attempt(ctx, counts{shape: mid}); err != nil {
			return -1, false, err
		}
		if state == sure {
			high = mid
			continue
		}
		low, lowRefuted = mid, state == refuted
	}
	return high, lowRefuted, nil
}

// atBest finds the fewest nodes of a shape with which all pods can be placed by some choice of nodes. For pods that are tied to their
// nodes more nodes do no harm, so that it is enough to look at one less. If there are none up to the limit, the shape fails.
func (s *shaper) atBest(ctx context.Context, a *explain.ShapeAnswer, shape, most int) error {
	n, err := s.frugal(ctx, shape, most)
	if err != nil {
		return err
	}
	a.AtBest = n
	for a.AtBest > 0 {
		joint, err := s.together(ctx, counts{shape: a.AtBest - 1})
		if err != nil {
			return err
		}
		switch joint.Verdict {
		case explain.Feasible:
			a.AtBest--
			continue
		case explain.Infeasible:
			a.AtBestProven = true
			if a.AtBest > most {
				return s.tooFew(ctx, a, shape, most, joint)
			}
		case explain.JointUnknown:
			if a.AtBest > most {
				a.Why = fmt.Sprintf("whether %s is enough is not known: %s", words.Count(most, "node"), joint.Message)
			}
		}
		return nil
	}
	a.AtBestProven = true
	return nil
}

// tooFew says that all nodes that may be added of a shape do not suffice: because of a pod that none of them holds, or of their number.
func (s *shaper) tooFew(ctx context.Context, a *explain.ShapeAnswer, shape, most int, joint *explain.JointPlan) error {
	for _, subject := range joint.Conflict {
		if kind := s.kindOf[subject]; !kind.onFresh[shape] {
			return s.fails(ctx, a, shape, kind.pods[len(kind.pods)-1])
		}
	}
	a.Verdict, a.Why = explain.ShapeFails, fmt.Sprintf("%s not enough: %s", words.Plural(most, "1 node is", fmt.Sprintf("%d nodes are", most)), joint.Message)
	return nil
}

// together says whether all pods can be placed with some nodes added.
func (s *shaper) together(ctx context.Context, n counts) (*explain.JointPlan, error) {
	c := s.adding(s.small, n)
	r := newFreeReplay(newSimulation(c))
	if err := r.run(ctx, s.pods); err != nil {
		return nil, err
	}
	best, _, err := r.best(ctx, c)
	return best, err
}

// frugal is a number of nodes with which all pods can be placed: those that are used if one is taken only where no other fits. It is
// one more than the limit if that does not suffice.
func (s *shaper) frugal(ctx context.Context, shape, most int) (int, error) {
	best := most + 1
	for _, pods := range [][]*corev1.Pod{s.pods, s.largestFirst(shape)} {
		used := map[string]bool{}
		r := newFreeReplay(newSimulation(s.adding(s.small, counts{shape: most})))
		index := map[string]int{}
		for i := range most {
			index[string(s.shapes[shape].NodeName(i))] = i + 1
		}
		r.choose = func(nodes []*corev1.Node) int {
			at, cost := 0, len(index)+2
			for i, node := range nodes {
				own := index[node.Name] // 0 of a node that there is
				if own > 0 && !used[node.Name] {
					own = len(index) + 1
				}
				if own < cost {
					at, cost = i, own
				}
			}
			if index[nodes[at].Name] > 0 {
				used[nodes[at].Name] = true
			}
			return at
		}
		complete := true
		for _, pod := range pods {
			placed, _, err := r.one(ctx, pod)
			if err != nil {
				return 0, err
			}
			if complete = placed != nil; !complete {
				break
			}
		}
		if complete && !r.doubtful {
			best = min(best, len(used))
		}
	}
	return best, nil
}

// largestFirst are the pods, those first that few others can keep off a node.
func (s *shaper) largestFirst(shape int) []*corev1.Pod {
	out := slices.Clone(s.pods)
	size := func(p *corev1.Pod) weights {
		kind := s.kindOf[subjectOf(p)]
		if !kind.onFresh[shape] {
			return weights{}
		}
		return s.blockers[shape][kind]
	}
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(size(a)[1], size(b)[1]), cmp.Compare(size(a)[2], size(b)[2]), cmp.Compare(size(a)[0], size(b)[0]))
	})
	return out
}

// tryEach tries one count after the other, where pods depend on more than their nodes. That none does is not proved by it.
func (s *shaper) tryEach(ctx context.Context, a *explain.ShapeAnswer, shape int) error {
	most := min(s.limit(shape), maxReaching)
	refutedBefore := true
	for n := 1; n <= most; n++ {
		state, waits, err := s.attempt(ctx, counts{shape: n})
		if err != nil {
			return err
		}
		if state == sure {
			a.Parts[0].Count, a.AtBest, a.Verdict, a.Minimal = n, n, explain.ShapeFits, refutedBefore
			return nil
		}
		refutedBefore = state == refuted
		if waits != nil && a.Pod == (explain.Subject{}) {
			a.Pod = subjectOf(waits.pod)
		}
	}
	if slices.ContainsFunc(s.kinds, func(k *podKind) bool { return k.unsure }) {
		a.Pod, a.Why = explain.Subject{}, cmp.Or(strings.Join(s.out.Unseen[:min(1, len(s.out.Unseen))], ""), "something that decides about these pods is not known")
		return nil
	}
	a.Why = fmt.Sprintf("up to %s were tried, and with none is it certain that kube-scheduler places all: pods depend on where others are", words.Count(most, "node"))
	return nil
}

// finish places all pods once more, in the whole cluster with the nodes of an answer, and says what they cost.
func (s *shaper) finish(ctx context.Context, a *explain.ShapeAnswer, n counts) error {
	if a.Verdict == explain.ShapeFits {
		r := newFreeReplay(newSimulation(s.adding(s.base, n)))
		if err := r.run(ctx, s.pods); err != nil {
			return err
		}
		if len(r.waiting) > 0 || r.doubtful {
			a.Verdict, a.Minimal, a.Why = explain.ShapeUnknown, false, "placing all pods in the whole cluster gave another answer"
		}
	}
	total, known := 0.0, true
	for shape, count := range n {
		if price := s.shapes[shape].Price; price != nil {
			total += *price * float64(count)
		} else {
			known = false
		}
		if s.shapes[shape].Unsure && a.Verdict == explain.ShapeFits {
			a.Verdict, a.Why = explain.ShapeMayFit, "not all that pods need of it is described"
		}
	}
	if known && n.total() > 0 {
		a.Price = &total
	}
	return nil
}
