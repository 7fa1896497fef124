package quota

import (
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Rules are what a Configuration decides about who evicts whom.
type Rules struct {
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

// Tree is a tree of cohorts, or one ClusterQueue without a cohort, in which workloads evict each other: no
// other quota matters to them.
type Tree struct {
	Root  *Node
	Rules Rules
	// Tie is set when Kueue chooses at random.
	Tie bool
}

// Fit is how well something fits, from not at all to at once.
type Fit int

const (
	// NoFit is for what does not fit whoever is evicted.
	NoFit Fit = iota
	// NoCandidates says that it would fit after evictions, but there is nobody whom it may evict.
	NoCandidates
	fitsEvicting   // after evictions, of workloads of its own ClusterQueue too
	fitsReclaiming // after evictions in other ClusterQueues
	// FitsNow is for what fits at once.
	FitsNow
)

// Mode is how well a flavor fits, and how far away in the cohorts its quota is.
type Mode struct {
	Fit   Fit
	Level int
}

// Better reports whether a flavor with mode a is preferred to one with mode b.
func (a Mode) Better(b Mode, policy *kueuev1beta2.FlavorFungibility) bool {
	switch {
	case a.Fit == NoFit || b.Fit == NoFit:
		return a.Fit != NoFit
	case (a.Fit == NoCandidates) != (b.Fit == NoCandidates):
		return b.Fit == NoCandidates
	}
	levelFirst := policy.Preference != nil && *policy.Preference == kueuev1beta2.PreemptionOverBorrowing
	if a.Fit == b.Fit || levelFirst && a.Level != b.Level {
		return a.Level < b.Level
	}
	return a.Fit > b.Fit
}

// Next reports whether Kueue looks at the next flavor, too.
func (a Mode) Next(policy *kueuev1beta2.FlavorFungibility) bool {
	return a.Fit == NoFit || a.Fit == NoCandidates ||
		(a.Fit == fitsEvicting || a.Fit == fitsReclaiming) && policy.WhenCanPreempt == kueuev1beta2.TryNextFlavor ||
		a.Level > 0 && policy.WhenCanBorrow == kueuev1beta2.TryNextFlavor
}

// FitEvicting is how well a request fits that is larger than what is free, and not than what there is.
func (t *Tree) FitEvicting(w *Workload, fr FlavorResource, value Amount) Mode {
	n := w.Queue
	level, part := n.Level(fr, value)
	if n.Quotas[fr].Nominal < value && !part && !t.evictsBorrowing(n) {
		return Mode{NoFit, level}
	}
	victims := t.Victims(w, []FlavorResource{fr}, Amounts{fr: value})
	if len(victims) == 0 {
		return Mode{NoCandidates, level}
	}
	for _, v := range victims {
		v.Workload.Queue.ReleaseAll(v.Workload.Used)
	}
	level, _ = n.Level(fr, value)
	possible := fitsReclaiming
	for _, v := range victims {
		v.Workload.Queue.UseAll(v.Workload.Used)
		if v.Workload.Queue == n {
			possible = fitsEvicting
		}
	}
	return Mode{possible, level}
}

// evictsBorrowing reports whether workloads of the queue may evict others while it borrows.
func (t *Tree) evictsBorrowing(q *Node) bool {
	within := q.Preemption.BorrowWithinCohort
	return within != nil && within.Policy != kueuev1beta2.BorrowWithinCohortPolicyNever && within.Policy != "" ||
		t.Rules.FairSharing && q.Preemption.ReclaimWithinCohort != kueuev1beta2.PreemptionPolicyNever && q.Preemption.ReclaimWithinCohort != ""
}
