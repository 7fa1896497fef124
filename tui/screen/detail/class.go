package detail

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

func addClass(ctx context.Context, s *sheet, w *screen.World, c *resourcev1.DeviceClass) {
	s.title(w, c, "device class")
	s.section("Selects")
	for _, sel := range c.Spec.Selectors {
		if sel.CEL != nil {
			s.field("devices", "where "+strings.Join(strings.Fields(sel.CEL.Expression), " "))
		}
	}
	if len(c.Spec.Selectors) == 0 {
		s.field("devices", "all of them")
	}
	if c.Spec.ExtendedResourceName != nil {
		s.field("extended resource", *c.Spec.ExtendedResourceName)
	}
	addMatching(ctx, s, w, c)
	addUsers(s, w, c.Name)
}

// addMatching counts the devices that a class selects.
func addMatching(ctx context.Context, s *sheet, w *screen.World, c *resourcev1.DeviceClass) {
	var matching, free int
	selects := selection(w, c)
	for i := range w.Devices() {
		d := &w.Devices()[i]
		ok, err := selects(ctx, d)
		if err != nil {
			s.spans("matching", styled.Span{Text: "could not be counted: " + err.Error(), Role: styled.Warn})
			return
		}
		if !ok {
			continue
		}
		if matching++; d.State == inspect.DeviceFree {
			free++
		}
	}
	s.field("matching", fmt.Sprintf("%d devices, %d of them free", matching, free))
}

// selection tells of one device after the other whether a class selects it.
func selection(w *screen.World, c *resourcev1.DeviceClass) func(context.Context, *inspect.DeviceStatus) (bool, error) {
	var batches []*selector.Batch
	for i := range c.Spec.Selectors {
		if cel := c.Spec.Selectors[i].CEL; cel != nil {
			batches = append(batches, w.Cluster().Selectors().Selector(cel.Expression).Batch())
		}
	}
	return func(ctx context.Context, d *inspect.DeviceStatus) (bool, error) {
		for _, b := range batches {
			if ok, err := b.Match(ctx, d.ID.Driver, d.Device); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	}
}

// addUsers adds the templates and claims that name a class, those that wait first.
func addUsers(s *sheet, w *screen.World, class string) {
	var waiting, having []*resourcev1.ResourceClaim
	for _, claim := range w.Snapshot.Objects().Claims {
		switch {
		case !slices.Contains(screen.ClassesOf(&claim.Spec), class):
		case claim.Status.Allocation == nil:
			waiting = append(waiting, claim)
		default:
			having = append(having, claim)
		}
	}
	n := 0
	for _, t := range w.Snapshot.Objects().Templates {
		if !slices.Contains(screen.ClassesOf(&t.Spec.Spec), class) {
			continue
		}
		if n++; n == 1 {
			s.section("Templates that ask for it")
		}
		if n <= mostListed {
			ref := screen.Ref{Kind: screen.Template, Namespace: t.Namespace, Name: t.Name}
			s.spans("", screen.LinkTo(ref, ref.String()), dim("  "+screen.Asks(&t.Spec.Spec)))
		}
	}
	s.rest(n, "templates")
	addClaims(s, "Claims that ask for it", append(waiting, having...))
}

// addClaims adds claims under a title.
func addClaims(s *sheet, title string, claims []*resourcev1.ResourceClaim) {
	if len(claims) == 0 {
		return
	}
	s.section("%s", title)
	listed := claims[:min(len(claims), mostListed)]
	var names, states column
	for _, claim := range listed {
		names.measure(claimLink(inspect.RefOf(claim)))
		states.measure(claimState(claim))
	}
	for _, claim := range listed {
		name, state := claimLink(inspect.RefOf(claim)), claimState(claim)
		spans := []styled.Span{name, names.fill(name), state, states.fill(state), dim("  " + screen.Asks(&claim.Spec))}
		if claim.Status.Allocation != nil {
			if node := inspect.AllocationNode(claim.Status.Allocation); node != "" {
				spans = append(spans, dim("  on "), nodeLink(string(node)))
			}
		}
		s.spans("", spans...)
	}
	s.rest(len(claims), "claims")
}

// addTemplate adds a template, and the pods and claims that came of it.
func addTemplate(s *sheet, w *screen.World, t *resourcev1.ResourceClaimTemplate) {
	s.title(w, t, "template")
	s.belongs(t)
	addSpec(s, w, &t.Spec.Spec)
	n := 0
	for _, p := range w.Snapshot.Objects().Pods {
		if p.Namespace != t.Namespace {
			continue
		}
		for i := range p.Spec.ResourceClaims {
			entry := &p.Spec.ResourceClaims[i]
			if entry.ResourceClaimTemplateName == nil || *entry.ResourceClaimTemplateName != t.Name {
				continue
			}
			if n++; n == 1 {
				s.section("Used by")
			}
			if n > mostListed {
				continue
			}
			spans := []styled.Span{podLink(inspect.PodRef{Namespace: p.Namespace, Name: p.Name}), phase(p)}
			if name, ok := inspect.ClaimNameFor(p, entry); ok && name != "" {
				spans = append(spans, dim("  as "), claimLink(inspect.ClaimRef{Namespace: p.Namespace, Name: name}))
			}
			s.spans("pod", spans...)
		}
	}
	s.rest(n, "pods")
}
