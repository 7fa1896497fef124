package requirement

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

var classTermKind = Kind{name: explain.ClassTermRequired, Importance: 2, list: listClassTerms}

// classTermRequirement is a term of a selector of the DeviceClass. It is given up by dropping the term.
type classTermRequirement struct {
	droppable
	term int
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
				edit := whatif.ClassTermEdit{SelectorRef: whatif.SelectorRef{At: whatif.RefOf(r), Index: n}, Term: t}
				// Others may use the class, too.
				drop := fmt.Sprintf("drop from the device class %s, for all who use it: %s",
					r.Class.Name, s.Q.Cluster.Selectors().Brief(term))
				dropped := dropping(requirement, edit, OutOfReach, CostClassTerm, explain.RelaxSelector, drop)
				dropped.part.Key = fmt.Sprint(r.Class.Name, term) // whichever request it is about
				out = append(out, classTermRequirement{dropped, t})
			}
		}
	}
	return out
}

// termOfClass describes the terms of a class: by all devices that have a field which it reads, because others
// belong to other drivers.
var termOfClass = termSource{onlyHaving: true}

// InseparableFrom reports whether the other is the same term of the same class, for another request: a class
// can only be changed for all.
func (r classTermRequirement) InseparableFrom(other Relaxable) bool {
	o, ok := other.(classTermRequirement)
	return ok && o.Path == r.Path && o.term == r.term
}
