package question

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/fix"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Claim explains a claim of the snapshot. The error wraps ErrNotFound when there is no such claim or
// node, and is that of the context when that ends.
func Claim(ctx context.Context, c *allocator.Cluster, ref inspect.ClaimRef, opts Options) (*explain.Explanation, error) {
	claim, ok := c.Snapshot().Claim(ref)
	if !ok {
		return nil, notFound("resourceclaim", ref.String())
	}
	return ClaimObject(ctx, c, claim, opts)
}

// ClaimObject explains a claim that need not be in the snapshot.
func ClaimObject(ctx context.Context, c *allocator.Cluster, claim *resourcev1.ResourceClaim, opts Options) (*explain.Explanation, error) {
	e := &explain.Explanation{Subject: explain.Subject{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name}, Basis: basisOf(c)}
	s := c.Snapshot()
	nodes, err := nodesFor(s, opts)
	if err != nil {
		return nil, err
	}
	if claim.Status.Allocation != nil {
		explainAllocated(e, s, claim, nodes)
		return e, nil
	}
	q := &whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{claim}, Nodes: nodes}
	if err := decide(ctx, q, e); err != nil {
		return nil, err
	}
	e.Waits = append(e.Waits, waitsOf(s, claim)...)
	e.Scheduler = schedulerSays(s, s.PodsOf(inspect.RefOf(claim)))
	return e, nil
}

// Template explains whether a claim made from a template of the snapshot could be allocated.
func Template(ctx context.Context, c *allocator.Cluster, namespace, name string, opts Options) (*explain.Explanation, error) {
	template, ok := c.Snapshot().Template(namespace, name)
	if !ok {
		return nil, notFound("resourceclaimtemplate", namespace+"/"+name)
	}
	return TemplateObject(ctx, c, template, opts)
}

// TemplateObject explains whether a claim made from a template could be allocated.
func TemplateObject(ctx context.Context, c *allocator.Cluster, template *resourcev1.ResourceClaimTemplate, opts Options) (*explain.Explanation, error) {
	e := &explain.Explanation{Subject: explain.Subject{Kind: "ResourceClaimTemplate", Namespace: template.Namespace, Name: template.Name}, Basis: basisOf(c)}
	nodes, err := nodesFor(c.Snapshot(), opts)
	if err != nil {
		return nil, err
	}
	q := &whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{inspect.ClaimFromTemplate(template, template.Name)}, Nodes: nodes}
	if err := decide(ctx, q, e); err != nil {
		return nil, err
	}
	return e, nil
}

// decide asks all nodes and fills verdict, message, nodes, allocation and groups.
func decide(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	if reason := precheck(q); reason != nil {
		refuse(q, e, reason)
		return fix.FindForRefusal(ctx, q, e, reason)
	}
	answers, err := q.Ask(ctx)
	if err != nil {
		return err
	}
	q.Answers = answers
	e.Nodes.Total = len(q.Nodes)
	o := outcomesOf(answers)
	e.Nodes.Allocatable = o.allocatable
	e.Groups, err = diagnose.Groups(ctx, q, answers)
	e.Waits = append(e.Waits, fenceNotes(q, e.Groups)...)
	if err != nil {
		return err
	}
	limits := limitsOf(q.Cluster.Snapshot())
	e.Partial = limits.remarks
	e.Verdict = o.verdict(limits)
	if o.first != nil && o.abort == nil {
		e.Allocation = allocationFrom(o.first.Q, o.first)
	}
	sayVerdict(q, e, o.aborted())
	markTold(e.Groups, o.aborted())
	if e.Search, err = searchCost(ctx, q, answers); err != nil {
		return err
	}
	if abort := o.aborted(); abort != nil && !abort.Undecided() {
		return fix.FindForAbort(ctx, q, e, abort)
	}
	return fix.Find(ctx, q, e)
}

// outcomes sums up what the groups of nodes answered.
type outcomes struct {
	// allocatable counts the nodes, not the groups, on which the question can be allocated.
	allocatable int
	// undecided: there is a group on which the search reached no answer, or no group at all.
	undecided bool
	// first is the first group that can be allocated, abort the first whose search was aborted.
	first, abort *whatif.Answer
}

