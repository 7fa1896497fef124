package explain

import (
	"context"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// anyClass is a device class that selects every device. It exists only in the small snapshots of
// what-if questions, where the terms of a class that are kept become selectors of the request.
const anyClass = "any.kubectl-dra.dev"

// alternative addresses a request of the question, or one of its subrequests.
type alternative struct {
	claim, request int
	sub            int // -1: the request itself
}

// edit is one change to the question or to the world. Edits are plain values, so that the same list
// can be tried on a small snapshot, verified on the whole one, and written down as a patch.
type edit struct {
	kind       editKind
	at         alternative
	selector   int // of the request, or of its class
	term       int // of the selector
	constraint int
	count      int64
	capacity   resourcev1.QualifiedName
	amount     *resource.Quantity // nil: the capacity is not asked for any more
	expression string             // instead of the term; "": the term is dropped
	requests   []string           // of the constraint; nil: it is dropped
	attribute  resourcev1.FullyQualifiedName
	toleration resourcev1.DeviceToleration
	class      string
	claim      inspect.ClaimRef // to be released
	gates      []inspect.Gate   // to be enabled
	pool       inspect.PoolID   // to be completed with what is published of it, or whose counters are raised
	counter    string           // to be raised; "": all of the pool
}

type editKind int

const (
	editCount editKind = iota
	editTerm
	editClassTerm
	editConstraint
	editCapacity
	editToleration
	editClass
	editRequest // drops it
	editAttribute
	editRelease
	editGates
	editPool
	editCounters // nobody can make it
)

// fields are those that a request and a subrequest have in common.
type fields struct {
	class       *string
	mode        *resourcev1.DeviceAllocationMode
	count       *int64
	selectors   *[]resourcev1.DeviceSelector
	tolerations *[]resourcev1.DeviceToleration
	capacity    **resourcev1.CapacityRequirements
}

func fieldsOf(claims []*resourcev1.ResourceClaim, at alternative) fields {
	request := &claims[at.claim].Spec.Devices.Requests[at.request]
	if at.sub < 0 {
		e := request.Exactly
		return fields{&e.DeviceClassName, &e.AllocationMode, &e.Count, &e.Selectors, &e.Tolerations, &e.Capacity}
	}
	s := &request.FirstAvailable[at.sub]
	return fields{&s.DeviceClassName, &s.AllocationMode, &s.Count, &s.Selectors, &s.Tolerations, &s.Capacity}
}

// alternatives lists the requests and subrequests of the question.
func (q *question) alternatives() []alternative {
	var out []alternative
	for c, claim := range q.claims {
		for r := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[r]
			if request.Exactly != nil {
				out = append(out, alternative{c, r, -1})
			}
			for s := range request.FirstAvailable {
				out = append(out, alternative{c, r, s})
			}
		}
	}
	return out
}

// selectorAt addresses a selector of a request.
type selectorAt struct {
	at    alternative
	index int
}

// sorted edits, by what they are about.
type sorted struct {
	terms       map[selectorAt]map[int]string
	classTerms  map[alternative]map[selectorAt]map[int]string
	constraints map[[2]int][]string
	requests    map[[2]int]bool
}

func sortEdits(edits []edit) sorted {
	s := sorted{
		terms:       map[selectorAt]map[int]string{},
		classTerms:  map[alternative]map[selectorAt]map[int]string{},
		constraints: map[[2]int][]string{}, requests: map[[2]int]bool{},
	}
	set := func(m map[selectorAt]map[int]string, e *edit) {
		key := selectorAt{e.at, e.selector}
		if m[key] == nil {
			m[key] = map[int]string{}
		}
		m[key][e.term] = e.expression
	}
	for i := range edits {
		switch e := &edits[i]; e.kind {
		case editTerm:
			set(s.terms, e)
		case editClassTerm:
			if s.classTerms[e.at] == nil {
				s.classTerms[e.at] = map[selectorAt]map[int]string{}
			}
			set(s.classTerms[e.at], e)
		case editConstraint:
			s.constraints[[2]int{e.at.claim, e.constraint}] = e.requests
		case editRequest:
			s.requests[[2]int{e.at.claim, e.at.request}] = true
		}
	}
	return s
}

