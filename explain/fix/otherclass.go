package fix

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// otherClasses proposes other classes of the same driver for requests whose class is in the way, such as that
// of whole GPUs if no partition is published.
func (s *search) otherClasses(ctx context.Context) {
	if s.conflict == nil {
		return
	}
	var tried []whatif.RequestRef
	for i := range s.conflict.Requirements {
		r := &s.conflict.Requirements[i]
		at, ok := s.Q.RequestNamed(r.Claim, r.Request)
		if !ok || slices.Contains(tried, at) || r.Kind != explain.ClassTermRequired && r.Kind != explain.RequestRequired {
			continue
		}
		tried = append(tried, at)
		name := *whatif.FieldsOf(s.Q.Claims, at).Class
		class, _ := s.Q.Cluster.Snapshot().Class(name)
		for n, other := range classesLike(ctx, s.Q, class) {
			edits := []whatif.Edit{whatif.ClassEdit{At: at, Class: other}}
			if !s.Q.Feasible(edits[0]) {
				break
			}
			if node := s.Q.FirstFit(ctx, edits); node != "" {
				s.changes = append(s.changes, requirement.Change{
					Kind: explain.UseClass, Edits: edits, Node: node, Cost: requirement.CostClassOf + n, Key: fmt.Sprint(at, other),
					Message: fmt.Sprintf("ask for the device class %s%s instead of %s%s", other, wantsInstead(ctx, s.Q, class, other), name, requirement.ForRequest(s.Q, r)),
				})
			}
		}
	}
}

// classesLike returns the names of other classes whose selectors name the same driver.
func classesLike(ctx context.Context, q *whatif.Question, class *resourcev1.DeviceClass) []string {
	driver := driverTerm(ctx, q, class)
	if driver == "" {
		return nil
	}
	var out []string
	for _, other := range q.Cluster.Snapshot().Objects().Classes {
		if other.Name != class.Name && driverTerm(ctx, q, other) == driver && len(out) < maxClasses {
			out = append(out, other.Name)
		}
	}
	return out
}

// wantsInstead says in parentheses what another class wants of devices that the class does not, since it may
// be for devices of quite another kind. It is "" if it wants nothing else.
func wantsInstead(ctx context.Context, q *whatif.Question, class *resourcev1.DeviceClass, name string) string {
	other, ok := q.Cluster.Snapshot().Class(name)
	if !ok || class == nil {
		return ""
	}
	known := q.ClassTerms(ctx, class)
	var wants []string
	for _, term := range q.ClassTerms(ctx, other) {
		if !slices.Contains(known, term) {
			wants = append(wants, q.Cluster.Selectors().Brief(term))
		}
	}
	if len(wants) == 0 {
		return ""
	}
	return " (" + words.Shorten(wants, 3) + ")"
}

// driverTerm is the term of a class that names its driver. It is "" if there is none.
func driverTerm(ctx context.Context, q *whatif.Question, class *resourcev1.DeviceClass) string {
	terms := q.ClassTerms(ctx, class)
	if at := slices.IndexFunc(terms, whatif.NamesDriver); at >= 0 {
		return terms[at]
	}
	return ""
}
