package explain

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Claim explains a claim of the snapshot. The error wraps ErrNotFound when there is no such claim or
// node, and is that of the context when that ends.
func Claim(ctx context.Context, c *allocator.Cluster, ref inspect.ClaimRef, opts Options) (*Explanation, error) {
	claim, ok := c.Snapshot().Claim(ref)
	if !ok {
		return nil, notFound("resourceclaim", ref.String())
	}
	return ClaimObject(ctx, c, claim, opts)
}

// ClaimObject explains a claim that need not be in the snapshot.
func ClaimObject(ctx context.Context, c *allocator.Cluster, claim *resourcev1.ResourceClaim, opts Options) (*Explanation, error) {
	e := &Explanation{Subject: Subject{"ResourceClaim", claim.Namespace, claim.Name}, Basis: basisOf(c)}
	s := c.Snapshot()
	nodes, err := nodesFor(s, opts)
	if err != nil {
		return nil, err
	}
	if claim.Status.Allocation != nil {
		explainAllocated(e, s, claim, nodes)
		return e, nil
	}
	q := &question{cluster: c, claims: []*resourcev1.ResourceClaim{claim}, nodes: nodes}
	if err := q.decide(ctx, e); err != nil {
		return nil, err
	}
	e.Waits = append(e.Waits, waitsOf(s, claim)...)
	e.Scheduler = schedulerSays(s, s.PodsOf(inspect.RefOf(claim)))
	return e, nil
}

// Template explains whether a claim made from a template of the snapshot could be allocated.
func Template(ctx context.Context, c *allocator.Cluster, namespace, name string, opts Options) (*Explanation, error) {
	template, ok := c.Snapshot().Template(namespace, name)
	if !ok {
		return nil, notFound("resourceclaimtemplate", namespace+"/"+name)
	}
	return TemplateObject(ctx, c, template, opts)
}

// TemplateObject explains whether a claim made from a template could be allocated.
func TemplateObject(ctx context.Context, c *allocator.Cluster, template *resourcev1.ResourceClaimTemplate, opts Options) (*Explanation, error) {
	e := &Explanation{Subject: Subject{"ResourceClaimTemplate", template.Namespace, template.Name}, Basis: basisOf(c)}
	nodes, err := nodesFor(c.Snapshot(), opts)
	if err != nil {
		return nil, err
	}
	q := &question{cluster: c, claims: []*resourcev1.ResourceClaim{inspect.ClaimFromTemplate(template, template.Name)}, nodes: nodes}
	if err := q.decide(ctx, e); err != nil {
		return nil, err
	}
	return e, nil
}

// decide asks all nodes and fills verdict, message, nodes, allocation and groups.
func (q *question) decide(ctx context.Context, e *Explanation) error {
	if reason := q.prefilter(); reason != nil {
		q.refuse(e, reason)
		return q.remedyRefusal(ctx, e, reason)
	}
	answers, err := q.ask(ctx)
	if err != nil {
		return err
	}
	q.answers = answers
	e.Nodes.Total = len(q.nodes)
	o := outcomesOf(answers)
	e.Nodes.Allocatable = o.allocatable
	e.Groups, err = q.group(ctx, answers)
	e.Waits = append(e.Waits, q.fenceNotes(e.Groups)...)
	if err != nil {
		return err
	}
	limits := limitsOf(q.cluster.Snapshot())
	e.Partial = limits.remarks
	e.Verdict = o.verdict(limits)
	if o.first != nil && o.abort == nil {
		e.Allocation = o.first.q.allocationFrom(o.first)
	}
	q.sayVerdict(e, o.aborted())
	markTold(e.Groups, o.aborted())
	if e.Search, err = q.searchCost(ctx, answers); err != nil {
		return err
	}
	if abort := o.aborted(); abort != nil && !abort.Undecided() {
		return q.remedyAbort(ctx, e, abort)
	}
	return q.remedy(ctx, e)
}

// outcomes sums up what the groups of nodes answered.
type outcomes struct {
	// allocatable counts the nodes, not the groups, on which the question can be allocated.
	allocatable int
	// undecided: there is a group on which the search reached no answer, or no group at all.
	undecided bool
	// first is the first group that can be allocated, abort the first whose search was aborted.
	first, abort *answer
}

