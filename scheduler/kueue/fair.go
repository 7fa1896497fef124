package kueue

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// share is the dominant resource share of a node of the tree: of all resources, the largest part that it
// borrows of what can be lent, by its weight.
type share struct {
	weight, ratio float64
	borrowed      map[flavorResource]bool
}

func (s share) weighted() float64 {
	switch {
	case s.ratio == 0:
		return 0
	case s.weight == 0:
		return math.Inf(1)
	}
	return s.ratio / s.weight
}

func (s share) compare(t share) int {
	a, b := s.weight == 0 && s.ratio != 0, t.weight == 0 && t.ratio != 0
	switch {
	case a && b:
		return cmp.Compare(s.ratio, t.ratio)
	case a:
		return 1
	case b:
		return -1
	}
	return cmp.Compare(s.weighted(), t.weighted())
}

// borrowsAny reports whether the node borrows something that is asked for.
func (s share) borrowsAny(asked amounts) bool {
	for fr := range s.borrowed {
		if asked[fr] > 0 {
			return true
		}
	}
	return false
}

func (n *node) share() share {
	out := share{weight: n.weight, borrowed: map[flavorResource]bool{}}
	if n.parent == nil {
		return out
	}
	borrowed := map[corev1.ResourceName]Amount{}
	for fr, a := range n.subtree {
		if more := n.usage[fr].sub(a); more > 0 {
			borrowed[fr.resource] = borrowed[fr.resource].add(more)
			out.borrowed[fr] = true
		}
	}
	if len(borrowed) == 0 {
		return out
	}
	lendable := map[corev1.ResourceName]Amount{}
	for fr := range n.root().subtree {
		lendable[fr.resource] = lendable[fr.resource].add(n.parent.most(fr))
	}
	for name, a := range borrowed {
		if all := lendable[name]; all > 0 {
			out.ratio = max(out.ratio, float64(a)*1000/float64(all))
		}
	}
	return out
}

// fair looks for the workloads to evict where there is fair sharing.
type fair struct {
	*tree
	w          *workload
	short      map[flavorResource]bool
	asked      amounts
	candidates map[*node][]*workload
	pruned     map[*node]bool
	victims    []victim
}

func (t *tree) fairVictims(w *workload, short map[flavorResource]bool, asked amounts) []victim {
	f := &fair{tree: t, w: w, short: short, asked: asked}
	candidates := f.all()
	if len(candidates) == 0 {
		return nil
	}
	slices.SortFunc(candidates, func(a, b *workload) int { return compareCandidates(a, b, w.queue) })
	strategies := t.rules.Strategies
	if len(strategies) == 0 {
		strategies = []string{lessThanOrEqualToFinalShare, lessThanInitialShare}
	}
	w.queue.useAll(asked) // shares count the workload
	fits, retry := f.first(candidates, strategies[0])
	if !fits && len(strategies) > 1 {
		fits = f.second(retry)
	}
	w.queue.releaseAll(asked)
	if fits {
		f.victims = takeBack(w.queue, f.victims, asked, true)
	}
	for _, v := range f.victims {
		v.w.queue.useAll(v.w.used)
	}
	if !fits {
		return nil
	}
	return f.victims
}

const (
	lessThanOrEqualToFinalShare = "LessThanOrEqualToFinalShare"
	lessThanInitialShare        = "LessThanInitialShare"
)

// all are the workloads that may be evicted, of the queue itself and of those that borrow.
func (f *fair) all() []*workload {
	var out []*workload
	add := func(queue *node, policy kueuev1beta2.PreemptionPolicy) {
		if never(policy) {
			return
		}
		for other := range queue.held {
			if other.usesAny(f.short) && f.mayEvict(f.w, other, policy) {
				out = append(out, other)
			}
		}
	}
	policies := &f.w.queue.preemption
	add(f.w.queue, policies.WithinClusterQueue)
	if f.w.queue.parent != nil {
		for _, queue := range f.w.queue.root().subtreeQueues(nil) {
			if queue != f.w.queue && !queue.within(f.short) {
				add(queue, policies.ReclaimWithinCohort)
			}
		}
	}
	return out
}

func (f *fair) begin(candidates []*workload) {
	f.candidates, f.pruned = map[*node][]*workload{}, map[*node]bool{}
	for _, c := range candidates {
		f.candidates[c.queue] = append(f.candidates[c.queue], c)
	}
}

func (f *fair) pop(queue *node) *workload {
	first := f.candidates[queue][0]
	f.candidates[queue] = f.candidates[queue][1:]
	return first
}

// evict takes a workload out and reports whether there is room then.
func (f *fair) evict(v *workload, why string) bool {
	v.queue.releaseAll(v.used)
	f.victims = append(f.victims, victim{v, why})
	f.w.queue.releaseAll(f.asked)
	fits := fitsAfter(f.w.queue, f.asked, true)
	f.w.queue.useAll(f.asked)
	return fits
}

// target is the queue from which to evict next, or nil.
func (f *fair) target() *node {
	if f.w.queue.parent == nil {
		if !f.pruned[f.w.queue] && len(f.candidates[f.w.queue]) > 0 {
			return f.w.queue
		}
		return nil
	}
	root := f.w.queue.root()
	for !f.pruned[root] {
		if found := f.largest(root); found != nil {
			return found
		}
	}
	return nil
}

