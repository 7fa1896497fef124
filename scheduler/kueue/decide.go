package kueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// Decide says what Kueue does about a workload. What is played for one is remembered for all.
func (s *State) Decide(namespace, name string) Decision { return s.decide(namespace, name, false) }

// DecideAlone decides as Decide does, and plays no longer than until it is known. If it is asked about one
// workload, this is faster; about many, it is slower.
func (s *State) DecideAlone(namespace, name string) Decision { return s.decide(namespace, name, true) }

func (s *State) decide(namespace, name string, alone bool) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := Ref{namespace, name}
	d := Decision{Workload: ref, Outcome: Unknown}
	w := s.workloads[ref]
	if w == nil {
		d.Reasons = []Reason{{Code: WorkloadNotFound, Workload: ref, Message: fmt.Sprintf("there is no Workload %s/%s", namespace, name)}}
		return d
	}
	d.LocalQueue, d.ClusterQueue = string(w.Spec.QueueName), s.QueueOf(w)
	if isTrue(w, kueuev1beta2.WorkloadFinished) {
		d.Outcome = Finished
		return d
	}
	if holdsQuota(w) {
		s.describeHeld(&d, w)
		return d
	}
	n := s.queues[d.ClusterQueue]
	if why := s.outside(w, n); why != nil {
		counts := s.factsOf(w)
		d.Outcome, d.Reasons, d.PodSets = Refused, []Reason{*why}, setsOf(w, counts.sets)
		if why.Code == UnmappedClass && s.config.Assumed {
			d.Outcome, d.Reasons, d.Assumptions = Unknown, counts.assumed, counts.assumed
		}
		if why.Code == Backoff {
			d.NotBefore = w.Status.RequeueState.RequeueAt.Time
		}
		return d
	}
	s.describePending(&d, w, n, alone)
	return d
}

// outside says why a workload is in no queue, or returns nil.
func (s *State) outside(w *kueuev1beta2.Workload, n *queue) *Reason {
	gate := w.Annotations["kueue.x-k8s.io/admission-gated-by"]
	lq := s.localQueues[Ref{w.Namespace, string(w.Spec.QueueName)}]
	reserved := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadQuotaReserved)
	switch {
	case w.Spec.Active != nil && !*w.Spec.Active:
		return &Reason{Code: Deactivated, Message: "The workload is deactivated"}
	case gate != "" && s.config.gate("AdmissionGatedBy"):
		return &Reason{Code: AdmissionGated, Name: gate, Message: "its admission is gated by " + gate}
	case reserved != nil && reserved.Status == metav1.ConditionFalse && reserved.Reason == kueuev1beta2.WorkloadOnHold:
		return &Reason{Code: OnHold, Message: reserved.Message}
	case isTrue(w, kueuev1beta2.WorkloadQuotaReserved):
		return &Reason{Code: OnHold, Message: "it has reserved quota, but its admission is not there"}
	case isTrue(w, kueuev1beta2.WorkloadWaitingForReplacementPods):
		return &Reason{Code: WaitingForReplacement, Message: "it waits for pods that replace others"}
	case w.Spec.QueueName == "":
		return &Reason{Code: NoLocalQueue, Message: "it names no LocalQueue"}
	case lq == nil:
		return &Reason{Code: LocalQueueNotFound, Name: string(w.Spec.QueueName), Message: fmt.Sprintf("LocalQueue %s doesn't exist", w.Spec.QueueName)}
	case lq.Spec.StopPolicy != nil && *lq.Spec.StopPolicy != kueuev1beta2.None:
		return &Reason{Code: LocalQueueStopped, Name: lq.Name, Message: fmt.Sprintf("LocalQueue %s is stopped", lq.Name)}
	case n == nil:
		return &Reason{Code: ClusterQueueNotFound, ClusterQueue: string(lq.Spec.ClusterQueue), Message: fmt.Sprintf("ClusterQueue %s doesn't exist", lq.Spec.ClusterQueue)}
	case n.inactive != nil:
		return n.inactive
	}
	if r := s.backoff(w); r != nil {
		return r
	}
	if counts := s.factsOf(w); len(counts.refused) > 0 {
		return &counts.refused[0]
	}
	return nil
}

