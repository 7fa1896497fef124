package quota

import (
	"cmp"
	"maps"
	"slices"
	"time"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Eviction is a workload that would be evicted, and Kueue's reason.
type Eviction struct {
	Workload *Workload
	Why      string
}

// Victims are the workloads that Kueue evicts so that a workload gets what it asks for, as few as it finds;
// none if that is not possible. Short is what is not free now.
func (t *Tree) Victims(w *Workload, short []FlavorResource, asked Amounts) []Eviction {
	if t.Rules.FairSharing {
		return t.fairVictims(w, short, asked)
	}
	return t.classicVictims(w, short, asked)
}

func never(policy kueuev1beta2.PreemptionPolicy) bool {
	return policy == kueuev1beta2.PreemptionPolicyNever || policy == ""
}

// mayEvict reports whether a policy lets a workload evict another one.
func (t *Tree) mayEvict(w, other *Workload, policy kueuev1beta2.PreemptionPolicy) bool {
	switch policy {
	case kueuev1beta2.PreemptionPolicyAny:
		return true
	case kueuev1beta2.PreemptionPolicyLowerPriority:
		return w.Priority > other.Priority
	case kueuev1beta2.PreemptionPolicyLowerOrNewerEqualPriority:
		newer := other.Since.After(w.Since)
		if t.Rules.Buffered {
			newer = other.Since.Sub(w.Since) > 5*time.Minute
		}
		return w.Priority > other.Priority || w.Priority == other.Priority && newer
	}
	return false
}

// compareCandidates says who is evicted first for a workload of a queue.
func compareCandidates(a, b *Workload, queue *Node) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	return cmp.Or(first(a.Evicted, b.Evicted), first(a.Queue != queue, b.Queue != queue), cmp.Compare(a.Priority, b.Priority), b.Reserved.Compare(a.Reserved),
		cmp.Compare(a.Object.UID, b.Object.UID), cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
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
	w *Workload
	// under is the cohort in which the queues of both are.
	under   *Node
	variant variant
}

// classic looks for the workloads to evict where there is no fair sharing.
type classic struct {
	*Tree
	w     *Workload
	short []FlavorResource
	asked Amounts
}

func (t *Tree) classicVictims(w *Workload, short []FlavorResource, asked Amounts) []Eviction {
	c := &classic{t, w, short, asked}
	own := c.of(w.Queue, nil, false)
	nearer, others := c.inCohort()
	if len(own)+len(nearer)+len(others) == 0 {
		return nil
	}
	lists := [][]candidate{nearer, others, own}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b candidate) int { return compareCandidates(a.w, b.w, w.Queue) })
	}
	var all []candidate
	for _, evicted := range []bool{true, false} {
		for _, list := range lists {
			for _, x := range list {
				if x.w.Evicted == evicted {
					all = append(all, x)
				}
			}
		}
	}
	within := w.Queue.Preemption.BorrowWithinCohort
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
func (c *classic) attempt(all []candidate, borrow bool) []Eviction {
	var victims []Eviction
	fits := false
	for _, x := range all {
		if !c.valid(x, borrow) {
			continue
		}
		x.w.Queue.ReleaseAll(x.w.Used)
		victims = append(victims, Eviction{x.w, x.variant.reason()})
		if fits = fitsAfter(c.w.Queue, c.asked, borrow); fits {
			victims = takeBack(c.w.Queue, victims, c.asked, borrow)
			break
		}
	}
	for _, v := range victims {
		v.Workload.Queue.UseAll(v.Workload.Used)
	}
	if !fits {
		return nil
	}
	return victims
}

// takeBack leaves those alone for whom there is room after all, the last ones first.
func takeBack(queue *Node, victims []Eviction, asked Amounts, borrow bool) []Eviction {
	for i := len(victims) - 2; i >= 0; i-- {
		v := victims[i].Workload
		v.Queue.UseAll(v.Used)
		if fitsAfter(queue, asked, borrow) {
			victims[i] = victims[len(victims)-1]
			victims = victims[:len(victims)-1]
		} else {
			v.Queue.ReleaseAll(v.Used)
		}
	}
	return victims
}

func fitsAfter(queue *Node, asked Amounts, borrow bool) bool {
	for fr, a := range asked {
		if !borrow && queue.over(fr, a) || a > max(0, queue.Free(fr)) {
			return false
		}
	}
	return true
}

// below reports whether the queue uses less than its own quota of everything that is short.
func (c *classic) below() bool {
	for _, fr := range c.short {
		if c.w.Queue.Quotas[fr].Nominal <= c.w.Queue.Usage[fr] {
			return false
		}
	}
	return true
}

// valid reports whether a candidate still is one: its queue, and all between it and the common cohort, use
// more than they have.
func (c *classic) valid(x candidate, borrow bool) bool {
	if x.w.Queue == c.w.Queue {
		return true
	}
	if borrow && x.variant == unlessBorrowing {
		return false
	}
	for n := x.w.Queue; n != nil && n != x.under; n = n.Parent {
		if n.within(c.short) {
			return false
		}
	}
	return true
}

// of are the candidates of one queue.
func (c *classic) of(queue, under *Node, nearer bool) []candidate {
	policy := c.w.Queue.Preemption.ReclaimWithinCohort
	if queue == c.w.Queue {
		policy = c.w.Queue.Preemption.WithinClusterQueue
	}
	if never(policy) {
		return nil
	}
	var out []candidate
	for other := range queue.Held {
		if !other.usesAny(c.short) || !c.mayEvict(c.w, other, policy) {
			continue
		}
		x := candidate{other, under, unlessBorrowing}
		switch within := c.w.Queue.Preemption.BorrowWithinCohort; {
		case queue == c.w.Queue:
			x.variant = inQueue
		case nearer:
			x.variant = byHierarchy
		case within != nil && within.Policy != kueuev1beta2.BorrowWithinCohortPolicyNever && within.Policy != "" && other.Priority < c.w.Priority &&
			(within.MaxPriorityThreshold == nil || other.Priority <= int64(*within.MaxPriorityThreshold)):
			x.variant = whileBorrowing
		}
		out = append(out, x)
	}
	return out
}

// inCohort are the candidates of other queues: those to whose quota the workload is nearer, and the others.
func (c *classic) inCohort() (nearer, others []candidate) {
	if never(c.w.Queue.Preemption.ReclaimWithinCohort) {
		return nil, nil
	}
	var last *Node
	rest := maps.Clone(c.asked)
	fits := takeRoom(c.w.Queue, rest)
	for at := c.w.Queue.Parent; at != nil; at = at.Parent {
		found := c.inSubtree(at, at, last, fits, nil)
		if fits {
			nearer = append(nearer, found...)
		} else {
			others = append(others, found...)
		}
		here := takeRoom(at, rest)
		fits, last = fits || here, at
	}
	return nearer, others
}

// takeRoom reports whether the quota of a subtree is enough for requests, and leaves of them what is left for
// the cohort above.
func takeRoom(n *Node, rest Amounts) bool {
	fits := true
	for fr, a := range rest {
		fits = fits && !n.over(fr, a)
		rest[fr] = max(0, a.Sub(n.localFree(fr)))
	}
	return fits
}

func (c *classic) inSubtree(at, under, skip *Node, nearer bool, out []candidate) []candidate {
	for _, child := range at.Cohorts {
		if child != skip && !child.within(c.short) {
			out = c.inSubtree(child, under, skip, nearer, out)
		}
	}
	for _, child := range at.Queues {
		if child != c.w.Queue && !child.within(c.short) {
			out = append(out, c.of(child, under, nearer)...)
		}
	}
	return out
}
