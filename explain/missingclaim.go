package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// missingClaim is an entry of a pod that names a claim or a template that does not exist.
type missingClaim struct {
	entry    int
	template bool
	name     string
}

func (m *missingClaim) String() string {
	if m.template {
		return fmt.Sprintf("resourceclaimtemplate %q", m.name)
	}
	return fmt.Sprintf("resourceclaim %q", m.name)
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
