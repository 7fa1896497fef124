package explain

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// otherClasses proposes classes of the same driver for requests of which the class is in the way: a whole GPU
// where no partition is published, say.
func (s *search) otherClasses(ctx context.Context) error {
	if s.conflict == nil {
		return nil
	}
	var tried []requestRef
	for i := range s.conflict.Requirements {
		r := &s.conflict.Requirements[i]
		at, ok := s.q.requestNamed(r.Claim, r.Request)
		if !ok || slices.Contains(tried, at) || r.Kind != ClassTermRequired && r.Kind != RequestRequired {
			continue
		}
		tried = append(tried, at)
		name := *fieldsOf(s.q.claims, at).class
		class, _ := s.q.cluster.Snapshot().Class(name)
		for n, other := range s.q.classesLike(ctx, class) {
			edits := []edit{classEdit{at, other}}
			if !s.q.feasible(edits[0]) {
				break
			}
			node, err := s.firstFit(ctx, edits)
			if err != nil {
				return err
			}
			if node != "" {
				s.changes = append(s.changes, change{
					kind: UseClass, edits: edits, node: node, cost: costClassOf + n, key: fmt.Sprint(at, other),
					message: fmt.Sprintf("ask for the device class %s%s instead of %s%s", other, s.q.wantsInstead(ctx, class, other), name, forRequest(s.q, r)),
				})
			}
		}
	}
	return nil
}

// classesLike lists the other classes that are about the same driver by their selectors.
func (q *question) classesLike(ctx context.Context, class *resourcev1.DeviceClass) []string {
	driver := q.driverTerm(ctx, class)
	if driver == "" {
		return nil
	}
	var out []string
	for _, other := range q.cluster.Snapshot().Objects().Classes {
		if other.Name != class.Name && q.driverTerm(ctx, other) == driver && len(out) < maxClasses {
			out = append(out, other.Name)
		}
	}
	return out
}

// wantsInstead says in parentheses what another class wants of devices that the class does not, since it may stand
// for devices of quite another kind: "" when it wants nothing else.
func (q *question) wantsInstead(ctx context.Context, class *resourcev1.DeviceClass, name string) string {
	other, ok := q.cluster.Snapshot().Class(name)
	if !ok || class == nil {
		return ""
	}
	known := q.classTerms(ctx, class)
	var wants []string
	for _, term := range q.classTerms(ctx, other) {
		if !slices.Contains(known, term) {
			wants = append(wants, q.brief(term))
		}
	}
	if len(wants) == 0 {
		return ""
	}
	return " (" + shorten(wants, 3) + ")"
}

// classTerms are the terms of all selectors of a class.
func (q *question) classTerms(ctx context.Context, class *resourcev1.DeviceClass) []string {
	var out []string
	for i := range class.Spec.Selectors {
		if cel := class.Spec.Selectors[i].CEL; cel != nil {
			out = append(out, q.terms(ctx, cel.Expression)...)
		}
	}
	return out
}

// driverTerm is the term of a class that names its driver; "" without one.
func (q *question) driverTerm(ctx context.Context, class *resourcev1.DeviceClass) string {
	if class == nil {
		return ""
	}
	for i := range class.Spec.Selectors {
		if cel := class.Spec.Selectors[i].CEL; cel != nil {
			for _, term := range q.terms(ctx, cel.Expression) {
				if namesDriver(term) {
					return term
				}
			}
		}
	}
	return ""
}