// largest is the queue below a cohort that one comes to by always going where the share is largest. Nil means
// that a part of the tree was pruned.
func (f *fair) largest(at *node) *node {
	lowest := share{weight: 1, ratio: -1}
	var queue, cohort *node
	queueShare, cohortShare := lowest, lowest
	for _, child := range at.queues {
		if f.pruned[child] {
			continue
		}
		s := child.share()
		if len(s.borrowed) == 0 && child != f.w.queue || len(f.candidates[child]) == 0 {
			f.pruned[child] = true
			continue
		}
		order := s.compare(queueShare)
		if order > 0 || order == 0 && compareCandidates(f.candidates[child][0], f.candidates[queue][0], f.w.queue) < 0 {
			queue, queueShare = child, s
		}
	}
	for _, child := range at.cohorts {
		if f.pruned[child] {
			continue
		}
		s := child.share()
		if len(s.borrowed) == 0 && !f.above(child) {
			f.pruned[child] = true
		} else if order := s.compare(cohortShare); order >= 0 {
			f.tie = f.tie || order == 0 // Kueue takes any of them
			cohort, cohortShare = child, s
		}
	}
	switch {
	case queue == nil && cohort == nil:
		f.pruned[at] = true
		return nil
	case cohortShare.compare(queueShare) >= 0:
		return f.largest(cohort)
	}
	return queue
}

func (f *fair) above(cohort *node) bool {
	for at := f.w.queue.parent; at != nil; at = at.parent {
		if at == cohort {
			return true
		}
	}
	return false
}

// rivals are the parts of the tree, just below the common cohort, in which the queue of the workload and
// another one are.
func (f *fair) rivals(queue *node) (own, other *node) {
	other = queue
	for !f.above(other.parent) {
		other = other.parent
	}
	own = f.w.queue
	for own.parent != other.parent {
		own = own.parent
	}
	return own, other
}

// first evicts by the first strategy. It returns also the workloads that this one spared.
func (f *fair) first(candidates []*workload, strategy string) (fits bool, spared []*workload) {
	f.begin(candidates)
	entitled := f.rules.WithinNominal && f.w.queue.within(f.short)
	for queue := f.target(); queue != nil; queue = f.target() {
		switch {
		case queue == f.w.queue:
			if f.evict(f.pop(queue), kueuev1beta2.InClusterQueueReason) {
				return true, nil
			}
			continue
		case entitled:
			if f.evict(f.pop(queue), kueuev1beta2.InCohortReclamationReason) {
				return true, nil
			}
			continue
		}
		own, other := f.rivals(queue)
		ownShare, oldShare := own.share(), other.share()
		for len(f.candidates[queue]) > 0 {
			v := f.pop(queue)
			queue.releaseAll(v.used)
			newShare := other.share()
			queue.useAll(v.used)
			passes := ownShare.compare(newShare) <= 0
			if strategy == lessThanInitialShare {
				passes = ownShare.compare(oldShare) < 0
			}
			if !passes {
				spared = append(spared, v)
				continue
			}
			if f.evict(v, kueuev1beta2.InCohortFairSharingReason) {
				return true, nil
			}
			break
		}
	}
	return false, spared
}

// second evicts from queues whose share was larger before, one workload of each.
func (f *fair) second(candidates []*workload) bool {
	f.begin(candidates)
	for queue := f.target(); queue != nil; queue = f.target() {
		own, other := queue, queue
		if queue != f.w.queue {
			own, other = f.rivals(queue)
		}
		v := f.pop(queue)
		if own.share().compare(other.share()) < 0 && f.evict(v, kueuev1beta2.InCohortFairSharingReason) {
			return true
		}
		f.pruned[queue] = true
	}
	return false
}

// contender is the head of a queue, with what it would use.
type contender struct {
	w    *workload
	used amounts
}

// tournament picks of the heads of queues below a cohort the one whose part of the tree would have the
// smallest share with it.
func (t *tree) tournament(at *node, entries map[*node]*contender, shares map[*node]map[*contender]share) *contender {
	var best *contender
	for _, child := range slices.Concat(at.cohorts, at.queues) {
		e := entries[child]
		if !child.isQueue() {
			e = t.tournament(child, entries, shares)
		}
		if e == nil {
			continue
		}
		if best == nil {
			best = e
			continue
		}
		switch order := t.compareFair(e, best, shares[at]); {
		case order < 0:
			best = e
		case order == 0:
			t.tie = true
		}
	}
	return best
}

func (t *tree) compareFair(a, b *contender, shares map[*contender]share) int {
	if t.rules.NonBorrowingFirst {
		if x, y := shares[a].borrowsAny(a.used), shares[b].borrowsAny(b.used); x != y {
			if y {
				return -1
			}
			return 1
		}
	}
	if order := shares[a].compare(shares[b]); order != 0 {
		return order
	}
	if t.rules.PriorityFirst && a.w.priority != b.w.priority {
		return cmp.Compare(b.w.priority, a.w.priority)
	}
	return a.w.since.Compare(b.w.since)
}

// fairest takes the entry that comes next by fair sharing.
func (t *tree) fairest(entries map[*node]*contender) *contender {
	shares := map[*node]map[*contender]share{}
	for queue, e := range entries {
		if t.root.isQueue() {
			return e
		}
		queue.useAll(e.used)
		s := queue.share()
		for at := queue.parent; at != nil; at = at.parent {
			if shares[at] == nil {
				shares[at] = map[*contender]share{}
			}
			shares[at][e] = s
			s = at.share()
		}
		queue.releaseAll(e.used)
	}
	return t.tournament(t.root, entries, shares)
}
