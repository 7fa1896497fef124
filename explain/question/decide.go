package question

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/fix"
	"github.com/kubectl-dra/kubectl-dra/explain/headline"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// decide puts a question to all its nodes and fills in what the explanation says of them.
func decide(ctx context.Context, q *whatif.Question, e *explain.Explanation, opts Options) error {
	if reason := cycle.Precheck(q); reason != nil {
		refuse(q, e, reason)
		if e.Verdict == explain.Unknown || opts.verdictOnly || opts.ReasonOnly {
			return nil
		}
		return fix.FindForRefusal(ctx, q, e, reason)
	}
	answers, err := q.Ask(ctx)
	if err != nil {
		return err
	}
	q.Answers = answers
	e.Nodes.Total = len(q.Nodes)
	if e.Search, err = cycle.SearchCost(ctx, q, answers); err != nil {
		return err
	}
	o := cycle.TallyOf(answers)
	o.Timeout, o.DropsNodes = cycle.TimeoutOf(q, answers), !explain.TimeoutIsError(q.Cluster.Snapshot().Features())
	e.Nodes.Allocatable = o.Allocatable
	if o.DropsNodes && o.Timeout != explain.WouldTimeOut {
		e.Nodes.Allocatable -= cycle.TooSlow(answers)
	}
	limits := cycle.LimitsOf(q.Cluster.Snapshot())
	if err := limits.AddDisagreeing(ctx, q); err != nil {
		return err
	}
	if o.First != nil {
		if err := replay.AddGroup(ctx, &limits, q); err != nil {
			return err
		}
	}
	if opts.verdictOnly {
		conclude(ctx, q, e, answers, o, limits)
		return nil
	}
	e.Groups, err = diagnose.Groups(ctx, q, answers)
	e.Waits = append(e.Waits, fenceNotes(q, e.Groups)...)
	if err != nil {
		return err
	}
	conclude(ctx, q, e, answers, o, limits)
	if e.Allocation != nil && lifecycle.BindsLater(q.Cluster.Snapshot()) {
		e.Waits = append(e.Waits, bindingNotes(o.First.Q, o.First)...)
	}
	if e.Verdict == explain.Unsatisfiable {
		e.Preemption, e.Advice = preemption.Of(q), append(diagnose.Absent(ctx, q), diagnose.Gone(ctx, q)...)
	}
	if err := findFixes(ctx, q, e, o, opts.ReasonOnly); err != nil {
		return err
	}
	sayPreempting(e)
	return nil
}

// sayPreempting says in the message that the scheduler is about to make room by itself, so that nobody has to
// act.
func sayPreempting(e *explain.Explanation) {
	if e.Preemption == nil {
		return
	}
	switch e.Preemption.Outcome {
	case explain.PreemptionPossible:
		e.Say("%s; kube-scheduler makes room for it by preemption", e.Predicate)
	case explain.PreemptionUnderway:
		e.Say("%s; kube-scheduler has preempted other pods for it", e.Predicate)
	case explain.PreemptionNever, explain.PreemptionNotHelpful, explain.PreemptionUnknown:
	}
}

// conclude sets the verdict and the message, and what would be allocated.
func conclude(ctx context.Context, q *whatif.Question, e *explain.Explanation, answers []whatif.Answer, o cycle.Tally, limits cycle.Limits) {
	limits.AddNewer(ctx, q, answers, o)
	limits.AddPods(q)
	if o.First != nil {
		limits.AddAdmission(q)
		limits.AddScheduler(q)
	}
	e.Partial = limits.Remarks
	e.Verdict = o.Verdict(limits)
	if e.Verdict == explain.Allocatable && len(q.Doubts()) > 0 {
		e.Verdict = explain.Unknown
	}
	if e.Verdict == explain.Unknown {
		e.Partial = append(e.Partial, cycle.Doubts(q, answers)...)
	}
	if o.First != nil && o.Abort == nil && (!o.Slow() || e.Verdict == explain.Unknown) {
		e.Allocation = allocationOn(o.First.Q.Nodes[o.First.Nodes[0]].Name, o.First.Q.Claims, o.First.Result.Allocations)
	}
	sayVerdict(q, e, o.Aborted())
	if e.Verdict == explain.Unknown && o.First == nil && o.Doubtful > 0 {
		sayDoubtful(q, e, o.Doubtful)
	}
	if o.Slow() {
		saySlow(o, q, e)
	}
	markTold(e.Groups, o.Aborted())
}

// findFixes adds why the answer is no, and what helps. If only the reason is wanted, it looks for no more
// than that takes.
func findFixes(ctx context.Context, q *whatif.Question, e *explain.Explanation, o cycle.Tally, reasonOnly bool) error {
	if abort := o.Aborted(); abort != nil && !abort.Undecided() && e.Verdict != explain.Unknown {
		if err := fix.FindForAbort(ctx, q, e, abort); err != nil {
			return err
		}
		sayHeadline(e, headline.OfFailure(e, abort))
		return fix.FindForGivingUp(ctx, q, e, abort)
	}
	if o.Slow() && o.Timeout == explain.WouldTimeOut {
		return fix.FindForGivingUp(ctx, q, e, nil)
	}
	find := fix.Find
	if reasonOnly {
		find = fix.FindReason
	}
	if err := find(ctx, q, e); err != nil || e.Verdict != explain.Unsatisfiable {
		return err
	}
	h := headline.Of(ctx, q, e)
	if h == (headline.Headline{}) {
		h = headline.OfPod(q, e)
	}
	sayHeadline(e, h)
	return nil
}

// markTold marks the reasons that the sentence about an abort tells already. The abort may be nil.
func markTold(groups []explain.Group, abort *allocator.AbortError) {
	if abort == nil {
		return
	}
	told := diagnose.AbortReason(abort)
	for g := range groups {
		for i := range groups[g].Reasons {
			r := &groups[g].Reasons[i]
			r.Told = r.Code == told.Code && r.Key == told.Key && slices.Equal(r.Devices, told.Devices)
		}
	}
}

// refuse makes the explanation of a question that was refused, for a reason, before any node was asked.
func refuse(q *whatif.Question, e *explain.Explanation, reason *explain.Reason) {
	limits := cycle.LimitsOf(q.Cluster.Snapshot())
	e.Partial = limits.Remarks
	e.Nodes.Total = len(q.Nodes)
	e.Verdict = explain.Unsatisfiable
	reason.Told = true
	e.Say("cannot be allocated: %s", reason.Message)
	e.Brief = reason.Brief
	if limits.MayBeClasses && reason.Code == allocator.ClassNotFound {
		e.Verdict = explain.Unknown
		reason.Told, e.Brief = false, ""
		e.Remark("not everything could be read, so it is not known whether the device class exists")
	}
	if texts := cycle.NewerOf(q); len(texts) > 0 && reason.Code != allocator.ClassNotFound {
		e.Verdict, e.Partial = explain.Unknown, append(e.Partial, texts...)
		e.Remark("%s", texts[0])
	}
	if len(q.Nodes) > 0 {
		e.Groups = []explain.Group{{Nodes: namesOf(q.Nodes), Reasons: []explain.Reason{*reason}}}
	}
}