// apply returns the claims of the question with the edits made; claims that no edit is about are shared.
func (q *question) apply(ctx context.Context, edits []edit) []*resourcev1.ResourceClaim {
	edits = q.withTwins(edits)
	claims := slices.Clone(q.claims)
	own := func(i int) {
		if claims[i] == q.claims[i] {
			claims[i] = claims[i].DeepCopy()
		}
	}
	for i := range edits {
		e := &edits[i]
		if e.aboutClaim() {
			own(e.at.claim)
			e.set(claims)
		}
	}
	s := sortEdits(edits)
	for key, terms := range s.terms {
		selectors := *fieldsOf(claims, key.at).selectors
		selectors[key.index].CEL = q.rewrite(ctx, selectors[key.index].CEL, terms)
	}
	for at, rewritten := range s.classTerms {
		q.spellOutClass(ctx, claims, at, rewritten)
	}
	for _, at := range q.alternatives() {
		f := fieldsOf(claims, at)
		if slices.ContainsFunc(*f.selectors, dropped) {
			*f.selectors = slices.DeleteFunc(*f.selectors, dropped)
		}
	}
	q.applyRemovals(claims, s)
	return claims
}

func dropped(s resourcev1.DeviceSelector) bool { return s.CEL == nil }

// aboutClaim reports whether the edit changes a claim of the question.
func (e *edit) aboutClaim() bool { return e.kind < editRelease }

// set makes the edits that are a matter of one field.
func (e *edit) set(claims []*resourcev1.ResourceClaim) {
	switch e.kind {
	case editCount:
		f := fieldsOf(claims, e.at)
		*f.mode, *f.count = resourcev1.DeviceAllocationModeExactCount, e.count
	case editCapacity:
		f := fieldsOf(claims, e.at)
		if e.amount != nil {
			(*f.capacity).Requests[e.capacity] = *e.amount
			return
		}
		delete((*f.capacity).Requests, e.capacity)
		if len((*f.capacity).Requests) == 0 {
			*f.capacity = nil
		}
	case editToleration:
		f := fieldsOf(claims, e.at)
		*f.tolerations = append(*f.tolerations, e.toleration)
	case editClass:
		*fieldsOf(claims, e.at).class = e.class
	case editAttribute:
		claims[e.at.claim].Spec.Devices.Constraints[e.constraint].MatchAttribute = &e.attribute
	}
}

// applyRemovals removes constraints and requests, from the back so that indices stay true.
func (q *question) applyRemovals(claims []*resourcev1.ResourceClaim, s sorted) {
	for key, requests := range s.constraints {
		if requests != nil {
			claims[key[0]].Spec.Devices.Constraints[key[1]].Requests = requests
		}
	}
	for c := range claims {
		devices := &claims[c].Spec.Devices
		for i := len(devices.Constraints) - 1; i >= 0; i-- {
			if requests, ok := s.constraints[[2]int{c, i}]; ok && requests == nil {
				devices.Constraints = slices.Delete(devices.Constraints, i, i+1)
			}
		}
		for i := len(devices.Requests) - 1; i >= 0; i-- {
			if s.requests[[2]int{c, i}] {
				devices.Requests = slices.Delete(devices.Requests, i, i+1)
			}
		}
	}
}

// terms splits a selector at its top-level &&. nil: it does not compile.
func (q *question) terms(ctx context.Context, expression string) []string {
	var out []string
	for _, t := range q.cluster.Selectors().Terms(ctx, expression, "", &resourcev1.Device{}) {
		out = append(out, t.Expression)
	}
	return out
}

