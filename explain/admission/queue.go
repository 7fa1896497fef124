package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// assumedConfig is what is said of queues where the configuration of Kueue was not read.
const assumedConfig = "Kueue's Configuration was not read: it says what devices count for (--kueue-config FILE gives it)"

// partial says why what queues have and who goes is not known for certain, a sentence each.
func partial(c *kueueconfig.Config) []string {
	if config.Of(c).Assumed {
		return append([]string{assumedConfig}, config.Doubts(c)...)
	}
	return config.Doubts(c)
}

// Queues says what is in the queues of a snapshot.
type Queues struct {
	world
	usage []kueue.Usage
	s     *inspect.Snapshot
	// turns is how many of those that wait in the last ClusterQueue have a turn; they come first.
	turns int
	// finder finds the workloads of pods. It is nil until it is needed.
	finder *target.Finder
	// outside are the workloads for a ClusterQueue that Kueue does not consider, by its name.
	outside map[string][]kueue.Ref
}

// NewQueues returns the queues of a snapshot.
func NewQueues(s *inspect.Snapshot) *Queues {
	q := &Queues{s: s}
	q.objects = s.Objects()
	q.state = kueue.New(q.objects, config.State(s), s.Time())
	q.usages = sync.OnceValue(q.state.Usage)
	q.usage = q.usages()
	q.lookup = map[kueue.Ref]*kueuev1beta2.Workload{}
	in := map[kueue.Ref]bool{}
	for i := range q.usage {
		for _, ref := range q.usage[i].Pending {
			in[ref] = true
		}
	}
	q.outside = map[string][]kueue.Ref{}
	for _, w := range q.objects.KueueWorkloads {
		ref := kueue.Ref{Namespace: w.Namespace, Name: w.Name}
		q.lookup[ref] = w
		if in[ref] {
			continue
		}
		if d := q.state.Decide(w.Namespace, w.Name); d.Outcome == kueue.Refused || d.Outcome == kueue.Unknown {
			q.outside[d.ClusterQueue] = append(q.outside[d.ClusterQueue], ref)
		}
	}
	return q
}

// Decide says what Kueue does about a workload. What would go as far as is known is Unknown, and the reasons
// say what was not read.
func (q *Queues) Decide(w *kueuev1beta2.Workload) kueue.Decision {
	return q.decided(kueue.Ref{Namespace: w.Namespace, Name: w.Name})
}

func (q *Queues) decided(ref kueue.Ref) kueue.Decision {
	d := q.state.Decide(ref.Namespace, ref.Name)
	for _, doubt := range config.Doubts(q.s.Kueue()) {
		d.Assumptions = append(d.Assumptions, kueue.Reason{Code: kueue.ConfigurationAssumed, Message: doubt})
	}
	if (d.Outcome == kueue.Fits || d.Outcome == kueue.Preempts) && len(d.Assumptions) > 0 {
		d.Outcome, d.Reasons = kueue.Unknown, d.Assumptions
	}
	return d
}

// Waiting is a workload that Kueue does not admit, or of which it is not known whether it does.
type Waiting struct {
	Workload *kueuev1beta2.Workload
	Decision kueue.Decision
	// Reason is the main one. Message says it in a sentence without a subject, and Cause without what is only
	// so of this workload.
	Reason         kueue.Reason
	Message, Cause string
}

// Waiting are the workloads that Kueue does not admit.
func (q *Queues) Waiting() []Waiting {
	var out []Waiting
	for _, w := range q.s.Around().KueueWorkloads {
		d := q.Decide(w)
		r := mainReason(&d)
		if !refused(d.Outcome) && d.Outcome != kueue.Unknown || r == nil {
			continue
		}
		one := Waiting{Workload: w, Decision: d, Reason: *r}
		queue := "its queue"
		if d.ClusterQueue != "" {
			queue = "ClusterQueue " + d.ClusterQueue
		}
		one.Message, one.Cause = fmt.Sprintf("waits in %s: %s", queue, r.Message), fmt.Sprintf("%s does not admit these: %s", queue, r.Code)
		switch r.Code {
		case kueue.InsufficientUnusedQuota:
			one.Cause = fmt.Sprintf("%s has too little unused quota of %s of flavor %s", queue, r.Resource, r.Flavor)
		case kueue.InsufficientQuota:
			one.Cause = fmt.Sprintf("these ask for more %s of flavor %s than %s can ever have", r.Resource, r.Flavor, queue)
		case kueue.BehindHead, kueue.TakenInCycle, kueue.OverlappingVictims:
			one.Cause = fmt.Sprintf("these come behind others that wait for %s", queue)
		}
		if d.Outcome == kueue.Unknown {
			one.Message, one.Cause = "may be admitted or not: "+r.Message, "it is not known whether "+queue+" admits these"
		}
		out = append(out, one)
	}
	return out
}

