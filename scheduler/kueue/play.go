package kueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// record is what was decided about a workload.
type record struct {
	outcome    Outcome
	assignment *assignment
	victims    []quota.Eviction
	reasons    []Reason
	message    string
}

// play plays the cycles of Kueue's scheduler for one tree of cohorts, or one ClusterQueue without a cohort:
// no other quota matters to it.
type play struct {
	quota.Tree
	state   *State
	queues  []*queue
	records map[*waiting]*record
	// first is the workload that is considered before all others of its queue, because of evictions for it.
	first map[*queue]*waiting
	// only are those of a queue that matter, from its first on; nil if all do.
	only []*waiting
	// doubt says why nothing more can be decided.
	doubt *Reason
	// admitted and evicted are to be undone at the end.
	admitted, evicted []*quota.Workload
}

// entry is the head of a queue in a cycle.
type entry struct {
	w          *waiting
	assignment *assignment
	victims    []quota.Eviction
	// stays says that it is considered again in the next cycle.
	stays             bool
	skipped, admitted bool
}

func (e *entry) used() quota.Amounts { return e.assignment.used }

// maxCycles bounds the cycles without progress; Kueue itself would go on for ever.
const maxCycles = 1000

// run plays until nothing changes any more, and leaves the tree as it was.
func (p *play) run() {
	restore := p.Root.Save()
	seen := map[string]bool{}
	for idle := 0; p.doubt == nil; idle++ {
		if idle > maxCycles {
			p.doubt = &Reason{Code: TooManyCycles, Message: "Kueue comes to no end"}
			break
		}
		length := p.length()
		if !p.cycle() || p.known() {
			break
		}
		if p.length() != length {
			seen, idle = map[string]bool{}, 0
		} else if now := p.signature(); seen[now] {
			break
		} else {
			seen[now] = true
		}
	}
	restore()
	for _, w := range p.admitted {
		delete(w.Queue.Held, w)
	}
	for _, w := range p.evicted {
		w.Evicted = false
	}
}

// known reports whether all that matters is decided: who has left the queue does not come back.
func (p *play) known() bool {
	return len(p.only) > 0 && !slices.ContainsFunc(p.only, func(w *waiting) bool { return slices.Contains(w.queue.pending, w) })
}

func (p *play) length() int {
	n := 0
	for _, queue := range p.queues {
		n += len(queue.pending)
	}
	return n
}

// signature is equal if the next cycle will be like one before.
func (p *play) signature() string {
	var b strings.Builder
	for _, queue := range p.queues {
		if w := p.head(queue); w != nil {
			fmt.Fprint(&b, w.ref, w.tried, p.first[queue] == w, len(p.evicted), ";")
		}
	}
	return b.String()
}

func (p *play) head(queue *queue) *waiting {
	if w := p.first[queue]; w != nil && slices.Contains(queue.pending, w) {
		return w
	}
	if len(queue.pending) > 0 {
		return queue.pending[0]
	}
	return nil
}

// cycle plays one cycle. It reports whether there was anybody to consider.
func (p *play) cycle() bool {
	var entries, refused []*entry
	for _, queue := range p.queues {
		w := p.head(queue)
		if w == nil {
			continue
		}
		e := &entry{w: w}
		switch {
		case w.unknown != nil:
			p.doubtAt(e, *w.unknown)
		case w.refused != nil:
			p.records[w] = &record{outcome: Refused, reasons: []Reason{*w.refused}, message: w.refused.Message}
			e.stays = queue.strict && w.refused.Code != NamespaceMismatch
			refused = append(refused, e)
		default:
			p.nominate(e)
			entries = append(entries, e)
		}
	}
	if len(entries)+len(refused) == 0 {
		return false
	}
	if p.doubt != nil {
		p.settle(entries)
		return true
	}
	restore := p.Root.Save()
	taken := map[*quota.Workload]bool{}
	tie := p.inOrder(entries, func(e *entry) { p.process(e, taken) })
	restore()
	if tie && slices.ContainsFunc(entries, func(e *entry) bool { return e.skipped }) {
		p.doubt = &Reason{Code: TieUndecided, Message: "Kueue takes workloads of the same priority and age in any order"}
	}
	if p.doubt != nil {
		p.settle(entries)
		return true
	}
	for _, e := range slices.Concat(entries, refused) {
		p.requeue(e)
	}
	return true
}

// doubtAt notes that a workload is not decided, and so nothing that comes after it.
func (p *play) doubtAt(e *entry, why Reason) {
	p.records[e.w] = &record{outcome: Unknown, reasons: []Reason{why}, assignment: e.assignment}
	p.doubt = &Reason{Code: OtherUndecided, Workload: e.w.ref, Name: string(why.Code), Message: fmt.Sprintf("it depends on workload %s/%s, which is not decided", e.w.ref.Namespace, e.w.ref.Name)}
}

