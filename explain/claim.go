package explain

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	e.Scheduler = schedulerSays(s, s.PodsOf(inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name}))
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
	q := &question{cluster: c, claims: []*resourcev1.ResourceClaim{claimFrom(template, template.Name)}, nodes: nodes}
	if err := q.decide(ctx, e); err != nil {
		return nil, err
	}
	return e, nil
}

// claimFrom makes the claim that a template stands for.
func claimFrom(template *resourcev1.ResourceClaimTemplate, name string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: template.Namespace, Name: name,
			Labels: template.Spec.Labels, Annotations: template.Spec.Annotations,
		},
		Spec: template.Spec.Spec,
	}
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
	e.Message = q.headline(e, o.abort)
	if e.Search, err = q.searchCost(ctx, answers); err != nil {
		return err
	}
	if o.abort != nil && !o.abort.abort.Undecided() {
		return q.remedyAbort(ctx, e, o.abort.abort)
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
	name := e.Subject.Namespace + "/" + e.Subject.Name
	e.Message = fmt.Sprintf("%s cannot be allocated: %s", name, reason.Message)
	if limits.classes && reason.Code == allocator.ClassNotFound {
		e.Verdict = Unknown
		e.Message = fmt.Sprintf("%s: not everything could be read, so it is not known whether the device class exists", name)
	}
	g := Group{Reasons: []Reason{*reason}}
	for _, node := range q.nodes {
		g.Nodes = append(g.Nodes, inspect.NodeName(node.Name))
	}
	if len(g.Nodes) > 0 {
		e.Groups = []Group{g}
	}
}

// headline is the answer in one sentence.
func (q *question) headline(e *Explanation, abort *answer) string {
	where := fmt.Sprintf("any of %d nodes", e.Nodes.Total)
	if len(q.nodes) == 1 {
		where = "node " + q.nodes[0].Name
		if q.nodes[0].Name == string(inspect.PseudoNode) {
			where = "any node (none is known)"
		}
	}
	name := e.Subject.Name
	if e.Subject.Namespace != "" {
		name = e.Subject.Namespace + "/" + name
	}
	if abort != nil && abort.abort.Undecided() {
		return fmt.Sprintf("%s %s: %s", name, abort.abort.Consequence(), withoutHint(abort.abort))
	}
	switch e.Verdict {
	case Invalid:
		text := fmt.Sprintf("%s %s: %s", name, abort.abort.Consequence(), withoutHint(abort.abort))
		if e.Nodes.Allocatable > 0 {
			text += fmt.Sprintf(" (%d of %d nodes would fit otherwise)", e.Nodes.Allocatable, e.Nodes.Total)
		}
		return text
	case Allocatable:
		if e.Nodes.Total == 1 {
			return fmt.Sprintf("%s can be allocated on %s", name, where)
		}
		return fmt.Sprintf("%s can be allocated on %d of %d nodes", name, e.Nodes.Allocatable, e.Nodes.Total)
	case Unsatisfiable:
		if len(q.claims) == 0 && len(q.own) > 0 {
			return fmt.Sprintf("%s has all its devices, but cannot be scheduled on %s", name, where)
		}
		return fmt.Sprintf("%s cannot be allocated on %s", name, where)
	}
	return q.unknownHeadline(e, name)
}

func (q *question) unknownHeadline(e *Explanation, name string) string {
	switch {
	case e.Nodes.Total == 0:
		return name + ": there are no nodes to ask about"
	case e.Nodes.Allocatable > 0:
		return fmt.Sprintf("%s could be allocated on %d of %d nodes as far as can be seen, but not everything could be read",
			name, e.Nodes.Allocatable, e.Nodes.Total)
	case len(e.Partial) > 0:
		return name + " cannot be allocated with what can be seen, but not everything could be read"
	}
	return name + ": the search was given up before it had an answer"
}
