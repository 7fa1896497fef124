package kueue

import (
	"cmp"
	"slices"
	"time"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// victim is a workload that would be evicted, and Kueue's reason.
type victim struct {
	w   *workload
	why string
}

// victims are the workloads that Kueue evicts so that a workload gets what it asks for, as few as it finds;
// none if that is not possible. Short is what is not free now.
func (t *tree) victims(w *workload, short map[flavorResource]bool, asked amounts) []victim {
	if t.rules.FairSharing {
		return t.fairVictims(w, short, asked)
	}
	return t.classicVictims(w, short, asked)
}

func never(policy kueuev1beta2.PreemptionPolicy) bool {
	return policy == kueuev1beta2.PreemptionPolicyNever || policy == ""
}

// mayEvict reports whether a policy lets a workload evict another one.
func (t *tree) mayEvict(w, other *workload, policy kueuev1beta2.PreemptionPolicy) bool {
	switch policy {
	case kueuev1beta2.PreemptionPolicyAny:
		return true
	case kueuev1beta2.PreemptionPolicyLowerPriority:
		return w.priority > other.priority
	case kueuev1beta2.PreemptionPolicyLowerOrNewerEqualPriority:
		newer := other.since.After(w.since)
		if t.rules.Buffered {
			newer = other.since.Sub(w.since) > 5*time.Minute
		}
		return w.priority > other.priority || w.priority == other.priority && newer
	}
	return false
}

// compareCandidates says who is evicted first for a workload of a queue.
func compareCandidates(a, b *workload, queue *node) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	return cmp.Or(first(a.evicted, b.evicted), first(a.queue != queue, b.queue != queue), cmp.Compare(a.priority, b.priority), b.reserved.Compare(a.reserved),
		cmp.Compare(a.obj.UID, b.obj.UID), cmp.Compare(a.obj.Namespace, b.obj.Namespace), cmp.Compare(a.obj.Name, b.obj.Name))
}

// variant is why a workload may be evicted for another one.
type variant int

const (
	inQueue         variant = iota
	byHierarchy             // the other one is nearer to the quota that this one borrows
	unlessBorrowing         // only if the other one does not borrow then
	whileBorrowing          // also if it does
)

func (v variant) reason() string {
	switch v {
	case inQueue:
		return kueuev1beta2.InClusterQueueReason
	case whileBorrowing:
		return kueuev1beta2.InCohortReclaimWhileBorrowingReason
	}
	return kueuev1beta2.InCohortReclamationReason
}

// candidate is a workload that may be evicted.
type candidate struct {
	w *workload
	// under is the cohort in which the queues of both are.
	under   *node
	variant variant
}

// classic looks for the workloads to evict where there is no fair sharing.
type classic struct {
	*tree
	w     *workload
	short map[flavorResource]bool
	asked amounts
}

func (t *tree) classicVictims(w *workload, short map[flavorResource]bool, asked amounts) []victim {
	c := &classic{t, w, short, asked}
	own := c.of(w.queue, nil, false)
	nearer, others := c.inCohort()
	var all []candidate
	for _, evicted := range []bool{true, false} {
		for _, list := range [][]candidate{nearer, others, own} {
			slices.SortFunc(list, func(a, b candidate) int { return compareCandidates(a.w, b.w, w.queue) })
			for _, x := range list {
				if x.w.evicted == evicted {
					all = append(all, x)
				}
			}
		}
	}
	within := w.queue.preemption.BorrowWithinCohort
	forbidden := within == nil || within.Policy == kueuev1beta2.BorrowWithinCohortPolicyNever || within.Policy == ""
	attempts := []bool{true, false}
	switch {
	case len(nearer)+len(others) == 0 || forbidden && !c.below():
		attempts = []bool{true}
	case forbidden && len(nearer) == 0:
		attempts = []bool{false, true}
	}
	for _, borrow := range attempts {
		if victims := c.attempt(all, borrow); victims != nil {
			return victims
		}
	}
	return nil
}

// attempt evicts one after the other until there is room, and then takes back whom it can.
func (c *classic) attempt(all []candidate, borrow bool) []victim {
	var victims []victim
	fits := false
	for _, x := range all {
		if !c.valid(x, borrow) {
			continue
		}
		x.w.queue.releaseAll(x.w.used)
		victims = append(victims, victim{x.w, x.variant.reason()})
		if fits = fitsAfter(c.w.queue, c.asked, borrow); fits {
			victims = takeBack(c.w.queue, victims, c.asked, borrow)
			break
		}
	}
	for _, v := range victims {
		v.w.queue.useAll(v.w.used)
	}
	if !fits {
		return nil
	}
	return victims
}