// rewrite returns a selector with some terms replaced; nil when none is left.
func (q *question) rewrite(ctx context.Context, s *resourcev1.CELDeviceSelector, replaced map[int]string) *resourcev1.CELDeviceSelector {
	terms := q.terms(ctx, s.Expression)
	var kept []string
	for i, term := range terms {
		expression, ok := replaced[i]
		switch {
		case !ok:
			kept = append(kept, term)
		case expression != "":
			// The spelling of the rest stays as the user wrote it, where that is possible.
			if len(replaced) == 1 && strings.Count(s.Expression, term) == 1 {
				return &resourcev1.CELDeviceSelector{Expression: strings.Replace(s.Expression, term, expression, 1)}
			}
			kept = append(kept, expression)
		}
	}
	switch len(kept) {
	case 0:
		return nil
	case 1:
		return &resourcev1.CELDeviceSelector{Expression: kept[0]}
	}
	for i := range kept {
		// || and ?: bind less than &&. They may also be in a string, where parentheses do no harm.
		if strings.Contains(kept[i], "||") || strings.Contains(kept[i], "?") {
			kept[i] = "(" + kept[i] + ")"
		}
	}
	return &resourcev1.CELDeviceSelector{Expression: strings.Join(kept, " && ")}
}

// spellOutClass replaces the class of a request by one that selects everything and puts those terms of
// the class that are kept before the request's own selectors.
func (q *question) spellOutClass(ctx context.Context, claims []*resourcev1.ResourceClaim, at alternative, rewritten map[selectorAt]map[int]string) {
	f := fieldsOf(claims, at)
	class, ok := q.cluster.Snapshot().Class(*f.class)
	if !ok {
		return
	}
	var selectors []resourcev1.DeviceSelector
	for i, s := range class.Spec.Selectors {
		if terms, ok := rewritten[selectorAt{at, i}]; ok {
			s.CEL = q.rewrite(ctx, s.CEL, terms)
		}
		selectors = append(selectors, s)
	}
	*f.class = anyClass
	*f.selectors = append(selectors, *f.selectors...)
}

// worldEdits are what edits change in the world.
type worldEdits struct {
	released map[inspect.ClaimRef]bool
	gates    map[inspect.Gate]bool
	pools    map[inspect.PoolID]bool            // to be completed
	counters map[inspect.PoolID]map[string]bool // to be raised; with "" all of the pool
}

func worldOf(edits []edit) worldEdits {
	w := worldEdits{
		released: map[inspect.ClaimRef]bool{}, gates: map[inspect.Gate]bool{},
		pools: map[inspect.PoolID]bool{}, counters: map[inspect.PoolID]map[string]bool{},
	}
	for i := range edits {
		switch e := &edits[i]; e.kind {
		case editRelease:
			w.released[e.claim] = true
		case editGates:
			for _, g := range e.gates {
				w.gates[g] = true
			}
		case editPool:
			w.pools[e.pool] = true
		case editCounters:
			if w.counters[e.pool] == nil {
				w.counters[e.pool] = map[string]bool{}
			}
			w.counters[e.pool][e.counter] = true
		}
	}
	return w
}

// worldKey identifies what the edits change in the world.
func worldKey(edits []edit) string {
	w := worldOf(edits)
	var b strings.Builder
	for _, ref := range slices.SortedFunc(maps.Keys(w.released), compareRefs) {
		b.WriteString(ref.String() + "\n")
	}
	for _, g := range slices.Sorted(maps.Keys(w.gates)) {
		b.WriteString("gate " + string(g) + "\n")
	}
	for _, p := range slices.SortedFunc(maps.Keys(w.pools), inspect.PoolID.Compare) {
		b.WriteString("pool " + p.String() + "\n")
	}
	for _, c := range countersKey(w.counters) {
		b.WriteString(c + "\n")
	}
	return b.String()
}

func compareRefs(a, b inspect.ClaimRef) int { return strings.Compare(a.String(), b.String()) }
