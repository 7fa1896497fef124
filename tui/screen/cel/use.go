package cel

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// usage is what becomes of a claim with a selector instead of its own.
type usage struct {
	source source
	// own is the answer for the claim as it is, with that for the claim with the selector.
	own, with *explain.Explanation
	err       error
}

// impact is what was asked about a claim.
type impact struct {
	screen.Job[usage]
	usage *usage // nil until it is known
}

// take takes in the answer.
func (i *impact) take(msg tea.Msg) {
	if r, ok := i.Take(msg); ok {
		r.Value.err = r.Err
		i.usage = &r.Value
	}
}

// lines says what is known, or that the allocator is asked.
func (i *impact) lines(width int) []styled.Line {
	var out []styled.Line
	if i.Running() {
		out = append(out, styled.Text(styled.Dim, "asking the allocator …"))
	}
	if i.usage != nil {
		out = append(out, i.usage.lines(width)...)
	}
	return out
}

// openUse offers the requests in which the selector could be used: the one it was loaded from first.
func (s *Screen) openUse(w *screen.World) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	text := s.ed.Text()
	return choose("use in: ", requestsOf(w.Snapshot, s.source, w.InNamespace), func(w *screen.World, e *entry) tea.Cmd {
		s.impact.usage = nil
		at := e.source
		return s.impact.Start(w, func(ctx context.Context) (usage, error) { return used(ctx, w, at, text) })
	})
}

// requestsOf are the requests of claims, those that wait first, and of templates.
func requestsOf(s *inspect.Snapshot, from source, inNamespace func(string) bool) []entry {
	var first, pending, templates, allocated []entry
	add := func(to *[]entry, ref screen.Ref, spec *resourcev1.ResourceClaimSpec) {
		forRequests(ref, spec, func(at source, selectors []resourcev1.DeviceSelector) {
			e := entry{source: at, expression: join(selectors)}
			if at.ref == from.ref && at.request == from.request && at.alternative == from.alternative {
				e.source.selector = from.selector
				first = append(first, e)
				return
			}
			*to = append(*to, e)
		})
	}
	for _, c := range s.Objects().Claims {
		to := &allocated
		if c.Status.Allocation == nil {
			to = &pending
		}
		if ref := (screen.Ref{Kind: screen.Claim, Namespace: c.Namespace, Name: c.Name}); inNamespace(c.Namespace) || ref == from.ref {
			add(to, ref, &c.Spec)
		}
	}
	for _, t := range s.Objects().Templates {
		if ref := (screen.Ref{Kind: screen.Template, Namespace: t.Namespace, Name: t.Name}); inNamespace(t.Namespace) || ref == from.ref {
			add(&templates, ref, &t.Spec.Spec)
		}
	}
	return append(append(append(first, pending...), templates...), allocated...)
}

func join(selectors []resourcev1.DeviceSelector) string {
	var parts []string
	for i := range selectors {
		if selectors[i].CEL != nil {
			parts = append(parts, selectors[i].CEL.Expression)
		}
	}
	return strings.Join(parts, " && ")
}

// used asks the allocator what becomes of a claim with a selector.
func used(ctx context.Context, w *screen.World, at source, expression string) (usage, error) {
	u := usage{source: at}
	cluster, claim := withoutAllocation(w, at.ref)
	if claim == nil {
		return u, fmt.Errorf("%s does not exist any more", at.String())
	}
	var err error
	if u.own, err = question.ClaimObject(ctx, cluster, claim, question.Options{}); err != nil {
		return u, err
	}
	if err := at.put(&claim.Spec, expression); err != nil {
		return u, err
	}
	u.with, err = question.ClaimObject(ctx, cluster, claim, question.Options{})
	return u, err
}

// withoutAllocation returns a copy of a claim, or a claim as a template makes it, that has no allocation, and
// a cluster in which it holds no devices.
func withoutAllocation(w *screen.World, ref screen.Ref) (*scheduler.Cluster, *resourcev1.ResourceClaim) {
	if ref.Kind == screen.Template {
		template, ok := w.Snapshot.Template(ref.Namespace, ref.Name)
		if !ok {
			return nil, nil
		}
		claim := &resourcev1.ResourceClaim{Spec: *template.Spec.Spec.DeepCopy()}
		claim.Namespace, claim.Name = ref.Namespace, ref.Name
		return w.Cluster(), claim
	}
	claim, ok := w.Snapshot.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
	if !ok {
		return nil, nil
	}
	bare := claim.DeepCopy()
	if claim.Status.Allocation == nil {
		return w.Cluster(), bare
	}
	bare.Status = resourcev1.ResourceClaimStatus{}
	changed := w.Snapshot.With(func(o *inspect.Objects) {
		for i := range o.Claims {
			if o.Claims[i] == claim {
				o.Claims[i] = bare.DeepCopy()
			}
		}
	})
	return scheduler.NewCluster(changed, scheduler.Options{}), bare
}

// put replaces the selector in a request, or all selectors of the request.
func (s *source) put(spec *resourcev1.ResourceClaimSpec, expression string) error {
	if s.request >= len(spec.Devices.Requests) {
		return fmt.Errorf("%s does not exist any more", s.String())
	}
	r := &spec.Devices.Requests[s.request]
	var selectors *[]resourcev1.DeviceSelector
	switch {
	case s.alternative >= 0 && s.alternative < len(r.FirstAvailable):
		selectors = &r.FirstAvailable[s.alternative].Selectors
	case s.alternative < 0 && r.Exactly != nil:
		selectors = &r.Exactly.Selectors
	default:
		return fmt.Errorf("%s does not exist any more", s.String())
	}
	one := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
	if s.selector >= 0 && s.selector < len(*selectors) {
		(*selectors)[s.selector] = one
		return nil
	}
	*selectors = []resourcev1.DeviceSelector{one}
	return nil
}

// lines says what becomes of the claim.
func (u *usage) lines(width int) []styled.Line {
	if u.err != nil {
		return fold(styled.Text(styled.Bad, inspect.Sanitize(u.err.Error())), width)
	}
	role := styled.Good
	if u.with.Nodes.Allocatable == 0 {
		role = styled.Bad
	}
	head := styled.Line{
		{Text: inspect.Sanitize(u.source.String()), Role: styled.Name}, {Text: " with this selector: "},
		{Text: fmt.Sprintf("%d of %d nodes", u.with.Nodes.Allocatable, u.with.Nodes.Total), Role: role},
		{Text: fmt.Sprintf(" could satisfy it (as it is: %d)", u.own.Nodes.Allocatable)},
	}
	return append(fold(head, width), fold(styled.Text(styled.Dim, inspect.Sanitize(u.with.Message)), width)...)
}
