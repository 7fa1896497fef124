package requirement

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var termKind = Kind{name: explain.TermRequired, Importance: 3, list: listTerms}

// termRequirement is a term of a selector of a request. It is given up by dropping the term.
type termRequirement struct{ relaxable[whatif.TermEdit] }

func listTerms(ctx context.Context, s *site) []Relaxable {
	var out []Relaxable
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		at := whatif.RefOf(r)
		selectors := *whatif.FieldsOf(s.Q.Claims, at).Selectors
		for n := range selectors {
			if selectors[n].CEL == nil {
				continue
			}
			path := fmt.Sprintf("%s.selectors[%d].cel.expression", s.Q.Path(at), n)
			for t, term := range s.Q.Terms(ctx, selectors[n].CEL.Expression) {
				text, actual := termOfRequest.describe(ctx, s, r, term)
				requirement := with(s.about(r, explain.TermRequired, path, "%s wants %s", r.Name, text), actual)
				requirement.Term = term
				edit := whatif.TermEdit{SelectorRef: whatif.SelectorRef{At: at, Index: n}, Term: t}
				out = append(out, termRequirement{relaxable[whatif.TermEdit]{requirement, edit, 2, CostDrop}})
			}
		}
	}
	return out
}

// termOfRequest describes the terms of a request: by the devices of its class, which all can be expected to
// have the fields that it reads.
var termOfRequest = termSource{without: []allocator.Code{allocator.ClassSelectorRejected}}

// Propose finds the nearest value with which the term helps, and proposes to drop it.
func (r termRequirement) Propose(ctx context.Context, q *whatif.Question, node inspect.NodeName) []Change {
	var out []Change
	if wanted := ComparisonOf(q, r.Term); wanted != nil {
		for _, v := range nearestValues(q, wanted) {
			e := r.edit
			e.Expression = wanted.with(v)
			if at := q.FirstFit(ctx, []whatif.Edit{e}); at != "" {
				out = append(out, Change{
					Kind: explain.RelaxSelector, Edits: []whatif.Edit{e}, Node: at, Cost: CostValue, Key: fmt.Sprint(e.At, r.Term, e.Expression),
					Message: r.accept(q, wanted, v) + wanted.remark(v),
				})
				break
			}
		}
	}
	return append(out, Change{
		Kind: explain.RelaxSelector, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostDrop + 2, Key: fmt.Sprint(r.edit.At, r.Term),
		Message: r.drop(q),
	})
}

func (r termRequirement) drop(q *whatif.Question) string {
	return "drop from the selector" + ForRequest(q, &r.Requirement) + ": " + q.Cluster.Selectors().Brief(r.Term)
}

// accept proposes another value. A relation that excludes the value itself is widened with it.
func (r termRequirement) accept(q *whatif.Question, c *Comparison, v fieldValue) string {
	value, text := v.text, c.Literal
	if wider := c.Relation.OrEqual(); wider != c.Relation {
		value, text = string(wider)+" "+value, string(c.Relation)+" "+text
	}
	return fmt.Sprintf("accept %s %s instead of %s%s", c.Field.Name, value, text, ForRequest(q, &r.Requirement))
}

// Combine puts the nearest value with which the edits together still help in the place of the term.
func (r termRequirement) Combine(ctx context.Context, c *Combination, i int) Part {
	dropped := Part{explain.RelaxSelector, fmt.Sprint(r.edit.At, r.Term), r.drop(c.Question)}
	wanted := ComparisonOf(c.Question, r.Term)
	if wanted == nil {
		return dropped
	}
	for _, v := range nearestValues(c.Question, wanted) {
		e := r.edit
		e.Expression = wanted.with(v)
		if c.helpsWith(ctx, i, e) {
			return Part{explain.RelaxSelector, fmt.Sprint(e.At, r.Term, e.Expression), r.accept(c.Question, wanted, v)}
		}
	}
	return dropped
}