// backoff says that a workload is to wait after an eviction, or returns nil.
func (s *State) backoff(w *kueuev1beta2.Workload) *Reason {
	if at := w.Status.RequeueState; at != nil && at.RequeueAt != nil && s.now.Before(at.RequeueAt.Time) {
		return &Reason{Code: Backoff, Message: "it is considered again at " + at.RequeueAt.UTC().Format(time.RFC3339)}
	}
	requeued := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadRequeued)
	if requeued == nil || requeued.Status != metav1.ConditionFalse || s.needsDRA(w) {
		return nil
	}
	switch requeued.Reason {
	case kueuev1beta2.WorkloadDeactivated, kueuev1beta2.WorkloadEvictedByPodsReadyTimeout, kueuev1beta2.WorkloadEvictedByAdmissionCheck,
		kueuev1beta2.WorkloadEvictedByClusterQueueStopped, kueuev1beta2.WorkloadEvictedByLocalQueueStopped:
		return nil // Kueue's controller is about to requeue it
	}
	return &Reason{Code: Requeuing, Name: requeued.Reason, Message: requeued.Message}
}

// refusal says why the scheduler does not admit a workload whose turn it is, whatever the quota.
func (s *State) refusal(w *kueuev1beta2.Workload, n *queue) (refused, unknown *Reason) {
	for _, c := range w.Status.AdmissionChecks {
		if c.State == kueuev1beta2.CheckStateRetry || c.State == kueuev1beta2.CheckStateRejected {
			return &Reason{Code: AdmissionCheckFailed, Name: string(c.Name), ClusterQueue: n.Name, Message: "The workload has failed admission checks"}, nil
		}
	}
	ns := s.namespaces[w.Namespace]
	mismatch := &Reason{Code: NamespaceMismatch, ClusterQueue: n.Name, Name: w.Namespace, Message: "workload namespace doesn't match ClusterQueue selector"}
	switch selector := n.namespaces; {
	case selector.Empty():
	case n.spec.NamespaceSelector == nil:
		return mismatch, nil
	case ns == nil:
		return nil, &Reason{Code: NamespaceUnread, Name: w.Namespace, Message: "namespace " + w.Namespace + " was not read"}
	case !selector.Matches(labels.Set(ns.Labels)):
		return mismatch, nil
	}
	if why := s.factsOf(w).exceeds; why != nil {
		return why, nil
	}
	switch {
	case w.Annotations["kueue.x-k8s.io/workload-slice-replacement-for"] != "" && s.config.gate("ElasticJobsViaWorkloadSlices"):
		return nil, &Reason{Code: ElasticUndecided, Message: "it takes the place of another slice of an elastic job"}
	case n.unknown != nil:
		return nil, n.unknown
	}
	return nil, s.undecidedGate()
}

// undecidedGate names a feature gate that the Configuration sets and that is not decided here, or is nil.
func (s *State) undecidedGate() *Reason {
	for _, name := range sortedKeys(s.config.Gates) {
		switch name {
		case "FlavorFungibility", "VectorizedResourceRequests", "FlavorFungibilityPreserveScanProgress":
			if s.config.Gates[name] {
				continue
			}
		case "ConcurrentAdmission", "PriorityBoost", "MultiKueueOrchestratedPreemption", "RecomputeAssignmentUponPreemptionTargetsOverlap",
			"SchedulerLibraryIntegration":
			if !s.config.Gates[name] {
				continue
			}
		default:
			continue
		}
		return &Reason{Code: GateUndecided, Name: name, Message: fmt.Sprintf("feature gate %s=%t is not decided", name, s.config.Gates[name])}
	}
	return nil
}

// prepare finds out who waits in a queue.
func (s *State) prepare(n *queue) {
	if s.prepared[n] {
		return
	}
	s.prepared[n] = true
	for _, w := range s.waiting[n.Name] {
		if isTrue(w, kueuev1beta2.WorkloadFinished) || s.outside(w, n) != nil {
			continue
		}
		waits := &waiting{Workload: s.newWorkload(w, n.Node), queue: n, ref: Ref{w.Namespace, w.Name}}
		counts := s.factsOf(w)
		waits.Sets, waits.shape = counts.sets, counts.shape
		waits.refused, waits.unknown = s.refusal(w, n)
		if len(counts.unknown) > 0 {
			waits.unknown = &counts.unknown[0]
		}
		n.pending = append(n.pending, waits)
	}
	slices.SortFunc(n.pending, compareQueued)
}

