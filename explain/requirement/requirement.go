package requirement

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Relaxable is one thing that has to hold for the question on a node, and how to relax it. Each kind is a
// type in a file of its own, with a line in Kinds.
type Relaxable interface {
	// Describe says what has to hold, and what there is on the node instead.
	Describe() *explain.Requirement
	// Relaxing is the edit that drops it altogether.
	Relaxing() whatif.Edit
	// Effort ranks conflicts for the reader: what relaxing it takes of the user, from 1 for next to nothing
	// to OutOfReach.
	Effort() int
	// Price ranks what a fix of several changes keeps: what dropping it costs, in the units of Change.Cost.
	Price() int
	// Propose returns changes that help, if possible smaller ones than to drop it. It is called when dropping
	// it helps on some node, which it is given.
	Propose(ctx context.Context, q *whatif.Question, node inspect.NodeName) []Change
	// Combine says what relaxing it is, as one of several edits that help only together. It may replace its
	// own edit by one that relaxes less.
	Combine(ctx context.Context, c *Combination, i int) Part
}

// relaxable is what all requirements have in common: what has to hold, the edit that drops it, and what that
// costs. By itself it is one that nobody can drop.
type relaxable[E whatif.Edit] struct {
	explain.Requirement
	edit          E
	effort, price int
}

func (r relaxable[E]) Describe() *explain.Requirement { return &r.Requirement }
func (r relaxable[E]) Relaxing() whatif.Edit          { return r.edit }
func (r relaxable[E]) Effort() int                    { return r.effort }
func (r relaxable[E]) Price() int                     { return r.price }

func (r relaxable[E]) Propose(context.Context, *whatif.Question, inspect.NodeName) []Change {
	return nil
}

func (r relaxable[E]) Combine(context.Context, *Combination, int) Part { return Part{} }

// droppable is a requirement that is dropped as a whole.
type droppable struct {
	relaxable[whatif.Edit]
	part Part
	// on is the only node that it is about. It is "" if it may be dropped for any.
	on inspect.NodeName
}

// dropping makes a requirement that is dropped as a whole by an edit, which is a fix of a kind.
func dropping(
	r explain.Requirement, e whatif.Edit, effort, price int, kind explain.FixKind, message string,
) droppable {
	return droppable{relaxable: relaxable[whatif.Edit]{r, e, effort, price}, part: Part{kind, e.Key(), message}}
}

func (r droppable) Propose(_ context.Context, _ *whatif.Question, node inspect.NodeName) []Change {
	return []Change{{
		Kind: r.part.Kind, Edits: []whatif.Edit{r.edit}, Node: cmp.Or(r.on, node), NamesNode: r.on != "",
		Cost: r.price, Key: r.part.Key, Message: r.part.Message,
	}}
}

func (r droppable) Combine(context.Context, *Combination, int) Part { return r.part }

// Clarifier is implemented by requirements of which only the conflict tells what there is instead.
type Clarifier interface {
	// Clarify says so, given the edits that relax all that is not part of the conflict.
	Clarify(ctx context.Context, b *whatif.Sandbox, relaxed []whatif.Edit) string
}

// Prober is implemented by requirements of which less may help although to drop them does not.
type Prober interface {
	// Probe returns changes that help. It is called when dropping the requirement helps on no node.
	Probe(ctx context.Context, q *whatif.Question) []Change
}

// Inseparable is implemented by requirements that can only be relaxed together with others.
type Inseparable interface {
	// InseparableFrom reports whether the other is one of these.
	InseparableFrom(other Relaxable) bool
}

// OutOfReach is the effort for what the user cannot do, or does not want: not to ask at all leads out of
// every conflict and is no step.
const OutOfReach = 9

// Kind is a kind of requirement.
type Kind struct {
	name explain.RequirementKind
	// Importance orders the requirements of a conflict for the reader, the lowest first: what is asked for,
	// from the number of devices to their properties, then what is in the way.
	Importance int
	// OfOthers says that it is about what belongs to somebody else.
	OfOthers bool
	// list finds the requirements of the kind on a node, in a fixed order.
	list func(ctx context.Context, s *site) []Relaxable
}