func outcomesOf(answers []answer) outcomes {
	o := outcomes{undecided: len(answers) == 0}
	for i := range answers {
		a := &answers[i]
		switch {
		case a.abort != nil && o.abort == nil:
			o.abort = a
		case a.allocatable():
			o.allocatable += len(a.nodes)
			if o.first == nil {
				o.first = a
			}
		case a.result != nil && a.result.Outcome == allocator.Undecided:
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
	return o.abort.abort
}

// markTold marks the reasons that the sentence about an abort tells already.
func markTold(groups []Group, abort *allocator.AbortError) {
	if abort == nil {
		return
	}
	told := abortReason(abort)
	for g := range groups {
		for i := range groups[g].Reasons {
			r := &groups[g].Reasons[i]
			r.Told = r.Code == told.Code && r.Key == told.Key && slices.Equal(r.Devices, told.Devices)
		}
	}
}

// verdict is the answer for the whole cluster, as far as limits let it be known.
func (o outcomes) verdict(limits limits) Verdict {
	switch {
	case o.abort != nil && o.abort.abort.Undecided():
		return Unknown
	case o.abort != nil:
		return Invalid
	case o.first != nil && limits.mayBeTaken:
		return Unknown
	case o.first != nil:
		return Allocatable
	case o.undecided, limits.mayBeMore:
		return Unknown
	default:
		return Unsatisfiable
	}
}

// refuse gives the same reason on every node.
func (q *question) refuse(e *Explanation, reason *Reason) {
	limits := limitsOf(q.cluster.Snapshot())
	e.Partial = limits.remarks
	e.Nodes.Total = len(q.nodes)
	e.Verdict = Unsatisfiable
	reason.Told = true
	e.say("cannot be allocated: %s", reason.Message)
	if limits.classes && reason.Code == allocator.ClassNotFound {
		e.Verdict = Unknown
		reason.Told = false
		e.remark("not everything could be read, so it is not known whether the device class exists")
	}
	g := Group{Reasons: []Reason{*reason}}
	for _, node := range q.nodes {
		g.Nodes = append(g.Nodes, inspect.NodeName(node.Name))
	}
	if len(g.Nodes) > 0 {
		e.Groups = []Group{g}
	}
}

// say makes the message of what is said of the subject.
func (e *Explanation) say(format string, args ...any) { e.sayAfter(" ", format, args...) }

// remark is say for a sentence that has another subject.
func (e *Explanation) remark(format string, args ...any) { e.sayAfter(": ", format, args...) }

func (e *Explanation) sayAfter(separator, format string, args ...any) {
	e.Predicate = fmt.Sprintf(format, args...)
	e.Message = e.Subject.FullName() + separator + e.Predicate
}

// sayVerdict says the answer in one sentence.
func (q *question) sayVerdict(e *Explanation, abort *allocator.AbortError) {
	where := fmt.Sprintf("any of %d nodes", e.Nodes.Total)
	if len(q.nodes) == 1 {
		where = "node " + q.nodes[0].Name
		if q.nodes[0].Name == string(inspect.PseudoNode) {
			where = "any node (none is known)"
		}
	}
	switch {
	case abort != nil && (abort.Undecided() || e.Nodes.Allocatable == 0):
		e.say("%s: %s", abort.Consequence(), withoutHint(abort))
	case abort != nil:
		e.say("%s: %s (%d of %d nodes would fit otherwise)", abort.Consequence(), withoutHint(abort), e.Nodes.Allocatable, e.Nodes.Total)
	case e.Verdict == Allocatable && e.Nodes.Total == 1:
		e.say("can be allocated on %s", where)
	case e.Verdict == Allocatable:
		e.say("can be allocated on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
	case e.Verdict == Unsatisfiable && len(q.claims) == 0 && len(q.own) > 0:
		e.say("has all its devices, but cannot be scheduled on %s", where)
	case e.Verdict == Unsatisfiable:
		e.say("cannot be allocated on %s", where)
	default:
		e.sayUnknown()
	}
}

// sayUnknown says why there is no answer.
func (e *Explanation) sayUnknown() {
	switch {
	case e.Nodes.Total == 0:
		e.remark("there are no nodes to ask about")
	case e.Nodes.Allocatable > 0:
		e.say("could be allocated on %d of %d nodes as far as can be seen, but not everything could be read", e.Nodes.Allocatable, e.Nodes.Total)
	case len(e.Partial) > 0:
		e.say("cannot be allocated with what can be seen, but not everything could be read")
	default:
		e.remark("the search was given up before it had an answer")
	}
}
