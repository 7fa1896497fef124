package requirement

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var classTermKind = Kind{name: explain.ClassTermRequired, Importance: 2, list: listClassTerms}

// classTermRequirement is a term of a selector of the DeviceClass. It is given up by dropping the term.
type classTermRequirement struct {
	explain.Requirement
	class string
	edit  whatif.ClassTermEdit
}

func listClassTerms(ctx context.Context, s *site) []Relaxable {
	var out []Relaxable
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		for n := range r.Class.Spec.Selectors {
			cel := r.Class.Spec.Selectors[n].CEL
			if cel == nil {
				continue
			}
			path := fmt.Sprintf("deviceclass/%s spec.selectors[%d].cel.expression", r.Class.Name, n)
			for t, term := range s.Q.Terms(ctx, cel.Expression) {
				if whatif.NamesDriver(term) {
					continue // it says what is asked for
				}
				text, actual := termOfClass.describe(ctx, s, r, term)
				requirement := with(s.about(r, explain.ClassTermRequired, path, "class %s wants %s", r.Class.Name, text), actual)
				requirement.Term = term
				out = append(out, classTermRequirement{
					requirement, r.Class.Name, whatif.ClassTermEdit{SelectorRef: whatif.SelectorRef{At: whatif.RefOf(r), Index: n}, Term: t},
				})
			}
		}
	}
	return out
}

// termOfClass describes the terms of a class: by all devices that have a field which it reads, because others
// belong to other drivers.
var termOfClass = termSource{onlyHaving: true}

func (r classTermRequirement) Describe() *explain.Requirement { return &r.Requirement }
func (r classTermRequirement) Relaxing() whatif.Edit          { return r.edit }
func (r classTermRequirement) Effort(*whatif.Question) int    { return OutOfReach }
func (r classTermRequirement) Price(*whatif.Question) int     { return CostClassTerm }

func (r classTermRequirement) Propose(ctx context.Context, c *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	return []Change{{
		Kind: explain.RelaxSelector, Edits: []whatif.Edit{r.edit}, Node: node, Cost: CostClassTerm, Key: fmt.Sprint(r.class, r.Term),
		Message: r.drop(c.Q),
	}}, nil
}

// drop proposes to change the class, which others may use too.
func (r classTermRequirement) drop(q *whatif.Question) string {
	return fmt.Sprintf("drop from the device class %s, for all who use it: %s", r.class, q.Cluster.Selectors().Brief(r.Term))
}

func (r classTermRequirement) Combine(ctx context.Context, c *Combination, _ int) (Part, error) {
	return Part{explain.RelaxSelector, fmt.Sprint(r.class, r.Term), r.drop(c.Q)}, nil
}

// InseparableFrom reports whether the other is the same term of the same class, for another request: a class
// can only be changed for all.
func (r classTermRequirement) InseparableFrom(other Relaxable) bool {
	o, ok := other.(classTermRequirement)
	return ok && o.Path == r.Path && o.edit.Term == r.edit.Term
}
