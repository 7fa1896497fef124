package fix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Fixes where the scheduler gives up with an error because a selector cannot be evaluated for a device, most
// often since it reads a field that the device does not have. One such device anywhere is enough, so a change
// only counts if no node makes the scheduler give up any more.

// maxGuarded is the number of rounds in which terms are guarded: behind one missing field there may be another.
const maxGuarded = 8

// RemedyAbort looks for fixes of a selector that fails.
func RemedyAbort(ctx context.Context, q *whatif.Question, e *explain.Explanation, abort *allocator.AbortError) error {
	if abort.Code != allocator.SelectorError || q.PerNode != nil {
		return nil
	}
	q.Subject = e.Subject
	e.Failure = failureOf(ctx, q, abort)
	s, err := newSearch(ctx, q, requirement.NewLists(q), nil, nil)
	if err != nil {
		return err
	}
	for _, how := range []repair{respell, guard, drop} {
		m := &selectorRepair{search: s, how: how, lacks: map[failingTerm][]string{}, respelled: map[failingTerm]respelling{}}
		if err := m.mend(ctx, abort); err != nil {
			return err
		}
		if m.fix != nil {
			e.Fixes = append(e.Fixes, *m.fix)
		}
	}
	return nil
}

// repair is what is done to terms that fail.
type repair int

const (
	respell repair = iota // fields that no device has are read under the name that was probably meant
	guard                 // fields are asked for first
	drop                  // the terms are dropped
)

// selectorRepair changes terms that fail until none does.
type selectorRepair struct {
	*search
	how repair
	// failed are the terms that failed, in the order in which that was found, with the fields that devices lack.
	failed    []failingTerm
	lacks     map[failingTerm][]string
	respelled map[failingTerm]respelling
	fix       *explain.Fix
}

// failingTerm is a term that fails: of a selector of a request, or of one of a class.
type failingTerm struct {
	at       whatif.RequestRef
	class    string
	selector int
	term     int
	text     string
}

func (m *selectorRepair) mend(ctx context.Context, abort *allocator.AbortError) error {
	for range maxGuarded {
		if !m.note(ctx, abort) {
			return nil // another reason, which no change of a term removes
		}
		change := m.change(ctx)
		fitting, next, err := m.ask(ctx, &change)
		if err != nil {
			return err
		}
		if next == nil {
			if fitting.Len() > 0 {
				m.fix = m.search.fix(ctx, &change, fitting.First(), fitting.Len())
			}
			return nil
		}
		abort = next
	}
	return nil
}

// note finds the terms that fail for the device, and the fields that it lacks. false: nothing new.
func (m *selectorRepair) note(ctx context.Context, abort *allocator.AbortError) bool {
	at, ok := m.Q.RequestNamed(abort.Claim, abort.Request)
	device := deviceOf(m.Q, abort.Device)
	if !ok || device == nil || abort.Selector < 0 {
		return false
	}
	selectors := m.Q.SelectorsOf(at, abort.Class)
	if abort.Selector >= len(selectors) || selectors[abort.Selector].CEL == nil {
		return false
	}
	news := false
	for i, term := range m.Q.Cluster.Selectors().Terms(ctx, selectors[abort.Selector].CEL.Expression, abort.Device.Driver, device) {
		if term.Err == nil {
			continue
		}
		key := m.known(failingTerm{at: at, class: abort.Class, selector: abort.Selector, term: i, text: term.Expression})
		fields, known := m.lacks[key]
		if !known {
			m.failed = append(m.failed, key)
			news = true
		}
		for _, r := range term.Reads {
			if r.Value == "" && !slices.Contains(fields, r.Expression) {
				fields = append(fields, r.Expression)
				news = true
			}
		}
		if len(fields) == 0 && m.how != drop {
			return false // it fails for another reason than a field that is not there
		}
		m.lacks[key] = fields
		if m.how == respell {
			if m.respelled[key], ok = respellingOf(m.Q, key.text, fields, abort.Device, device); !ok {
				return false
			}
		}
	}
	return news
}

// known returns the term as it was met first: a term of a class is one, whichever request meets it.
func (m *selectorRepair) known(f failingTerm) failingTerm {
	for _, other := range m.failed {
		if f.class != "" && other.class == f.class && other.selector == f.selector && other.term == f.term {
			return other
		}
	}
	return f
}

// deviceOf returns a device as it is published. nil: there is none.
func deviceOf(q *whatif.Question, id inspect.DeviceID) *resourcev1.Device {
	for _, slice := range q.Cluster.Snapshot().SlicesIn(inspect.PoolID{Driver: id.Driver, Pool: id.Pool}) {
		for i := range slice.Spec.Devices {
			if slice.Spec.Devices[i].Name == id.Device {
				return &slice.Spec.Devices[i]
			}
		}
	}
	return nil
}

// instead is what takes the place of a term; "" when it is dropped.
func (m *selectorRepair) instead(f failingTerm) string {
	switch m.how {
	case drop:
		return ""
	case respell:
		return m.respelled[f].term
	}
	var parts []string
	for _, field := range m.lacks[f] {
		parts = append(parts, "has("+field+")")
	}
	return strings.Join(append(parts, whatif.Parenthesized(f.text)), " && ")
}

// change is what was found so far, as one change.
func (m *selectorRepair) change(ctx context.Context) requirement.Change {
	c := requirement.Change{Kind: explain.RelaxSelector, Cost: requirement.CostDrop}
	var texts []string
	for _, f := range m.failed {
		at, expression := whatif.SelectorRef{At: f.at, Index: f.selector}, m.instead(f)
		text := "ask for the field first, so that devices without it do not match: " + expression
		switch m.how {
		case drop:
			text = "drop the term that fails: " + requirement.Brief(m.Q, f.text)
		case respell:
			text = m.respelled[f].message
		}
		if f.class != "" {
			c.Edits = append(c.Edits, whatif.ClassTermEdit{SelectorRef: at, Term: f.term, Expression: expression})
			text = fmt.Sprintf("in the device class %s, for all who use it: %s", f.class, text)
		} else {
			c.Edits = append(c.Edits, whatif.TermEdit{SelectorRef: at, Term: f.term, Expression: expression})
		}
		c.Key += fmt.Sprint(f.class, at, f.term, expression, "\n")
		texts = append(texts, text)
	}
	c.Message = strings.Join(texts, "; ")
	return c
}

// ask puts the question with the change made to every node. abort is the first error that there still is.
func (m *selectorRepair) ask(ctx context.Context, c *requirement.Change) (whatif.NodeSet, *allocator.AbortError, error) {
	world := m.Q.Real(ctx, c.Edits)
	kinds, err := world.Cluster.Sweep(ctx, m.Nodes, world.Claims)
	out := whatif.NodeSet{Nodes: m.Nodes}
	for i := range kinds {
		if kinds[i].Abort != nil {
			return out, kinds[i].Abort, err
		}
		if r := kinds[i].Result; r != nil && r.Outcome == allocator.Allocated {
			out.Lists = append(out.Lists, kinds[i].Nodes)
		}
	}
	return out, nil, err
}