// takeBack leaves those alone for whom there is room after all, the last ones first.
func takeBack(queue *node, victims []victim, asked amounts, borrow bool) []victim {
	for i := len(victims) - 2; i >= 0; i-- {
		v := victims[i].w
		v.queue.useAll(v.used)
		if fitsAfter(queue, asked, borrow) {
			victims[i] = victims[len(victims)-1]
			victims = victims[:len(victims)-1]
		} else {
			v.queue.releaseAll(v.used)
		}
	}
	return victims
}

func fitsAfter(queue *node, asked amounts, borrow bool) bool {
	for fr, a := range asked {
		if !borrow && queue.over(fr, a) || a > max(0, queue.free(fr)) {
			return false
		}
	}
	return true
}

// below reports whether the queue uses less than its own quota of everything that is short.
func (c *classic) below() bool {
	for fr := range c.short {
		if c.w.queue.quotas[fr].nominal <= c.w.queue.usage[fr] {
			return false
		}
	}
	return true
}

// valid reports whether a candidate still is one: its queue, and all between it and the common cohort, use
// more than they have.
func (c *classic) valid(x candidate, borrow bool) bool {
	if x.w.queue == c.w.queue {
		return true
	}
	if borrow && x.variant == unlessBorrowing {
		return false
	}
	for n := x.w.queue; n != nil && n != x.under; n = n.parent {
		if n.within(c.short) {
			return false
		}
	}
	return true
}

// of are the candidates of one queue.
func (c *classic) of(queue, under *node, nearer bool) []candidate {
	policy := c.w.queue.preemption.ReclaimWithinCohort
	if queue == c.w.queue {
		policy = c.w.queue.preemption.WithinClusterQueue
	}
	if never(policy) {
		return nil
	}
	var out []candidate
	for other := range queue.held {
		if !other.usesAny(c.short) || !c.mayEvict(c.w, other, policy) {
			continue
		}
		x := candidate{other, under, unlessBorrowing}
		switch within := c.w.queue.preemption.BorrowWithinCohort; {
		case queue == c.w.queue:
			x.variant = inQueue
		case nearer:
			x.variant = byHierarchy
		case within != nil && within.Policy != kueuev1beta2.BorrowWithinCohortPolicyNever && within.Policy != "" && other.priority < c.w.priority &&
			(within.MaxPriorityThreshold == nil || other.priority <= int64(*within.MaxPriorityThreshold)):
			x.variant = whileBorrowing
		}
		out = append(out, x)
	}
	return out
}

// inCohort are the candidates of other queues: those to whose quota the workload is nearer, and the others.
func (c *classic) inCohort() (nearer, others []candidate) {
	if never(c.w.queue.preemption.ReclaimWithinCohort) {
		return nil, nil
	}
	var last *node
	fits, rest := roomIn(c.w.queue, c.asked)
	for at := c.w.queue.parent; at != nil; at = at.parent {
		found := c.inSubtree(at, at, last, fits, nil)
		if fits {
			nearer = append(nearer, found...)
		} else {
			others = append(others, found...)
		}
		var here bool
		here, rest = roomIn(at, rest)
		fits, last = fits || here, at
	}
	return nearer, others
}

// roomIn reports whether the quota of a subtree is enough for requests, and what of them is left for the
// cohort above.
func roomIn(n *node, asked amounts) (bool, amounts) {
	fits, rest := true, make(amounts, len(asked))
	for fr, a := range asked {
		fits = fits && !n.over(fr, a)
		rest[fr] = max(0, a.sub(n.localFree(fr)))
	}
	return fits, rest
}

func (c *classic) inSubtree(at, under, skip *node, nearer bool, out []candidate) []candidate {
	for _, child := range at.cohorts {
		if child != skip && !child.within(c.short) {
			out = c.inSubtree(child, under, skip, nearer, out)
		}
	}
	for _, child := range at.queues {
		if child != c.w.queue && !child.within(c.short) {
			out = append(out, c.of(child, under, nearer)...)
		}
	}
	return out
}
