package fix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/spelling"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// The scheduler gives up with an error if a selector cannot be evaluated for a device, most often since it
// reads a field that the device does not have. One such device anywhere is enough, so a change counts only if
// no node makes the scheduler give up any more.

// maxRounds is the number of rounds in which terms are repaired. A term that is repaired may let another one
// fail.
const maxRounds = 8

// FindForAbort adds to an explanation the term of a selector that makes the scheduler abort, and fixes of it.
// It does nothing if the scheduler aborts for another reason. Errors are those of [Find].
func FindForAbort(ctx context.Context, q *whatif.Question, e *explain.Explanation, abort *allocator.AbortError) error {
	if abort.Code != allocator.SelectorError || q.PerNode != nil {
		return nil
	}
	e.Failure = spelling.FailureOf(ctx, q, abort)
	s := newSearch(ctx, q, requirement.NewLists(q), nil, nil)
	for _, method := range []repairMethod{respell, guard, drop} {
		r := &selectorRepair{search: s, method: method, lacks: map[failingTerm][]string{}, respelled: map[failingTerm]spelling.Respelling{}}
		if f := r.run(ctx, abort); f != nil {
			e.Fixes = append(e.Fixes, *f)
		}
	}
	return q.Err()
}

// repairMethod is what is done to terms that fail.
type repairMethod int

const (
	respell repairMethod = iota // read fields that no device has under the name that was probably meant
	guard                       // test with has() first whether the device has the fields
	drop                        // drop the terms
)

// selectorRepair changes terms that fail until none does.
type selectorRepair struct {
	*search
	method repairMethod
	// failed are the terms that failed, in the order in which they were found.
	failed []failingTerm
	// lacks are the fields that devices lack, for each term.
	lacks map[failingTerm][]string
	// respelled are the terms with other fields. It is filled by method respell only.
	respelled map[failingTerm]spelling.Respelling
}

// failingTerm is a term that fails. It belongs to a selector of a request or, if class is not "", of that
// class.
type failingTerm struct {
	at       whatif.RequestRef
	class    string
	selector int
	term     int
	text     string
}

// run returns the fix that repairs all terms that fail, beginning with what made the scheduler abort. It
// returns nil if the method does not help.
func (r *selectorRepair) run(ctx context.Context, abort *allocator.AbortError) *explain.Fix {
	for range maxRounds {
		if !r.collect(ctx, abort) {
			return nil // another reason, which no change of a term removes
		}
		change := r.change()
		fitting, next := r.Q.Real(ctx, change.Edits).Sweep(ctx, r.Q.Usable())
		if next != nil {
			abort = next
			continue
		}
		if fitting.Len() == 0 {
			return nil
		}
		return r.describe(ctx, &change, fitting.First(), fitting.Len())
	}
	return nil
}

// collect adds the terms that fail for the device of an abort, and the fields that it lacks. It reports
// whether there is anything new that the method can repair.
func (r *selectorRepair) collect(ctx context.Context, abort *allocator.AbortError) bool {
	failed, ok := spelling.FailedSelectorOf(r.Q, abort)
	if !ok {
		return false
	}
	anything := false
	for i, term := range r.Q.Cluster.Selectors().Terms(ctx, failed.Expression, abort.Device.Driver, failed.Device) {
		if term.Err == nil {
			continue
		}
		key := r.known(failingTerm{at: failed.At, class: abort.Class, selector: abort.Selector, term: i, text: term.Expression})
		anything = r.add(key, term.Reads) || anything
		if len(r.lacks[key]) == 0 && r.method != drop {
			return false // it fails for another reason than a field that is not there
		}
		if r.method == respell {
			if r.respelled[key], ok = spelling.RespellingOf(r.Q, key.text, r.lacks[key], abort.Device, failed.Device); !ok {
				return false
			}
		}
	}
	return anything
}

// add adds a term that fails, and the fields that it reads and the device lacks. It reports whether any of
// that is new.
func (r *selectorRepair) add(key failingTerm, reads []selector.Read) bool {
	fields, known := r.lacks[key]
	if !known {
		r.failed = append(r.failed, key)
	}
	before := len(fields)
	for _, read := range reads {
		if read.Value == "" && !slices.Contains(fields, read.Expression) {
			fields = append(fields, read.Expression)
		}
	}
	r.lacks[key] = fields
	return !known || len(fields) > before
}

// known returns the term as it was found first. A term of a class is the same whichever request it fails for.
func (r *selectorRepair) known(f failingTerm) failingTerm {
	for _, other := range r.failed {
		if f.class != "" && other.class == f.class && other.selector == f.selector && other.term == f.term {
			return other
		}
	}
	return f
}

// replacement is what takes the place of a term. It is "" if the term is dropped.
func (r *selectorRepair) replacement(f failingTerm) string {
	switch r.method {
	case drop:
		return ""
	case respell:
		return r.respelled[f].Term
	}
	parts := words.Each(r.lacks[f], func(field string) string { return "has(" + field + ")" })
	return strings.Join(append(parts, whatif.Parenthesized(f.text)), " && ")
}

// change repairs all terms that were found so far.
func (r *selectorRepair) change() requirement.Change {
	c := requirement.Change{Kind: explain.RelaxSelector, Cost: requirement.CostDrop}
	var texts []string
	for _, f := range r.failed {
		at, expression := whatif.SelectorRef{At: f.at, Index: f.selector}, r.replacement(f)
		text := "ask for the field first, so that devices without it do not match: " + expression
		switch r.method {
		case drop:
			text = "drop the term that fails: " + r.Q.Cluster.Selectors().Brief(f.text)
		case respell:
			text = r.respelled[f].Message
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