// WorkloadOf is the workload of a pod that waits, or nil if Kueue has made none.
func (q *Queues) WorkloadOf(pod *corev1.Pod) *kueuev1beta2.Workload {
	if q.finder == nil {
		q.finder = target.NewFinder(q.s, nil, false)
	}
	if t := q.finder.OfPod(pod); t != nil && !t.Made {
		return t.Workload
	}
	return nil
}

// Given are the node labels that a pod of an admitted workload asks for on account of its flavors.
func (q *Queues) Given(pod *corev1.Pod) map[string]string {
	w := q.WorkloadOf(pod)
	if w == nil || w.Status.Admission == nil {
		return nil
	}
	out := map[string]string{}
	for i := range w.Status.Admission.PodSetAssignments {
		set := &w.Status.Admission.PodSetAssignments[i]
		if own := pod.Labels[target.PodSetName]; own != "" && own != string(set.Name) {
			continue
		}
		for _, flavor := range q.objects.ResourceFlavors {
			if slices.Contains(slices.Collect(maps.Values(set.Flavors)), kueuev1beta2.ResourceFlavorReference(flavor.Name)) {
				maps.Copy(out, flavor.Spec.NodeLabels)
			}
		}
	}
	return out
}

// Workloads are the workloads of holders, each once.
func Workloads(holders []explain.QuotaHolder) []explain.Subject {
	var out []explain.Subject
	for i := range holders {
		if !slices.Contains(out, holders[i].Workload) {
			out = append(out, holders[i].Workload)
		}
	}
	return out
}

// ClusterQueue says what a ClusterQueue has.
func (q *Queues) ClusterQueue(queue *kueuev1beta2.ClusterQueue) *explain.QueueState {
	out := &explain.QueueState{
		Kind: "ClusterQueue", Name: queue.Name, Cohort: string(queue.Spec.CohortName), Strategy: string(queue.Spec.QueueingStrategy),
		Quotas: []explain.Quota{}, Holders: []explain.QuotaHolder{}, Waiting: []explain.Ahead{}, Partial: []string{},
	}
	at := slices.IndexFunc(q.usage, func(u kueue.Usage) bool { return !u.Cohort && u.Name == queue.Name })
	if at < 0 {
		return out
	}
	u := &q.usage[at]
	if u.Inactive != nil {
		out.Inactive = u.Inactive.Message
	}
	out.Quotas = quotasOf(q.state, u, func(*kueue.FlavorUsage) bool { return true })
	for i := range u.Flavors {
		out.Holders = append(out.Holders, q.holdersOf(*u, flavorResource{u.Flavors[i].Flavor, u.Flavors[i].Resource})...)
	}
	q.wait(out, u.Pending, queue)
	switch {
	case out.Inactive != "":
		out.Message = "admits nothing: " + out.Inactive
	case len(out.Waiting) == 0:
		out.Message = "has nobody waiting"
	case len(u.Pending) == 0:
		out.Message = fmt.Sprintf("has %s waiting, of which none has a turn as far as is known", words.Count(len(out.Waiting), "workload"))
	}
	q.turns, out.Partial = len(u.Pending), words.AppendNew(out.Partial, partial(q.s.Kueue())...)
	return out
}