// Kinds are all kinds, those first that a user can do least about. Kinds that come earlier are relaxed first
// and so tend to stay out of the conflict; this is the first of the orders that are tried.
var Kinds = []Kind{
	countersKind, podsKind, featureOfNode, volumeKind, classTermKind, poolKind, featureKind, taintKind, nodeTaintKind, cordonKind, heldKind, repelledKind,
	nodeAffinityKind, podAffinityKind, spreadKind, capacityKind, termKind, constraintKind,
	portKind, countKind, resourceKind, requestKind,
}

// Listed is a requirement with what its kind says of it.
type Listed struct {
	Relaxable
	*Kind
	Rank int // the index of the kind in Kinds
}

// Key identifies the requirement: the same edit relaxes those with the same key.
func (l *Listed) Key() string { return l.Relaxing().Key() }

// site is a node as requirements see it.
type site struct {
	*whatif.Sandbox
	exam *allocator.Examination
	// outcome is what the scheduler's other filters say of the node, once they were asked.
	outcome *filters.Outcome
}

// Lists remembers the requirements of nodes.
type Lists struct {
	Q      *whatif.Question
	byNode map[inspect.NodeName]nodeRequirements
}

type nodeRequirements struct {
	all, requests []Listed
}

// NewLists makes the lists of a question. They are filled as nodes are asked about.
func NewLists(q *whatif.Question) *Lists {
	return &Lists{Q: q, byNode: map[inspect.NodeName]nodeRequirements{}}
}

// On lists what decides about a node, in the order of kinds. There is nothing when the scheduler gives up.
func (r *Lists) On(ctx context.Context, b *whatif.Sandbox) []Listed {
	all, _ := r.list(ctx, b)
	return all
}

// WithRequests adds to what decides about a node the requests as such.
func (r *Lists) WithRequests(ctx context.Context, b *whatif.Sandbox) []Listed {
	all, requests := r.list(ctx, b)
	return append(slices.Clip(all), requests...)
}

func (r *Lists) list(ctx context.Context, b *whatif.Sandbox) (all, requests []Listed) {
	name := inspect.NodeName(b.Node.Name)
	if list, ok := r.byNode[name]; ok {
		return list.all, list.requests
	}
	exam := b.Examination(ctx)
	if exam == nil {
		return nil, nil
	}
	list := nodeRequirements{all: []Listed{}} // that there is none is something else than not to know
	s := &site{Sandbox: b, exam: exam}
	for rank := range Kinds {
		k := &Kinds[rank]
		for _, found := range k.list(ctx, s) {
			if !standsForItself(r.Q, found.Relaxing()) {
				continue
			}
			into := &list.all
			if k.name == explain.RequestRequired {
				into = &list.requests
			}
			*into = append(*into, Listed{found, k, rank})
		}
	}
	r.byNode[name] = list
	return list.all, list.requests
}

// standsForItself reports whether an edit should be listed. Of claims made from the same template, only the
// first is.
func standsForItself(q *whatif.Question, e whatif.Edit) bool {
	c, ok := e.(whatif.ClaimEdit)
	return !ok || q.FirstOfTemplate(c.Target().Claim)
}

// about makes a requirement of a request that was examined.
func (s *site) about(r *allocator.ExaminedRequest, kind explain.RequirementKind, path, format string, args ...any) explain.Requirement {
	out := s.ofClaim(r.Claim, kind, path, format, args...)
	out.Request = r.Name
	return out
}

// ofClaim makes a requirement of a claim of the question. It names the others from the same template.
func (s *site) ofClaim(claim int, kind explain.RequirementKind, path, format string, args ...any) explain.Requirement {
	c := s.Q.Claims[claim]
	return explain.Requirement{
		Kind: kind, Claim: inspect.RefOf(c),
		Path: path, Message: fmt.Sprintf(format, args...) + s.Q.EachOf(claim),
	}
}

func with(r explain.Requirement, actual string) explain.Requirement {
	r.Actual = actual
	return r
}
