package requirement

import (
	"cmp"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// briefTerm leaves out of a term the domains of the fields, where their names tell them apart. It is for reading;
// what is written into a selector is the whole term.
func briefTerm(q *whatif.Question, term string) string {
	uses := q.Cluster.Selectors().FieldUses(term)
	known := map[string]selector.Field{}
	out, at := "", 0
	for _, use := range uses {
		if other, ok := known[use.Field.Name]; ok && other != use.Field {
			return term
		}
		known[use.Field.Name] = use.Field
		out += term[at:use.Start] + use.Field.Name
		at = use.End
	}
	return out + term[at:]
}

// Brief says a term in short: as its comparison if it is a plain one.
func Brief(q *whatif.Question, term string) string {
	return cmp.Or(ComparisonOf(q, term).words(), briefTerm(q, term))
}