// play plays the tree of a queue, once. If there is only one workload to know about, it plays until what
// becomes of that one and of those before it in its queue is known; what it says of others is nothing then.
func (s *State) play(n *queue, only *Ref) map[Ref]*record {
	root := n.Root()
	if known := s.played[root]; known != nil {
		return known
	}
	p := &play{Tree: quota.Tree{Root: root, Rules: s.config.rules()}, state: s, records: map[*waiting]*record{}, first: map[*queue]*waiting{}}
	if root.IsQueue() {
		p.queues = []*queue{n}
	} else {
		for _, below := range root.SubtreeQueues() {
			p.queues = append(p.queues, s.queues[below.Name])
		}
	}
	slices.SortFunc(p.queues, func(a, b *queue) int { return cmp.Compare(a.Name, b.Name) })
	before := map[*queue][]*waiting{}
	for _, queue := range p.queues {
		s.prepare(queue)
		before[queue] = slices.Clone(queue.pending)
		for _, w := range queue.pending {
			w.tried = nil
		}
	}
	if only != nil {
		at := slices.IndexFunc(n.pending, func(w *waiting) bool { return w.ref == *only })
		p.only = before[n][:at+1]
	}
	p.run()
	out := map[Ref]*record{}
	for _, queue := range p.queues {
		head := p.head(queue)
		for _, w := range before[queue] {
			r := p.records[w]
			switch {
			case r != nil:
			case w.unknown != nil: // who knows whether it is in the queue at all
				r = &record{outcome: Unknown, reasons: []Reason{*w.unknown}}
			case p.doubt != nil:
				r = &record{outcome: Unknown, reasons: []Reason{*p.doubt}}
			case head != nil && head != w:
				r = &record{outcome: Waits, reasons: []Reason{{Code: BehindHead, ClusterQueue: queue.Name, Workload: head.ref,
					Message: fmt.Sprintf("workload %s/%s is the head of ClusterQueue %s and does not go", head.ref.Namespace, head.ref.Name, queue.Name)}}}
			default:
				r = &record{outcome: Unknown, reasons: []Reason{{Code: TooManyCycles}}}
			}
			out[w.ref] = r
		}
		queue.pending = before[queue]
	}
	if only == nil {
		s.played[root] = out
	}
	return out
}

// setsOf describes pod sets.
func setsOf(w *kueuev1beta2.Workload, sets []quota.Pods) []PodSet {
	asked := map[string]int32{}
	for i := range w.Spec.PodSets {
		asked[string(w.Spec.PodSets[i].Name)] = w.Spec.PodSets[i].Count
	}
	out := make([]PodSet, len(sets))
	for i := range sets {
		out[i] = PodSet{Name: sets[i].Name, Count: sets[i].Count, Asked: asked[sets[i].Name], Flavors: sets[i].Flavors, Requests: map[corev1.ResourceName]Amount{}}
		for _, r := range sets[i].Requests {
			out[i].Requests[r.Resource] = r.Amount
		}
	}
	return out
}

// describeHeld fills in a decision about a workload that has quota.
func (s *State) describeHeld(d *Decision, w *kueuev1beta2.Workload) {
	d.Outcome, d.PodSets = Reserved, setsOf(w, s.admittedSets(w))
	if isTrue(w, kueuev1beta2.WorkloadAdmitted) {
		d.Outcome = Admitted
	} else {
		for _, c := range w.Status.AdmissionChecks {
			if c.State != kueuev1beta2.CheckStateReady {
				d.Checks = append(d.Checks, string(c.Name))
			}
		}
	}
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadEvicted); c != nil && c.Status == metav1.ConditionTrue {
		d.Reasons = append(d.Reasons, Reason{Code: Evicting, Name: c.Reason, ClusterQueue: d.ClusterQueue, Message: c.Message})
	}
}

