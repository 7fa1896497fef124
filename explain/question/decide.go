package question

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/fix"
	"github.com/kubectl-dra/kubectl-dra/explain/headline"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// decide puts a question to all its nodes and fills in what the explanation says of them.
func decide(ctx context.Context, q *whatif.Question, e *explain.Explanation, opts Options) error {
	if reason := precheck(q); reason != nil {
		refuse(q, e, reason)
		if opts.verdictOnly || opts.reasonOnly {
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
	if e.Search, err = searchCost(ctx, q, answers); err != nil {
		return err
	}
	o := outcomesOf(answers)
	o.timeout, o.dropsNodes = timeoutOf(q, answers), !whatif.TimeoutIsError(q.Cluster.Snapshot().Features())
	e.Nodes.Allocatable = o.allocatable
	if o.dropsNodes && o.timeout != explain.WouldTimeOut {
		e.Nodes.Allocatable -= tooSlow(answers)
	}
	limits := limitsOf(q.Cluster.Snapshot())
	if err := limits.addDisagreeing(ctx, q); err != nil {
		return err
	}
	if opts.verdictOnly {
		conclude(q, e, answers, o, limits)
		return nil
	}
	e.Groups, err = diagnose.Groups(ctx, q, answers)
	e.Waits = append(e.Waits, fenceNotes(q, e.Groups)...)
	if err != nil {
		return err
	}
	conclude(q, e, answers, o, limits)
	if e.Allocation != nil && bindsLater(q.Cluster.Snapshot()) {
		e.Waits = append(e.Waits, bindingNotes(o.first.Q, o.first)...)
	}
	if e.Verdict == explain.Unsatisfiable {
		e.Preemption, e.Advice = preemption.Of(q), append(diagnose.Absent(ctx, q), diagnose.Gone(ctx, q)...)
	}
	if err := findFixes(ctx, q, e, o, opts.reasonOnly); err != nil {
		return err
	}
	sayPreempting(e)
	return nil
}

// sayPreempting says in the message that the scheduler is about to make room by itself, so that nobody has to act.
func sayPreempting(e *explain.Explanation) {
	if e.Preemption == nil {
		return
	}
	switch e.Preemption.Outcome {
	case explain.PreemptionPossible:
		say(e, "%s; kube-scheduler makes room for it by preemption", e.Predicate)
	case explain.PreemptionUnderway:
		say(e, "%s; kube-scheduler has preempted other pods for it", e.Predicate)
	case explain.PreemptionNever, explain.PreemptionNotHelpful, explain.PreemptionUnknown:
	}
}

// conclude sets the verdict and the message, and what would be allocated.
func conclude(q *whatif.Question, e *explain.Explanation, answers []whatif.Answer, o outcomes, limits limits) {
	limits.addCapacityNames(q)
	limits.addPods(q)
	if o.first != nil {
		limits.addAdmission(q)
	}
	e.Partial = limits.remarks
	e.Verdict = o.verdict(limits)
	if e.Verdict == explain.Allocatable && len(q.Doubts()) > 0 {
		e.Verdict = explain.Unknown
	}
	if e.Verdict == explain.Unknown {
		e.Partial = append(e.Partial, doubts(q, answers)...)
	}
	if o.first != nil && o.abort == nil && (!o.slow() || e.Verdict == explain.Unknown) {
		e.Allocation = allocationFrom(o.first.Q, o.first)
	}
	sayVerdict(q, e, o.aborted())
	if e.Verdict == explain.Unknown && o.first == nil && o.doubtful > 0 {
		sayDoubtful(q, e, o.doubtful)
	}
	if o.slow() {
		o.saySlow(q, e)
	}
	markTold(e.Groups, o.aborted())
}

// findFixes adds why the answer is no, and what helps. If only the reason is wanted, it looks for no more than that takes.
func findFixes(ctx context.Context, q *whatif.Question, e *explain.Explanation, o outcomes, reasonOnly bool) error {
	if abort := o.aborted(); abort != nil && !abort.Undecided() && e.Verdict != explain.Unknown {
		if err := fix.FindForAbort(ctx, q, e, abort); err != nil {
			return err
		}
		sayHeadline(e, headline.OfFailure(e, abort))
		return fix.FindForGivingUp(ctx, q, e, abort)
	}
	if o.slow() && o.timeout == explain.WouldTimeOut {
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

// outcomes sums up the answers of nodes.
type outcomes struct {
	// allocatable is the number of nodes on which the question can be allocated.
	allocatable int
	// doubtful is the number of nodes that have the devices, and which something could still refuse that is not known.
	doubtful int
	// undecided says that a search reached no answer, or that there is no answer at all.
	undecided bool
	// first is the first answer that is yes, and abort the first whose search was aborted. Either may be nil.
	first, abort *whatif.Answer
	// timeout says whether the scheduler's own search may time out, so that "yes" is not certain. dropsNodes says that it
	// would then do without the node, instead of giving up.
	timeout    explain.TimeoutRisk
	dropsNodes bool
}

// slow reports whether the answer would be yes if the scheduler had time for it.
func (o outcomes) slow() bool {
	return o.abort == nil && o.first != nil && (o.timeout == explain.MayTimeOut || o.timeout == explain.WouldTimeOut)
}

// outcomesOf sums up answers.
func outcomesOf(answers []whatif.Answer) outcomes {
	o := outcomes{undecided: len(answers) == 0}
	for i := range answers {
		a := &answers[i]
		switch {
		case a.Abort != nil && o.abort == nil:
			o.abort = a
		case a.Allocatable():
			o.allocatable += len(a.Nodes)
			if o.first == nil || whatif.Worse(a.Risk, o.first.Risk) != a.Risk {
				o.first = a
			}
		case a.Doubtful():
			o.doubtful += len(a.Nodes)
			o.undecided = true
		case a.Refused():
		case a.Result != nil && a.Result.Outcome == allocator.Undecided:
			o.undecided = true
		}
	}
	return o
}

// aborted is the first abort, or nil if there is none.
func (o outcomes) aborted() *allocator.AbortError {
	if o.abort == nil {
		return nil
	}
	return o.abort.Abort
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

// verdict is the answer for the whole cluster. It is Unknown if what could not be read might change it.
func (o outcomes) verdict(limits limits) explain.Verdict {
	switch {
	case o.abort != nil && (limits.mayGoOn || o.abort.Abort.Undecided()):
		return explain.Unknown
	case o.abort != nil:
		return explain.Invalid
	case o.slow() && o.timeout == explain.WouldTimeOut && o.dropsNodes:
		return explain.Unsatisfiable
	case o.slow() && o.timeout == explain.WouldTimeOut:
		return explain.Invalid
	case o.slow():
		return explain.Unknown
	case o.first != nil && limits.mayBeTaken:
		return explain.Unknown
	case o.first != nil:
		return explain.Allocatable
	case o.undecided, limits.mayBeMore:
		return explain.Unknown
	default:
		return explain.Unsatisfiable
	}
}

// refuse makes the explanation of a question that was refused, for a reason, before any node was asked.
func refuse(q *whatif.Question, e *explain.Explanation, reason *explain.Reason) {
	limits := limitsOf(q.Cluster.Snapshot())
	e.Partial = limits.remarks
	e.Nodes.Total = len(q.Nodes)
	e.Verdict = explain.Unsatisfiable
	reason.Told = true
	say(e, "cannot be allocated: %s", reason.Message)
	e.Brief = reason.Brief
	if limits.mayBeClasses && reason.Code == allocator.ClassNotFound {
		e.Verdict = explain.Unknown
		reason.Told, e.Brief = false, ""
		remark(e, "not everything could be read, so it is not known whether the device class exists")
	}
	g := explain.Group{Reasons: []explain.Reason{*reason}}
	for _, node := range q.Nodes {
		g.Nodes = append(g.Nodes, inspect.NodeName(node.Name))
	}
	if len(g.Nodes) > 0 {
		e.Groups = []explain.Group{g}
	}
}