// settle decides in a cycle that has somebody who is not decided: who does not fit does not in any case.
func (p *play) settle(entries []*entry) {
	for _, e := range entries {
		if known := p.records[e.w]; known != nil && known.outcome == Unknown {
			continue
		}
		if e.assignment.fit() == quota.NoFit {
			p.records[e.w] = p.waits(e)
		} else {
			p.records[e.w] = &record{outcome: Unknown, reasons: []Reason{*p.doubt}, assignment: e.assignment}
		}
	}
}

func (p *play) waits(e *entry) *record {
	r := &record{outcome: Waits, assignment: e.assignment, message: e.assignment.message()}
	for i := range e.assignment.sets {
		r.reasons = append(r.reasons, e.assignment.sets[i].reasons...)
	}
	return r
}

// nominate finds flavors, and victims if need be, for as many pods as possible.
func (p *play) nominate(e *entry) {
	p.Tie = false
	a := &assigner{p, e.w}
	e.assignment, e.victims = a.assign(nil), nil
	full := e.assignment.fit()
	if full == quota.NoCandidates {
		e.victims = p.Victims(e.w.Workload, e.assignment.short(), e.assignment.total(e.w.Sets))
	}
	if full != quota.FitsNow && len(e.victims) == 0 && e.w.mayShrink() && p.state.config.gate("PartialAdmission") && !e.assignment.topology {
		p.shrink(e, a)
	}
	e.w.tried = e.assignment.tried
	switch {
	case e.assignment.topology:
		p.doubtAt(e, Reason{Code: TopologyUndecided, Message: "topology-aware scheduling is not decided"})
	case p.Tie:
		p.doubtAt(e, Reason{Code: TieUndecided, Message: "Kueue evicts from any of two cohorts of equal share"})
	}
}

// short is what evictions are needed for.
func (a *assignment) short() []quota.FlavorResource {
	var out []quota.FlavorResource
	for i := range a.sets {
		for name, c := range a.sets[i].choices {
			if c.fit > quota.NoFit && c.fit < quota.FitsNow {
				out = append(out, quota.FlavorResource{Flavor: c.flavor, Resource: name})
			}
		}
	}
	return out
}

// shrink looks for the largest number of pods, not below the minimum of each set, that fits.
func (p *play) shrink(e *entry, a *assigner) {
	sets := e.w.Object.Spec.PodSets
	full, deltas := make([]int32, len(sets)), make([]int32, len(sets))
	var total int32
	for i := range sets {
		full[i] = sets[i].Count
		if sets[i].MinCount != nil {
			deltas[i] = sets[i].Count - *sets[i].MinCount
		}
		total += deltas[i]
	}
	if total <= 0 {
		return
	}
	good := -1
	var found *assignment
	var victims []quota.Eviction
	at := sort.Search(int(total)+1, func(i int) bool {
		counts := make([]int32, len(sets))
		for j := range counts {
			counts[j] = full[j] - int32(int64(deltas[j])*int64(i)/int64(total))
		}
		tried := a.assign(counts)
		var evict []quota.Eviction
		switch tried.fit() {
		case quota.FitsNow:
		case quota.NoCandidates:
			if evict = p.Victims(e.w.Workload, tried.short(), tried.total(e.w.Sets)); len(evict) == 0 {
				return false
			}
		default:
			return false
		}
		good, found, victims = i, tried, evict
		return true
	})
	if found != nil && at == good {
		e.assignment, e.victims = found, victims
	}
}

// inOrder calls do for the entries in Kueue's order, and reports whether some of them have no order.
func (p *play) inOrder(entries []*entry, do func(*entry)) (tie bool) {
	if p.state.config.FairSharing == nil {
		order := func(a, b *entry) int {
			if c := cmp.Compare(a.assignment.level, b.assignment.level); c != 0 {
				return c
			}
			if p.state.config.gate("PrioritySortingWithinCohort") && a.w.Priority != b.w.Priority {
				return cmp.Compare(b.w.Priority, a.w.Priority)
			}
			return a.w.Since.Compare(b.w.Since)
		}
		slices.SortStableFunc(entries, order)
		for i, e := range entries {
			tie = tie || i > 0 && order(entries[i-1], e) == 0
			do(e)
		}
		return tie
	}
	left, of := map[*quota.Node]*quota.Contender{}, map[*quota.Contender]*entry{}
	for _, e := range entries {
		c := &quota.Contender{Workload: e.w.Workload, Used: e.used()}
		left[e.w.queue.Node], of[c] = c, e
	}
	p.Tie = false
	for len(left) > 0 {
		c := p.Fairest(left)
		delete(left, c.Workload.Queue)
		do(of[c])
	}
	return p.Tie
}

// leavers are its victims and those taken before.
func (e *entry) leavers(taken map[*quota.Workload]bool) map[*quota.Workload]bool {
	out := maps.Clone(taken)
	for _, v := range e.victims {
		out[v.Workload] = true
	}
	return out
}

