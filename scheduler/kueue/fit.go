package kueue

import (
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// rules are what a Configuration decides about who evicts whom.
type rules struct {
	// FairSharing says that preemption and order follow the dominant resource share, Strategies by which
	// rules; none means LessThanOrEqualToFinalShare and LessThanInitialShare.
	FairSharing bool
	Strategies  []string
	// WithinNominal says that who uses no more than its quota evicts whatever the shares are.
	WithinNominal bool
	// NonBorrowingFirst says that who borrows nothing that is asked for comes before who does.
	NonBorrowingFirst bool
	// PriorityFirst says that of several queues the more important workload comes first.
	PriorityFirst bool
	// Buffered says that a workload evicts another of its priority only if that is newer by some minutes.
	Buffered bool
}

// tree is a tree of cohorts, or one ClusterQueue without a cohort, in which workloads evict each other: no
// other quota matters to them.
type tree struct {
	root  *node
	rules rules
	// tie is set when Kueue chooses at random.
	tie bool
}

// fit is how well something fits, from not at all to at once.
type fit int

const (
	noFit          fit = iota
	noCandidates       // it would fit after evictions, but there is nobody whom it may evict
	fitsEvicting       // after evictions, of workloads of its own ClusterQueue too
	fitsReclaiming     // after evictions in other ClusterQueues
	fitsNow
)

// mode is how well a flavor fits, and how far away in the cohorts its quota is.
type mode struct {
	fit   fit
	level int
}

// better reports whether a flavor with mode a is preferred to one with mode b.
func (a mode) better(b mode, policy *kueuev1beta2.FlavorFungibility) bool {
	switch {
	case a.fit == noFit || b.fit == noFit:
		return a.fit != noFit
	case (a.fit == noCandidates) != (b.fit == noCandidates):
		return b.fit == noCandidates
	}
	levelFirst := policy.Preference != nil && *policy.Preference == kueuev1beta2.PreemptionOverBorrowing
	if a.fit == b.fit || levelFirst && a.level != b.level {
		return a.level < b.level
	}
	return a.fit > b.fit
}

// next reports whether Kueue looks at the next flavor, too.
func (a mode) next(policy *kueuev1beta2.FlavorFungibility) bool {
	return a.fit == noFit || a.fit == noCandidates ||
		(a.fit == fitsEvicting || a.fit == fitsReclaiming) && policy.WhenCanPreempt == kueuev1beta2.TryNextFlavor ||
		a.level > 0 && policy.WhenCanBorrow == kueuev1beta2.TryNextFlavor
}

// evicting is how well a request fits that is larger than what is free, and not than what there is.
func (t *tree) evicting(w *workload, fr flavorResource, value Amount) mode {
	n := w.queue
	level, part := n.level(fr, value)
	if n.quotas[fr].nominal < value && !part && !t.evictsBorrowing(n) {
		return mode{noFit, level}
	}
	victims := t.victims(w, map[flavorResource]bool{fr: true}, amounts{fr: value})
	if len(victims) == 0 {
		return mode{noCandidates, level}
	}
	for _, v := range victims {
		v.w.queue.releaseAll(v.w.used)
	}
	level, _ = n.level(fr, value)
	possible := fitsReclaiming
	for _, v := range victims {
		v.w.queue.useAll(v.w.used)
		if v.w.queue == n {
			possible = fitsEvicting
		}
	}
	return mode{possible, level}
}

// evictsBorrowing reports whether workloads of the queue may evict others while it borrows.
func (t *tree) evictsBorrowing(q *node) bool {
	within := q.preemption.BorrowWithinCohort
	return within != nil && within.Policy != kueuev1beta2.BorrowWithinCohortPolicyNever && within.Policy != "" ||
		t.rules.FairSharing && q.preemption.ReclaimWithinCohort != kueuev1beta2.PreemptionPolicyNever && q.preemption.ReclaimWithinCohort != ""
}
