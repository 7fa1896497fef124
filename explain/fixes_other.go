package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// Other objects in place of those that a claim or a pod names.

// otherClasses proposes classes of the same driver for requests of which the class is in the way: a whole GPU
// where no partition is published, say.
func (s *search) otherClasses(ctx context.Context) error {
	if s.conflict == nil {
		return nil
	}
	var tried []alternative
	for i := range s.conflict.Requirements {
		r := &s.conflict.Requirements[i]
		at, ok := s.q.alternativeNamed(r.Claim, r.Request)
		if !ok || slices.Contains(tried, at) || r.Kind != ClassTermRequired && r.Kind != RequestRequired {
			continue
		}
		tried = append(tried, at)
		name := *fieldsOf(s.q.claims, at).class
		class, _ := s.q.cluster.Snapshot().Class(name)
		for n, other := range s.q.classesLike(ctx, class) {
			edits := []edit{{kind: editClass, at: at, class: other}}
			if !s.q.changeable(&edits[0]) {
				break
			}
			node, err := s.firstFit(ctx, edits)
			if err != nil {
				return err
			}
			if node != "" {
				a := atom{Requirement: *r}
				s.changes = append(s.changes, change{
					kind: UseClass, edits: edits, node: node, cost: costClassOf + n,
					message: fmt.Sprintf("ask for the device class %s%s instead of %s%s", other, s.q.wantsInstead(ctx, class, other), name, s.forRequest(&a)),
				})
			}
		}
	}
	return nil
}

// alternativeNamed finds a request or subrequest of the question.
func (q *question) alternativeNamed(claim inspect.ClaimRef, name string) (alternative, bool) {
	main, sub, _ := strings.Cut(name, "/")
	for _, at := range q.alternatives() {
		c := q.claims[at.claim]
		r := &c.Spec.Devices.Requests[at.request]
		if c.Namespace != claim.Namespace || c.Name != claim.Name || r.Name != main {
			continue
		}
		if at.sub < 0 && sub == "" || at.sub >= 0 && r.FirstAvailable[at.sub].Name == sub {
			return at, true
		}
	}
	return alternative{}, false
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
			wants = append(wants, q.brief(ctx, term))
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
				if strings.HasPrefix(term, "device.driver == ") {
					return term
				}
			}
		}
	}
	return ""
}

// missingClaim is an entry of a pod that names a claim or a template that does not exist.
type missingClaim struct {
	entry    int
	template bool
	name     string
}

// unread reports whether the object may exist without having been seen.
func (m *missingClaim) unread(s *inspect.Snapshot, namespace string) bool {
	resource := inspect.Claims
	if m.template {
		resource = inspect.Templates
	}
	switch h := s.Health(resource); h.State {
	case inspect.Forbidden, inspect.Broken:
		return true
	case inspect.Narrowed:
		return !slices.Contains(h.Namespaces, namespace)
	}
	return false
}

// instead proposes claims or templates with similar names for one that does not exist. Each is tried by
// explaining the pod with it.
func (m *missingClaim) instead(pod *corev1.Pod, s *inspect.Snapshot, ask func(*corev1.Pod) (*Explanation, error)) ([]Fix, error) {
	var names []string
	for _, c := range s.Objects().Claims {
		if !m.template && c.Namespace == pod.Namespace {
			names = append(names, c.Name)
		}
	}
	for _, t := range s.Objects().Templates {
		if m.template && t.Namespace == pod.Namespace {
			names = append(names, t.Name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return likeName(n, m.name) > alikeClaim })
	slices.SortStableFunc(names, func(a, b string) int { return spell.Distance(a, m.name) - spell.Distance(b, m.name) })
	kind, field := "resourceclaim", "resourceClaimName"
	if m.template {
		kind, field = "resourceclaimtemplate", "resourceClaimTemplateName"
	}
	var out []Fix
	for _, name := range names[:min(len(names), maxNames)] {
		changed := pod.DeepCopy()
		entry := &changed.Spec.ResourceClaims[m.entry]
		if m.template {
			entry.ResourceClaimTemplateName = &name
		} else {
			entry.ResourceClaimName = &name
		}
		e, err := ask(changed)
		if err != nil {
			return nil, err
		}
		if e.Verdict != Allocatable && e.Verdict != Allocated || e.Nodes.Allocatable == 0 || e.Allocation == nil {
			continue
		}
		out = append(out, Fix{
			Kind: UseClaim, Node: e.Allocation.Node, Nodes: e.Nodes.Allocatable,
			Patch:   []PatchOperation{{Op: "replace", Path: fmt.Sprintf("/spec/resourceClaims/%d/%s", m.entry, field), Value: name}},
			Message: oneLine(fmt.Sprintf("name the %s %s instead of %s", kind, name, m.name)),
		})
	}
	return out, nil
}

const (
	// alikeClaim is how different the names of claims may be for one to be meant for the other.
	alikeClaim = 0.35
	// maxNames is the number of other names that are tried.
	maxNames = 3
)
