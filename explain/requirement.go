package explain

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// requirement is one thing that has to hold for the question on a node, and how to give it up. Each kind is a type
// in a file of its own, and an entry in kinds.
type requirement interface {
	// describe says what has to hold, and what there is on the node instead.
	describe() *Requirement
	// relaxing is the edit that gives it up altogether.
	relaxing() edit
	// effort says roughly what giving it up takes of the user, from 1 for next to nothing to outOfReach.
	effort(q *question) int
	// price is what it costs to give it up, in the units of the costs of changes.
	price(q *question) int
	// propose returns changes that help, the smallest first if possible, when giving it up altogether helps. The
	// node is one where that is so.
	propose(ctx context.Context, c *clusterSandbox, node inspect.NodeName) ([]change, error)
	// combine says what giving it up is, as one of several edits that help only together; it may put an edit in
	// the place of its own that gives up less.
	combine(ctx context.Context, c *combination, i int) (part, error)
}

// clarifies is implemented by requirements of which only the conflict tells what there is instead.
type clarifies interface {
	// clarify says so, given the edits that give up all that is not part of the conflict.
	clarify(ctx context.Context, b *sandbox, relaxed []edit) (string, error)
}

// outOfReach is the effort for what the user cannot do, or does not want: not to ask at all leads out of every
// conflict and is no step.
const outOfReach = 9

// kind is a kind of requirement.
type kind struct {
	name RequirementKind
	// importance orders the requirements of a conflict for the reader, the lowest first: what is asked for, from
	// the number of devices to their properties, then what is in the way.
	importance int
	// ofOthers: what it is about belongs to somebody else.
	ofOthers bool
	// list finds the requirements of the kind on a node, in a fixed order.
	list func(ctx context.Context, s *site) []requirement
}

// kinds are all kinds, those first that a user can do least about. What is tried first when a conflict is looked for
// ends up outside of it if it can, so the order decides which of several conflicts is found.
var kinds = []kind{
	countersKind, classTermKind, poolKind, featureKind, taintKind, heldKind, capacityKind, termKind, constraintKind,
	countKind, requestKind,
}

// listed is a requirement with what its kind says of it.
type listed struct {
	requirement
	*kind
	rank int // of the kind, in kinds
}

// key identifies the requirement: those with the same key are given up by the same edit.
func (l *listed) key() string { return l.relaxing().key() }

// site is a node as requirements see it.
type site struct {
	*sandbox
	exam *allocator.Examination
}

// requirementLists remembers the requirements of nodes.
type requirementLists struct {
	q      *question
	byNode map[inspect.NodeName]*requirementList
}

type requirementList struct {
	all, requests []listed
}

func newRequirementLists(q *question) *requirementLists {
	return &requirementLists{q: q, byNode: map[inspect.NodeName]*requirementList{}}
}

// on lists what decides about a node, in the order of kinds. There is nothing when the scheduler gives up.
func (r *requirementLists) on(ctx context.Context, b *sandbox) ([]listed, error) {
	list, err := r.list(ctx, b)
	if err != nil || list == nil {
		return nil, err
	}
	return list.all, nil
}

// withRequests adds to what decides about a node the requests as such.
func (r *requirementLists) withRequests(ctx context.Context, b *sandbox) ([]listed, error) {
	list, err := r.list(ctx, b)
	if err != nil || list == nil {
		return nil, err
	}
	return append(list.all[:len(list.all):len(list.all)], list.requests...), nil
}

func (r *requirementLists) list(ctx context.Context, b *sandbox) (*requirementList, error) {
	name := inspect.NodeName(b.node.Name)
	if list, ok := r.byNode[name]; ok {
		return list, nil
	}
	exam, err := b.examination(ctx)
	if err != nil || exam == nil {
		return nil, err
	}
	list := &requirementList{all: []listed{}} // that there is none is something else than not to know
	s := &site{b, exam}
	for rank := range kinds {
		k := &kinds[rank]
		for _, found := range k.list(ctx, s) {
			if !r.q.standsForItself(found.relaxing()) {
				continue
			}
			into := &list.all
			if k.name == RequestRequired {
				into = &list.requests
			}
			*into = append(*into, listed{found, k, rank})
		}
	}
	r.byNode[name] = list
	return list, nil
}

// standsForItself reports whether an edit is not one of a claim for which the first from its template stands.
func (q *question) standsForItself(e edit) bool {
	c, ok := e.(claimEdit)
	return !ok || q.firstOfTemplate(c.target().claim)
}

// about makes a requirement of a request that was examined.
func (s *site) about(r *allocator.ExaminedRequest, kind RequirementKind, path, format string, args ...any) Requirement {
	out := s.ofClaim(r.Claim, kind, path, format, args...)
	out.Request = r.Name
	return out
}

// ofClaim makes a requirement of a claim of the question. It names the others from the same template.
func (s *site) ofClaim(claim int, kind RequirementKind, path, format string, args ...any) Requirement {
	c := s.q.claims[claim]
	return Requirement{
		Kind: kind, Claim: inspect.RefOf(c),
		Path: path, Message: fmt.Sprintf(format, args...) + s.q.eachOf(claim),
	}
}

func (r Requirement) with(actual string) Requirement {
	r.Here = actual
	return r
}
