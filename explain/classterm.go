package explain

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var classTermKind = kind{name: ClassTermRequired, importance: 2, list: listClassTerms}

// classTermRequirement is a term of a selector of the DeviceClass. It is given up by dropping the term.
type classTermRequirement struct {
	Requirement
	class string
	edit  classTermEdit
}

func listClassTerms(ctx context.Context, s *site) []requirement {
	var out []requirement
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		for n := range r.Class.Spec.Selectors {
			cel := r.Class.Spec.Selectors[n].CEL
			if cel == nil {
				continue
			}
			path := fmt.Sprintf("deviceclass/%s spec.selectors[%d].cel.expression", r.Class.Name, n)
			for t, term := range s.q.terms(ctx, cel.Expression) {
				if namesDriver(term) {
					continue // it says what is asked for
				}
				text, actual := termOfClass.describe(ctx, s, r, term)
				requirement := s.about(r, ClassTermRequired, path, "class %s wants %s", r.Class.Name, text).with(actual)
				requirement.Term = term
				out = append(out, classTermRequirement{
					requirement, r.Class.Name, classTermEdit{selectorRef: selectorRef{refOf(r), n}, term: t},
				})
			}
		}
	}
	return out
}

// namesDriver reports whether a term asks for the devices of a driver.
func namesDriver(term string) bool { return strings.HasPrefix(term, "device.driver == ") }

// termOfClass describes the terms of a class: by all devices that have a field which it reads, because others belong
// to other drivers.
var termOfClass = termSource{onlyHaving: true}

func (r classTermRequirement) describe() *Requirement { return &r.Requirement }
func (r classTermRequirement) relaxing() edit         { return r.edit }
func (r classTermRequirement) effort(*question) int   { return outOfReach }
func (r classTermRequirement) price(*question) int    { return costClassTerm }

func (r classTermRequirement) propose(ctx context.Context, c *clusterSandbox, node inspect.NodeName) ([]change, error) {
	return []change{{
		kind: RelaxSelector, edits: []edit{r.edit}, node: node, cost: costClassTerm, key: fmt.Sprint(r.class, r.Term),
		message: r.drop(c.q),
	}}, nil
}

// drop proposes to change the class, which others may use too.
func (r classTermRequirement) drop(q *question) string {
	return fmt.Sprintf("drop from the device class %s, for all who use it: %s", r.class, q.brief(r.Term))
}

func (r classTermRequirement) combine(ctx context.Context, c *combination, _ int) (part, error) {
	return part{RelaxSelector, fmt.Sprint(r.class, r.Term), r.drop(c.q)}, nil
}

// inseparable reports whether the other is the same term of the same class, for another request: a class can only be
// changed for all.
func (r classTermRequirement) inseparable(other requirement) bool {
	o, ok := other.(classTermRequirement)
	return ok && o.Path == r.Path && o.edit.term == r.edit.term
}