func outcomesOf(answers []whatif.Answer) outcomes {
	o := outcomes{undecided: len(answers) == 0}
	for i := range answers {
		a := &answers[i]
		switch {
		case a.Abort != nil && o.abort == nil:
			o.abort = a
		case a.Allocatable():
			o.allocatable += len(a.Nodes)
			if o.first == nil {
				o.first = a
			}
		case a.Result != nil && a.Result.Outcome == allocator.Undecided:
			o.undecided = true
		}
	}
	return o
}

// aborted is the first abort, or nil.
func (o outcomes) aborted() *allocator.AbortError {
	if o.abort == nil {
		return nil
	}
	return o.abort.Abort
}

// markTold marks the reasons that the sentence about an abort tells already.
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

// verdict is the answer for the whole cluster, as far as limits let it be known.
func (o outcomes) verdict(limits limits) explain.Verdict {
	switch {
	case o.abort != nil && o.abort.Abort.Undecided():
		return explain.Unknown
	case o.abort != nil:
		return explain.Invalid
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

// refuse gives the same reason on every node.
func refuse(q *whatif.Question, e *explain.Explanation, reason *explain.Reason) {
	limits := limitsOf(q.Cluster.Snapshot())
	e.Partial = limits.remarks
	e.Nodes.Total = len(q.Nodes)
	e.Verdict = explain.Unsatisfiable
	reason.Told = true
	say(e, "cannot be allocated: %s", reason.Message)
	if limits.classes && reason.Code == allocator.ClassNotFound {
		e.Verdict = explain.Unknown
		reason.Told = false
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

// say makes the message of what is said of the subject.
func say(e *explain.Explanation, format string, args ...any) { sayAfter(e, " ", format, args...) }

// remark is say for a sentence that has another subject.
func remark(e *explain.Explanation, format string, args ...any) { sayAfter(e, ": ", format, args...) }

func sayAfter(e *explain.Explanation, separator, format string, args ...any) {
	e.Predicate = fmt.Sprintf(format, args...)
	e.Message = e.Subject.FullName() + separator + e.Predicate
}

// sayVerdict says the answer in one sentence.
func sayVerdict(q *whatif.Question, e *explain.Explanation, abort *allocator.AbortError) {
	where := fmt.Sprintf("any of %d nodes", e.Nodes.Total)
	if len(q.Nodes) == 1 {
		where = "node " + q.Nodes[0].Name
		if q.Nodes[0].Name == string(inspect.PseudoNode) {
			where = "any node (none is known)"
		}
	}
	switch {
	case abort != nil && (abort.Undecided() || e.Nodes.Allocatable == 0):
		say(e, "%s: %s", abort.Consequence(), diagnose.AbortMessage(abort))
	case abort != nil:
		say(e, "%s: %s (%d of %d nodes would fit otherwise)", abort.Consequence(), diagnose.AbortMessage(abort), e.Nodes.Allocatable, e.Nodes.Total)
	case e.Verdict == explain.Allocatable && e.Nodes.Total == 1:
		say(e, "can be allocated on %s", where)
	case e.Verdict == explain.Allocatable:
		say(e, "can be allocated on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
	case e.Verdict == explain.Unsatisfiable && len(q.Claims) == 0 && len(q.Own) > 0:
		say(e, "has all its devices, but cannot be scheduled on %s", where)
	case e.Verdict == explain.Unsatisfiable:
		say(e, "cannot be allocated on %s", where)
	default:
		sayUnknown(e)
	}
}

// sayUnknown says why there is no answer.
func sayUnknown(e *explain.Explanation) {
	switch {
	case e.Nodes.Total == 0:
		remark(e, "there are no nodes to ask about")
	case e.Nodes.Allocatable > 0:
		say(e, "could be allocated on %d of %d nodes as far as can be seen, but not everything could be read", e.Nodes.Allocatable, e.Nodes.Total)
	case len(e.Partial) > 0:
		say(e, "cannot be allocated with what can be seen, but not everything could be read")
	default:
		remark(e, "the search was given up before it had an answer")
	}
}
