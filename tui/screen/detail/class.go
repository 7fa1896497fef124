package detail

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

func addClass(ctx context.Context, s *sheet, w *screen.World, c *resourcev1.DeviceClass) {
	s.title(w, c, "device class")
	s.section("Selects")
	for _, expression := range screen.Expressions(c.Spec.Selectors) {
		s.field("devices", "where "+words.OneLine(expression))
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
	batches := words.Each(screen.Expressions(c.Spec.Selectors), func(cel string) *selector.Batch {
		return w.Cluster().Selectors().Selector(cel).Batch()
	})
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
	templates := slices.DeleteFunc(slices.Clone(w.Snapshot.Objects().Templates), func(t *resourcev1.ResourceClaimTemplate) bool {
		return !slices.Contains(screen.ClassesOf(&t.Spec.Spec), class)
	})
	addList(s, "Templates that ask for it", "templates", templates, func(t *resourcev1.ResourceClaimTemplate) {
		ref := screen.Ref{Kind: screen.Template, Namespace: t.Namespace, Name: t.Name}
		s.spans("", screen.LinkTo(ref, ref.String()), dim("  "+screen.Asks(&t.Spec.Spec)))
	})
	addClaims(s, "Claims that ask for it", append(waiting, having...))
}

// addClaims adds claims under a title.
func addClaims(s *sheet, title string, claims []*resourcev1.ResourceClaim) {
	names := widest(claims, func(claim *resourcev1.ResourceClaim) styled.Span { return claimLink(inspect.RefOf(claim)) })
	states := widest(claims, claimState)
	addList(s, title, "claims", claims, func(claim *resourcev1.ResourceClaim) {
		name, state := claimLink(inspect.RefOf(claim)), claimState(claim)
		spans := []styled.Span{name, names.fill(name), state, states.fill(state), dim("  " + screen.Asks(&claim.Spec))}
		if node := inspect.AllocationNode(claim.Status.Allocation); node != "" {
			spans = append(spans, dim("  on "), nodeLink(string(node)))
		}
		s.spans("", spans...)
	})
}

// addTemplate adds a template, and the pods and claims that came of it.
func addTemplate(s *sheet, w *screen.World, t *resourcev1.ResourceClaimTemplate) {
	s.title(w, t, "template")
	s.belongs(t)
	addSpec(s, w, &t.Spec.Spec)
	type user struct {
		pod   *corev1.Pod
		entry *corev1.PodResourceClaim
	}
	var users []user
	for _, p := range w.Snapshot.Objects().Pods {
		for i := range p.Spec.ResourceClaims {
			entry := &p.Spec.ResourceClaims[i]
			if p.Namespace == t.Namespace && entry.ResourceClaimTemplateName != nil && *entry.ResourceClaimTemplateName == t.Name {
				users = append(users, user{p, entry})
			}
		}
	}
	addList(s, "Used by", "pods", users, func(u user) {
		spans := []styled.Span{podLink(inspect.PodRef{Namespace: t.Namespace, Name: u.pod.Name}), phase(u.pod)}
		if name, ok := inspect.ClaimNameFor(u.pod, u.entry); ok && name != "" {
			spans = append(spans, dim("  as "), claimLink(inspect.ClaimRef{Namespace: t.Namespace, Name: name}))
		}
		s.spans("pod", spans...)
	})
}
