package requirement

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Relaxable is one thing that has to hold for the question on a node, and how to give it up. Each kind is a type
// in a file of its own, and an entry in kinds.
type Relaxable interface {
	// Describe says what has to hold, and what there is on the node instead.
	Describe() *explain.Requirement
	// Relaxing is the edit that gives it up altogether.
	Relaxing() whatif.Edit
	// Effort says roughly what giving it up takes of the user, from 1 for next to nothing to OutOfReach.
	Effort(q *whatif.Question) int
	// Price is what it costs to give it up, in the units of the costs of changes.
	Price(q *whatif.Question) int
	// Propose returns changes that help, the smallest first if possible, when giving it up altogether helps. The
	// node is one where that is so.
	Propose(ctx context.Context, c *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error)
	// Combine says what giving it up is, as one of several edits that help only together; it may put an edit in
	// the place of its own that gives up less.
	Combine(ctx context.Context, c *Combination, i int) (Part, error)
}

// Clarifies is implemented by requirements of which only the conflict tells what there is instead.
type Clarifies interface {
	// Clarify says so, given the edits that give up all that is not part of the conflict.
	Clarify(ctx context.Context, b *whatif.Sandbox, relaxed []whatif.Edit) (string, error)
}

// OutOfReach is the effort for what the user cannot do, or does not want: not to ask at all leads out of every
// conflict and is no step.
const OutOfReach = 9

// Kind is a kind of requirement.
type Kind struct {
	name explain.RequirementKind
	// Importance orders the requirements of a conflict for the reader, the lowest first: what is asked for, from
	// the number of devices to their properties, then what is in the way.
	Importance int
	// OfOthers: what it is about belongs to somebody else.
	OfOthers bool
	// filter, if not nil, is the check of the scheduler that the kind is about, where that is not the allocation of
	// devices.
	filter whatif.Filter
	// list finds the requirements of the kind on a node, in a fixed order.
	list func(ctx context.Context, s *site) []Relaxable
}

// Kinds are all kinds, those first that a user can do least about. What is tried first when a conflict is looked for
// ends up outside of it if it can, so the order decides which of several conflicts is found.
var Kinds = []Kind{
	countersKind, classTermKind, poolKind, featureKind, taintKind, heldKind, capacityKind, termKind, constraintKind,
	countKind, requestKind,
}

// Filters are the checks of nodes besides the allocation of devices that kinds are about.
func Filters() []whatif.Filter {
	var out []whatif.Filter
	for i := range Kinds {
		if f := Kinds[i].filter; f != nil {
			out = append(out, f)
		}
	}
	return out
}

// Listed is a requirement with what its kind says of it.
type Listed struct {
	Relaxable
	*Kind
	Rank int // of the kind, in kinds
}

// Key identifies the requirement: those with the same key are given up by the same edit.
func (l *Listed) Key() string { return l.Relaxing().Key() }

// site is a node as requirements see it.
type site struct {
	*whatif.Sandbox
	exam *allocator.Examination
}

// Lists remembers the requirements of nodes.
type Lists struct {
	Q      *whatif.Question
	byNode map[inspect.NodeName]*nodeRequirements
}

type nodeRequirements struct {
	all, requests []Listed
}

func NewLists(q *whatif.Question) *Lists {
	return &Lists{Q: q, byNode: map[inspect.NodeName]*nodeRequirements{}}
}

// On lists what decides about a node, in the order of kinds. There is nothing when the scheduler gives up.
func (r *Lists) On(ctx context.Context, b *whatif.Sandbox) ([]Listed, error) {
	list, err := r.list(ctx, b)
	if err != nil || list == nil {
		return nil, err
	}
	return list.all, nil
}

// WithRequests adds to what decides about a node the requests as such.
func (r *Lists) WithRequests(ctx context.Context, b *whatif.Sandbox) ([]Listed, error) {
	list, err := r.list(ctx, b)
	if err != nil || list == nil {
		return nil, err
	}
	return append(list.all[:len(list.all):len(list.all)], list.requests...), nil
}

func (r *Lists) list(ctx context.Context, b *whatif.Sandbox) (*nodeRequirements, error) {
	name := inspect.NodeName(b.Node.Name)
	if list, ok := r.byNode[name]; ok {
		return list, nil
	}
	exam, err := b.Examination(ctx)
	if err != nil || exam == nil {
		return nil, err
	}
	list := &nodeRequirements{all: []Listed{}} // that there is none is something else than not to know
	s := &site{b, exam}
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
	return list, nil
}

// standsForItself reports whether an edit is not one of a claim for which the first from its template stands.
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
