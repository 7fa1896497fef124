package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxClasses is the number of other classes that are tried.
const maxClasses = 8

// refusedFixes returns what helps against a refusal before any node is asked, most often since a device class does
// not exist.
func refusedFixes(ctx context.Context, q *whatif.Question, reason *explain.Reason) ([]explain.Fix, error) {
	s, err := newSearch(ctx, q, requirement.NewLists(q), nil, nil)
	if err != nil {
		return nil, err
	}
	switch reason.Code {
	case allocator.ClassNotFound:
		s.replaceClass()
	case allocator.FeatureDisabled:
		s.changes = []requirement.Change{requirement.Enabling(whatif.GatesEdit{Gates: []inspect.Gate{inspect.GatePrioritizedList}})}
	}
	return s.verify(ctx)
}

// replaceClass proposes classes with similar names instead of the first that is missing, and to create that one.
func (s *search) replaceClass() {
	snapshot := s.Q.Cluster.Snapshot()
	type missing struct {
		at   whatif.RequestRef
		name string
	}
	var all []missing
	for _, at := range s.Q.RequestRefs() {
		name := *whatif.FieldsOf(s.Q.Claims, at).Class
		if _, ok := snapshot.Class(name); !ok && name != "" {
			all = append(all, missing{at, name})
		}
	}
	if len(all) == 0 {
		return
	}
	name, limit := all[0].name, maxDifference
	for _, class := range snapshot.Objects().Classes {
		limit = min(limit, nameDifference(class.Name, name)+differenceMargin)
	}
	var names []string
	for _, class := range snapshot.Objects().Classes {
		if nameDifference(class.Name, name) <= limit {
			names = append(names, class.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(nameDifference(a, name), nameDifference(b, name)) })
	for i, other := range names[:min(len(names), maxClasses)] {
		var edits []whatif.Edit
		for _, m := range all {
			if m.name == name {
				edits = append(edits, whatif.ClassEdit{At: m.at, Class: other})
			}
		}
		s.changes = append(s.changes, requirement.Change{
			Kind: explain.UseClass, Edits: edits, Cost: requirement.CostClass + i, Key: other,
			Message: fmt.Sprintf("ask for the device class %s instead of %s", other, name),
		})
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return // nobody can create it
	}
	creating := whatif.CreateClassesEdit{}
	for _, m := range all {
		creating.Names = append(creating.Names, m.name)
	}
	s.changes = append(s.changes, requirement.Change{
		Kind: explain.CreateClass, Edits: []whatif.Edit{creating}, Cost: requirement.CostCreate, Key: creating.Key(),
		Message: fmt.Sprintf("create the device class %s; what it has to select is not known: tried with one that selects every device", name),
		Fitting: func(ctx context.Context) (whatif.NodeSet, error) { // no node could be looked at before, so all are asked
			return s.Q.Real(ctx, []whatif.Edit{creating}).Sweep(ctx, s.Nodes)
		},
	})
}