// process admits an entry, or has others evicted for it, if what it was nominated for is still there.
func (p *play) process(e *entry, taken map[*quota.Workload]bool) {
	queue, used := e.w.queue, e.used()
	level := e.assignment.fit()
	r, known := p.waits(e), p.records[e.w]
	preempts := known != nil && known.outcome == Preempts
	if !preempts { // what was begun in an earlier cycle stays true
		p.records[e.w] = r
	}
	switch {
	case level == quota.NoFit:
		return
	case level != quota.FitsNow && len(e.victims) == 0:
		r.reasons = append(r.reasons, Reason{Code: NoPreemptionCandidate, ClusterQueue: queue.Name, Message: "no workload may be evicted for it that would make room"})
		if queue.Preemption.ReclaimWithinCohort != kueuev1beta2.PreemptionPolicyAny {
			queue.UseAll(queue.Reserve(e.used(), e.assignment.level > 0))
		}
		return
	case slices.ContainsFunc(e.victims, func(v quota.Eviction) bool { return taken[v.Workload] }):
		e.skipped, e.stays = true, true
		r.message = "Workload has overlapping preemption targets with another workload"
		r.reasons = append(r.reasons, Reason{Code: OverlappingVictims, ClusterQueue: queue.Name, Message: r.message})
		return
	}
	if !e.w.queue.FitsWithout(e.leavers(taken), e.used()) {
		e.skipped, e.stays = true, true
		r.message = "Workload no longer fits after processing another workload"
		r.reasons = append(r.reasons, Reason{Code: TakenInCycle, ClusterQueue: queue.Name, Message: r.message})
		return
	}
	for _, v := range e.victims {
		taken[v.Workload] = true
	}
	queue.UseAll(used)
	if level == quota.FitsNow {
		r.outcome, r.message, r.reasons, e.admitted = Fits, "", nil, true
		if preempts { // with flavors that were not looked at when it began to evict
			r.victims = known.victims
		}
		p.records[e.w] = r
		if wait := p.state.config.WaitForPodsReady; wait != nil && wait.BlockAdmission {
			p.doubtAt(e, Reason{Code: PodsReadyUndecided, Message: "Kueue waits for the pods of all admitted workloads"})
		}
		return
	}
	e.stays = true
	if preempts {
		for _, v := range e.victims {
			if !slices.ContainsFunc(known.victims, func(x quota.Eviction) bool { return x.Workload == v.Workload }) {
				known.victims = append(known.victims, v)
			}
		}
		return
	}
	r.outcome, r.victims = Preempts, slices.Clone(e.victims)
	r.message += fmt.Sprintf(". Pending the preemption of %d workload(s)", len(e.victims))
}

// requeue is what becomes of an entry after the cycle.
func (p *play) requeue(e *entry) {
	q := e.w.queue
	gone := func(w *waiting) {
		q.pending = slices.DeleteFunc(q.pending, func(x *waiting) bool { return x == w })
	}
	if e.admitted {
		gone(e.w)
		p.admit(e)
		return
	}
	for _, v := range e.victims {
		if r := p.records[e.w]; r.outcome == Preempts && !e.skipped && !v.Workload.Evicted {
			v.Workload.Evicted = true
			p.evicted = append(p.evicted, v.Workload)
		}
	}
	if e.assignment == nil {
		if !e.stays {
			gone(e.w)
		}
		return
	}
	if len(e.victims) > 0 && !e.skipped {
		e.w.tried = nil
		if !q.strict {
			p.first[q] = e.w
		}
	}
	pending := slices.ContainsFunc(e.w.tried, func(sets map[corev1.ResourceName]int) bool {
		for _, at := range sets {
			if at != -1 {
				return true
			}
		}
		return false
	})
	if q.strict || e.stays || pending {
		return
	}
	gone(e.w)
	if !p.state.config.gate("SchedulingEquivalenceHashing") || e.w.shape == "" {
		return
	}
	r := p.records[e.w]
	for _, other := range slices.Clone(q.pending) {
		if other.shape == e.w.shape {
			same := *r
			p.records[other] = &same
			gone(other)
		}
	}
}

// admit gives quota to an entry for the next cycles.
func (p *play) admit(e *entry) {
	held := *e.w.Workload
	held.Sets = nil
	for i := range e.assignment.sets {
		set := e.assignment.sets[i].Pods
		set.Flavors = map[corev1.ResourceName]string{}
		all := set.Requests
		set.Requests = nil
		for _, r := range all {
			if c := e.assignment.sets[i].choices[r.Resource]; c != nil {
				set.Flavors[r.Resource] = c.flavor
				set.Requests = append(set.Requests, r)
			}
		}
		held.Sets = append(held.Sets, set)
	}
	held.Used, held.Reserved, held.Evicted = quota.UsedBy(held.Sets), p.state.now, false
	held.Queue.Held[&held] = true
	held.Queue.UseAll(held.Used)
	p.admitted = append(p.admitted, &held)
}
