package explain

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var termKind = kind{name: TermRequired, importance: 3, list: listTerms}

// termRequirement is a term of a selector of a request. It is given up by dropping the term.
type termRequirement struct {
	Requirement
	edit termEdit
}

func listTerms(ctx context.Context, s *site) []requirement {
	var out []requirement
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		at := refOf(r)
		selectors := *fieldsOf(s.q.claims, at).selectors
		for n := range selectors {
			if selectors[n].CEL == nil {
				continue
			}
			path := fmt.Sprintf("%s.selectors[%d].cel.expression", s.q.path(at), n)
			for t, term := range s.q.terms(ctx, selectors[n].CEL.Expression) {
				text, actual := termOfRequest.describe(ctx, s, r, term)
				requirement := s.about(r, TermRequired, path, "%s wants %s", r.Name, text).with(actual)
				requirement.Term = term
				out = append(out, termRequirement{requirement, termEdit{selectorRef: selectorRef{at, n}, term: t}})
			}
		}
	}
	return out
}

// termOfRequest describes the terms of a request: by the devices of its class, which all can be expected to have the
// fields that it reads.
var termOfRequest = termSource{without: []allocator.Code{allocator.ClassSelectorRejected}}

func (r termRequirement) describe() *Requirement { return &r.Requirement }
func (r termRequirement) relaxing() edit         { return r.edit }
func (r termRequirement) effort(*question) int   { return 2 }
func (r termRequirement) price(*question) int    { return costDrop }

// propose finds the nearest value with which the term helps, and proposes to drop it.
func (r termRequirement) propose(ctx context.Context, c *clusterSandbox, node inspect.NodeName) ([]change, error) {
	var out []change
	if wanted := c.q.comparison(r.Term); wanted != nil {
		for _, v := range c.q.nearestValues(wanted) {
			e := r.edit
			e.expression = wanted.with(v)
			at, err := c.firstFit(ctx, []edit{e})
			if err != nil {
				return nil, err
			}
			if at != "" {
				out = append(out, change{
					kind: RelaxSelector, edits: []edit{e}, node: at, cost: costValue, key: fmt.Sprint(e.at, r.Term, e.expression),
					message: r.accept(c.q, wanted, v) + wanted.remark(v),
				})
				break
			}
		}
	}
	return append(out, change{
		kind: RelaxSelector, edits: []edit{r.edit}, node: node, cost: costDrop + 2, key: fmt.Sprint(r.edit.at, r.Term),
		message: r.drop(c.q),
	}), nil
}

func (r termRequirement) drop(q *question) string {
	return "drop from the selector" + forRequest(q, &r.Requirement) + ": " + q.brief(r.Term)
}

// accept proposes another value. A relation that excludes the value itself is widened with it.
func (r termRequirement) accept(q *question, c *comparison, v fieldValue) string {
	value, text := v.text, c.Literal
	if wider := c.Relation.OrEqual(); wider != c.Relation {
		value, text = string(wider)+" "+value, string(c.Relation)+" "+text
	}
	return fmt.Sprintf("accept %s %s instead of %s%s", c.Field.Name, value, text, forRequest(q, &r.Requirement))
}

// combine puts the nearest value with which the edits together still help in the place of the term.
func (r termRequirement) combine(ctx context.Context, c *combination, i int) (part, error) {
	dropped := part{RelaxSelector, fmt.Sprint(r.edit.at, r.Term), r.drop(c.q)}
	wanted := c.q.comparison(r.Term)
	if wanted == nil {
		return dropped, nil
	}
	for _, v := range c.q.nearestValues(wanted) {
		e := r.edit
		e.expression = wanted.with(v)
		helps, err := c.helpsWith(ctx, i, e)
		if err != nil {
			return part{}, err
		}
		if helps {
			return part{RelaxSelector, fmt.Sprint(e.at, r.Term, e.expression), r.accept(c.q, wanted, v)}, nil
		}
	}
	return dropped, nil
}
