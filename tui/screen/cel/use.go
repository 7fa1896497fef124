package cel

import (
	"context"
	"fmt"
	"slices"
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
	for _, ref := range refs(s.Objects()) {
		spec := specOf(s, ref)
		if spec == nil || !inNamespace(ref.Namespace) && ref != from.ref {
			continue
		}
		to := &templates
		if claim, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}); ok && ref.Kind == screen.Claim {
			if to = &pending; claim.Status.Allocation != nil {
				to = &allocated
			}
		}
		for _, asked := range inspect.AskedBy(spec) {
			e := entry{source: source{ref: ref, request: asked.Name, class: asked.Class, selector: -1}, expression: join(*asked.Selectors)}
			if ref == from.ref && asked.Name == from.request {
				e.source.selector = from.selector
				first = append(first, e)
			} else {
				*to = append(*to, e)
			}
		}
	}
	return slices.Concat(first, pending, templates, allocated)
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
	if u.own, err = question.ClaimObject(ctx, cluster, claim, question.Options{ReasonOnly: true}); err != nil {
		return u, err
	}
	if err := at.put(&claim.Spec, expression); err != nil {
		return u, err
	}
	u.with, err = question.ClaimObject(ctx, cluster, claim, question.Options{ReasonOnly: true})
	return u, err
}

// withoutAllocation returns a copy of a claim, or a claim as a template makes it, that has no allocation, and
// a cluster in which it holds no devices.
func withoutAllocation(w *screen.World, ref screen.Ref) (*scheduler.Cluster, *resourcev1.ResourceClaim) {
	if ref.Kind == screen.Template {
		spec := specOf(w.Snapshot, ref)
		if spec == nil {
			return nil, nil
		}
		claim := &resourcev1.ResourceClaim{Spec: *spec.DeepCopy()}
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
	one := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
	for _, asked := range inspect.AskedBy(spec) {
		switch {
		case asked.Name != s.request:
			continue
		case s.selector >= 0 && s.selector < len(*asked.Selectors):
			(*asked.Selectors)[s.selector] = one
		default:
			*asked.Selectors = []resourcev1.DeviceSelector{one}
		}
		return nil
	}
	return fmt.Errorf("%s does not exist any more", s.String())
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
