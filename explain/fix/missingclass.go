package fix

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/spelling"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxClasses is the number of other classes that are tried.
const maxClasses = 8

// refusedFixes returns what helps against a refusal before any node is asked, most often since a device class
// does not exist.
func refusedFixes(ctx context.Context, q *whatif.Question, reason *explain.Reason) []explain.Fix {
	s := newSearch(ctx, q, requirement.NewLists(q), nil, nil)
	switch reason.Code {
	case allocator.ClassNotFound:
		s.replaceClass()
	case allocator.AdminAccessRefused:
		s.changes = []requirement.Change{s.granting(reason.Claim.Namespace)}
	case allocator.FeatureDisabled:
		s.changes = []requirement.Change{requirement.Enabling(whatif.GatesEdit{Gates: []inspect.Gate{inspect.GatePrioritizedList}})}
	}
	return s.verify(ctx)
}

// missingClass is a class that does not exist, and the request that names it.
type missingClass struct {
	at   whatif.RequestRef
	name string
}

// replaceClass proposes classes with similar names instead of the first that is missing, and to create all
// that are.
func (s *search) replaceClass() {
	missing := missingClasses(s.Q)
	if len(missing) == 0 {
		return
	}
	name := missing[0].name
	for i, other := range similarClasses(s.Q, name) {
		var edits []whatif.Edit
		for _, m := range missing {
			if m.name == name {
				edits = append(edits, whatif.ClassEdit{At: m.at, Class: other})
			}
		}
		s.changes = append(s.changes, requirement.Change{
			Kind: explain.UseClass, Edits: edits, Cost: requirement.CostClass + i, Key: other,
			Message: fmt.Sprintf("ask for the device class %s instead of %s", other, name),
		})
	}
	if len(validation.IsDNS1123Subdomain(name)) == 0 { // the API server takes no other names
		s.changes = append(s.changes, s.creating(missing))
	}
}

// missingClasses returns the classes that requests name and that do not exist, in the order of the requests.
func missingClasses(q *whatif.Question) []missingClass {
	var out []missingClass
	for _, at := range q.RequestRefs() {
		name := *whatif.FieldsOf(q.Claims, at).Class
		if _, ok := q.Cluster.Snapshot().Class(name); !ok && name != "" {
			out = append(out, missingClass{at, name})
		}
	}
	return out
}

// similarClasses returns the names of at most maxClasses classes that are similar to a name, the most similar
// first.
func similarClasses(q *whatif.Question, name string) []string {
	classes := q.Cluster.Snapshot().Objects().Classes
	limit := spelling.Most
	for _, class := range classes {
		limit = min(limit, spelling.Difference(class.Name, name)+spelling.Margin)
	}
	names := slices.DeleteFunc(spelling.ClassesLike(q.Cluster.Snapshot(), name), func(n string) bool { return spelling.Difference(n, name) > limit })
	return names[:min(len(names), maxClasses)]
}

// creating is the change that creates missing classes. Its message names the first.
func (s *search) creating(missing []missingClass) requirement.Change {
	e := whatif.CreateClassesEdit{Names: words.Each(missing, func(m missingClass) string { return m.name })}
	return requirement.Change{
		Kind: explain.CreateClass, Edits: []whatif.Edit{e}, Cost: requirement.CostCreate, Key: e.Key(),
		Message: fmt.Sprintf("create the device class %s; what it has to select is not known: tried with one that selects every device", missing[0].name),
		Fitting: func(ctx context.Context) whatif.NodeSet { // no node was asked before, so all are
			return s.Q.Real(ctx, []whatif.Edit{e}).Fitting(ctx, s.Q.Usable())
		},
	}
}

// granting is the change that lets claims of a namespace have admin access.
func (s *search) granting(namespace string) requirement.Change {
	e := whatif.GrantEdit{Namespace: namespace}
	return requirement.Change{
		Kind: explain.LabelNamespace, Edits: []whatif.Edit{e}, Cost: requirement.CostRules, Key: e.Key(),
		Message: fmt.Sprintf("label namespace %s for admin access, if everybody who may create claims there may have it", namespace),
		Fitting: func(ctx context.Context) whatif.NodeSet { // no node was asked before, so all are
			return s.Q.Real(ctx, []whatif.Edit{e}).Fitting(ctx, s.Q.Usable())
		},
	}
}