// wait adds those that wait in a ClusterQueue, and what becomes of the first.
func (q *Queues) wait(out *explain.QueueState, pending []kueue.Ref, queue *kueuev1beta2.ClusterQueue) {
	for i, ref := range slices.Concat(pending, q.outside[queue.Name]) {
		d := q.decided(ref)
		one := explain.Ahead{Workload: *subjectOf(ref), Of: q.of(ref), Outcome: string(d.Outcome)}
		if w := q.lookup[ref]; w != nil && w.Spec.Priority != nil {
			one.Priority = *w.Spec.Priority
		}
		if len(d.Reasons) > 0 {
			one.Message = d.Reasons[0].Message
		}
		if i == 0 && len(pending) > 0 {
			q.d = d
			out.Message = q.first(&d)
			one.Blocks = queue.Spec.QueueingStrategy == kueuev1beta2.StrictFIFO && d.Outcome == kueue.Waits
		}
		for _, a := range d.Assumptions {
			if a.Code != kueue.ConfigurationAssumed && !slices.Contains(out.Partial, a.Message) {
				out.Partial = append(out.Partial, a.Message)
			}
		}
		out.Waiting = append(out.Waiting, one)
	}
}

// first says what becomes of the first of a queue.
func (q *Queues) first(d *kueue.Decision) string {
	name := q.called(d.Workload)
	switch d.Outcome {
	case kueue.Fits:
		return fmt.Sprintf("is about to admit %s, its first", name)
	case kueue.Preempts:
		return fmt.Sprintf("has %s first: %s", name, q.queueSentence())
	case kueue.Unknown:
		return fmt.Sprintf("has %s first, and may admit it or not: %s", name, q.queueSentence())
	}
	return fmt.Sprintf("has %s first, which does not go: %s", name, q.queueSentence())
}

// LocalQueue says what a LocalQueue has: the quota of its ClusterQueue.
func (q *Queues) LocalQueue(queue *kueuev1beta2.LocalQueue) *explain.QueueState {
	out := &explain.QueueState{Message: fmt.Sprintf("admits nothing: there is no ClusterQueue %s", queue.Spec.ClusterQueue),
		Quotas: []explain.Quota{}, Holders: []explain.QuotaHolder{}, Waiting: []explain.Ahead{}, Partial: []string{}}
	for _, of := range q.objects.ClusterQueues {
		if of.Name == string(queue.Spec.ClusterQueue) {
			out = q.ClusterQueue(of)
		}
	}
	mine := func(w explain.Subject) bool {
		own := q.lookup[kueue.Ref{Namespace: w.Namespace, Name: w.Name}]
		return own != nil && own.Namespace == queue.Namespace && string(own.Spec.QueueName) == queue.Name
	}
	out.Kind, out.Namespace, out.Name, out.ClusterQueue = "LocalQueue", queue.Namespace, queue.Name, string(queue.Spec.ClusterQueue)
	out.Holders = slices.DeleteFunc(out.Holders, func(h explain.QuotaHolder) bool { return !mine(h.Workload) })
	var waiting []explain.Ahead
	var names []string
	for i := range out.Waiting {
		own := mine(out.Waiting[i].Workload)
		if i < q.turns && slices.ContainsFunc(out.Waiting[i:q.turns], func(a explain.Ahead) bool { return mine(a.Workload) }) || own {
			waiting = append(waiting, out.Waiting[i]) // who comes later is nothing to it
		}
		if own {
			names = append(names, q.called(kueue.Ref{Namespace: out.Waiting[i].Workload.Namespace, Name: out.Waiting[i].Workload.Name}))
		}
	}
	out.Waiting = append([]explain.Ahead{}, waiting...)
	if policy := queue.Spec.StopPolicy; policy != nil && *policy != kueuev1beta2.None {
		out.Inactive = "it is stopped (" + string(*policy) + ")"
		out.Message = "admits nothing: " + out.Inactive
	}
	if len(names) == 0 && out.Inactive == "" {
		out.Message = "has nobody waiting"
	} else if out.Inactive == "" {
		out.Message = fmt.Sprintf("has %s waiting; its ClusterQueue %s %s", words.Count(len(names), "workload"), queue.Spec.ClusterQueue, strings.TrimSpace(out.Message))
	}
	return out
}
