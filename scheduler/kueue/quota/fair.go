package quota

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
	borrowed      map[FlavorResource]bool
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
func (s share) borrowsAny(asked Amounts) bool {
	for fr := range s.borrowed {
		if asked[fr] > 0 {
			return true
		}
	}
	return false
}

func (n *Node) share() share {
	out := share{weight: n.weight, borrowed: map[FlavorResource]bool{}}
	if n.Parent == nil {
		return out
	}
	borrowed := map[corev1.ResourceName]Amount{}
	for fr, a := range n.Subtree {
		if more := n.Usage[fr].Sub(a); more > 0 {
			borrowed[fr.Resource] = borrowed[fr.Resource].Add(more)
			out.borrowed[fr] = true
		}
	}
	if len(borrowed) == 0 {
		return out
	}
	lendable := map[corev1.ResourceName]Amount{}
	for fr := range n.Root().Subtree {
		lendable[fr.Resource] = lendable[fr.Resource].Add(n.Parent.Most(fr))
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
	*Tree
	w          *Workload
	short      []FlavorResource
	asked      Amounts
	candidates map[*Node][]*Workload
	pruned     map[*Node]bool
	victims    []Eviction
}

func (t *Tree) fairVictims(w *Workload, short []FlavorResource, asked Amounts) []Eviction {
	f := &fair{Tree: t, w: w, short: short, asked: asked}
	candidates := f.all()
	if len(candidates) == 0 {
		return nil
	}
	slices.SortFunc(candidates, func(a, b *Workload) int { return compareCandidates(a, b, w.Queue) })
	strategies := t.Rules.Strategies
	if len(strategies) == 0 {
		strategies = []string{lessThanOrEqualToFinalShare, lessThanInitialShare}
	}
	w.Queue.UseAll(asked) // shares count the workload
	fits, retry := f.first(candidates, strategies[0])
	if !fits && len(strategies) > 1 {
		fits = f.second(retry)
	}
	w.Queue.ReleaseAll(asked)
	if fits {
		f.victims = takeBack(w.Queue, f.victims, asked, true)
	}
	for _, v := range f.victims {
		v.Workload.Queue.UseAll(v.Workload.Used)
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
func (f *fair) all() []*Workload {
	var out []*Workload
	add := func(queue *Node, policy kueuev1beta2.PreemptionPolicy) {
		if never(policy) {
			return
		}
		for other := range queue.Held {
			if other.usesAny(f.short) && f.mayEvict(f.w, other, policy) {
				out = append(out, other)
			}
		}
	}
	policies := &f.w.Queue.Preemption
	add(f.w.Queue, policies.WithinClusterQueue)
	if f.w.Queue.Parent != nil {
		for _, queue := range f.w.Queue.Root().SubtreeQueues() {
			if queue != f.w.Queue && !queue.within(f.short) {
				add(queue, policies.ReclaimWithinCohort)
			}
		}
	}
	return out
}

func (f *fair) begin(candidates []*Workload) {
	f.candidates, f.pruned = map[*Node][]*Workload{}, map[*Node]bool{}
	for _, c := range candidates {
		f.candidates[c.Queue] = append(f.candidates[c.Queue], c)
	}
}

func (f *fair) pop(queue *Node) *Workload {
	first := f.candidates[queue][0]
	f.candidates[queue] = f.candidates[queue][1:]
	return first
}

// evict takes a workload out and reports whether there is room then.
func (f *fair) evict(v *Workload, why string) bool {
	v.Queue.ReleaseAll(v.Used)
	f.victims = append(f.victims, Eviction{v, why})
	f.w.Queue.ReleaseAll(f.asked)
	fits := fitsAfter(f.w.Queue, f.asked, true)
	f.w.Queue.UseAll(f.asked)
	return fits
}

// target is the queue from which to evict next, or nil.
func (f *fair) target() *Node {
	if f.w.Queue.Parent == nil {
		if !f.pruned[f.w.Queue] && len(f.candidates[f.w.Queue]) > 0 {
			return f.w.Queue
		}
		return nil
	}
	root := f.w.Queue.Root()
	for !f.pruned[root] {
		if found := f.largest(root); found != nil {
			return found
		}
	}
	return nil
}

// largest is the queue below a cohort that one comes to by always going where the share is largest. Nil means
// that a part of the tree was pruned.
func (f *fair) largest(at *Node) *Node {
	lowest := share{weight: 1, ratio: -1}
	var queue, cohort *Node
	queueShare, cohortShare := lowest, lowest
	for _, child := range at.Queues {
		if f.pruned[child] {
			continue
		}
		s := child.share()
		if len(s.borrowed) == 0 && child != f.w.Queue || len(f.candidates[child]) == 0 {
			f.pruned[child] = true
			continue
		}
		order := s.compare(queueShare)
		if order > 0 || order == 0 && compareCandidates(f.candidates[child][0], f.candidates[queue][0], f.w.Queue) < 0 {
			queue, queueShare = child, s
		}
	}
	for _, child := range at.Cohorts {
		if f.pruned[child] {
			continue
		}
		s := child.share()
		if len(s.borrowed) == 0 && !f.above(child) {
			f.pruned[child] = true
		} else if order := s.compare(cohortShare); order >= 0 {
			f.Tie = f.Tie || order == 0 // Kueue takes any of them
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

func (f *fair) above(cohort *Node) bool {
	for at := f.w.Queue.Parent; at != nil; at = at.Parent {
		if at == cohort {
			return true
		}
	}
	return false
}

// rivals are the parts of the tree, just below the common cohort, in which the queue of the workload and
// another one are.
func (f *fair) rivals(queue *Node) (own, other *Node) {
	other = queue
	for !f.above(other.Parent) {
		other = other.Parent
	}
	own = f.w.Queue
	for own.Parent != other.Parent {
		own = own.Parent
	}
	return own, other
}

// first evicts by the first strategy. It returns also the workloads that this one spared.
func (f *fair) first(candidates []*Workload, strategy string) (fits bool, spared []*Workload) {
	f.begin(candidates)
	entitled := f.Rules.WithinNominal && f.w.Queue.within(f.short)
	for queue := f.target(); queue != nil; queue = f.target() {
		switch {
		case queue == f.w.Queue:
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
			queue.ReleaseAll(v.Used)
			newShare := other.share()
			queue.UseAll(v.Used)
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
func (f *fair) second(candidates []*Workload) bool {
	f.begin(candidates)
	for queue := f.target(); queue != nil; queue = f.target() {
		own, other := queue, queue
		if queue != f.w.Queue {
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

// Contender is the head of a queue, with what it would use.
type Contender struct {
	Workload *Workload
	Used     Amounts
}

// tournament picks of the heads of queues below a cohort the one whose part of the tree would have the
// smallest share with it.
func (t *Tree) tournament(at *Node, entries map[*Node]*Contender, shares map[*Node]map[*Contender]share) *Contender {
	var best *Contender
	for _, child := range slices.Concat(at.Cohorts, at.Queues) {
		e := entries[child]
		if !child.IsQueue() {
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
			t.Tie = true
		}
	}
	return best
}

func (t *Tree) compareFair(a, b *Contender, shares map[*Contender]share) int {
	if t.Rules.NonBorrowingFirst {
		if x, y := shares[a].borrowsAny(a.Used), shares[b].borrowsAny(b.Used); x != y {
			if y {
				return -1
			}
			return 1
		}
	}
	if order := shares[a].compare(shares[b]); order != 0 {
		return order
	}
	if t.Rules.PriorityFirst && a.Workload.Priority != b.Workload.Priority {
		return cmp.Compare(b.Workload.Priority, a.Workload.Priority)
	}
	return a.Workload.Since.Compare(b.Workload.Since)
}

// Fairest takes the contender that comes next by fair sharing.
func (t *Tree) Fairest(entries map[*Node]*Contender) *Contender {
	shares := map[*Node]map[*Contender]share{}
	for queue, e := range entries {
		if t.Root.IsQueue() {
			return e
		}
		queue.UseAll(e.Used)
		s := queue.share()
		for at := queue.Parent; at != nil; at = at.Parent {
			if shares[at] == nil {
				shares[at] = map[*Contender]share{}
			}
			shares[at][e] = s
			s = at.share()
		}
		queue.ReleaseAll(e.Used)
	}
	return t.tournament(t.Root, entries, shares)
}