// describePending fills in a decision about a workload that is in a queue.
func (s *State) describePending(d *Decision, w *kueuev1beta2.Workload, n *queue, alone bool) {
	var only *Ref
	if alone {
		only = &d.Workload
	}
	records := s.play(n, only)
	r := records[d.Workload]
	counts := s.factsOf(w)
	d.Outcome, d.Reasons, d.Message, d.PodSets = r.outcome, r.reasons, r.message, setsOf(w, counts.sets)
	d.Assumptions = counts.assumed
	if s.config.Assumed && !slices.ContainsFunc(d.Assumptions, func(a Reason) bool { return a.Code == ConfigurationAssumed }) {
		d.Assumptions = append(d.Assumptions, Reason{Code: ConfigurationAssumed, Message: "Kueue's Configuration was not read: its defaults are assumed"})
	}
	if a := r.assignment; a != nil && (r.outcome == Fits || r.outcome == Preempts) {
		d.Borrows = a.level > 0
		d.PodSets = nil
		for i := range a.sets {
			set := setsOf(w, []quota.Pods{a.sets[i].Pods})[0]
			set.Flavors = map[corev1.ResourceName]string{}
			for name, c := range a.sets[i].choices {
				set.Flavors[name] = c.flavor
			}
			d.PodSets = append(d.PodSets, set)
		}
		d.Checks = s.checksFor(n, d.PodSets)
		for _, name := range d.Checks {
			if c := s.checks[name]; c != nil && c.Spec.ControllerName == kueuev1beta2.MultiKueueControllerName {
				d.Assumptions = append(d.Assumptions, Reason{Code: MultiKueueUndecided, Name: name, Message: "it then goes to another cluster, whose queues were not read"})
			}
		}
	}
	for _, v := range r.victims {
		d.Victims = append(d.Victims, Victim{refOf(v.Workload), v.Workload.Queue.Name, v.Why})
	}
	d.Ahead = aheadOf(d.Workload, n, records)
}

// aheadOf are the workloads that come before one in its queue. At most one of them blocks the queue: the one
// for which others are being evicted, and in a StrictFIFO queue the first that does not go.
func aheadOf(ref Ref, q *queue, records map[Ref]*record) []Ahead {
	var out []Ahead
	blocked := false
	for _, other := range q.pending {
		if other.ref == ref {
			break
		}
		theirs := records[other.ref]
		ahead := Ahead{Workload: other.ref, Priority: int32(other.Priority), Outcome: theirs.outcome}
		if len(theirs.reasons) > 0 {
			ahead.Reason = &theirs.reasons[0]
		}
		passes := theirs.outcome == Fits || theirs.outcome == Unknown || other.refused != nil && other.refused.Code == NamespaceMismatch
		ahead.Blocks = !blocked && !passes && (q.strict || theirs.outcome == Preempts)
		blocked = blocked || ahead.Blocks
		out = append(out, ahead)
	}
	return out
}

// checksFor are the AdmissionChecks that follow once a workload has these flavors.
func (s *State) checksFor(n *queue, sets []PodSet) []string {
	var out []string
	if n.spec.AdmissionChecksStrategy == nil {
		return nil
	}
	for _, rule := range n.spec.AdmissionChecksStrategy.AdmissionChecks {
		applies := len(rule.OnFlavors) == 0
		for i := range sets {
			for _, flavor := range sets[i].Flavors {
				applies = applies || slices.Contains(rule.OnFlavors, kueuev1beta2.ResourceFlavorReference(flavor))
			}
		}
		if applies {
			out = append(out, string(rule.Name))
		}
	}
	slices.Sort(out)
	return out
}

// Counted is what a workload counts for.
type Counted struct {
	// PodSets have the requests of all their pods.
	PodSets []PodSet
	// Refused says what Kueue refuses to count; it does not consider such a workload.
	Refused []Reason
	// Unknown says what is not decided here, Assumed what was not read.
	Unknown, Assumed []Reason
}

// Requests is how much of which resource the pod sets of a workload count for, as long as it has no quota.
// There need be no Workload object of this name in the state, so that a workload can be asked about before it
// is created.
func (s *State) Requests(w *kueuev1beta2.Workload) Counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	counts := s.count(w)
	return Counted{PodSets: setsOf(w, counts.sets), Refused: counts.refused, Unknown: counts.unknown, Assumed: counts.assumed}
}
