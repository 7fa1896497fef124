package spelling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

const (
	// maxClaimDifference is how different the name of a claim may be for it to be meant by another.
	maxClaimDifference = 0.35
	// maxNames is the number of other names that are tried.
	maxNames = 3
)

// MissingClaim is an entry of a pod that names a claim or a template that does not exist.
type MissingClaim struct {
	// Entry is the index in spec.resourceClaims.
	Entry int
	// Template says that a template is missing, and not a claim.
	Template bool
	// Name is that of the missing object.
	Name string
}

// String is the kind and the name of the missing object.
func (m *MissingClaim) String() string {
	if m.Template {
		return fmt.Sprintf("resourceclaimtemplate %q", m.Name)
	}
	return fmt.Sprintf("resourceclaim %q", m.Name)
}

// MayExist reports whether the object may exist in the namespace although it is not in the snapshot, because
// such objects could not be read.
func (m *MissingClaim) MayExist(s *inspect.Snapshot, namespace string) bool {
	resource := inspect.Claims
	if m.Template {
		resource = inspect.Templates
	}
	return s.Health(resource).PartialIn(namespace)
}

// Fixes proposes claims or templates of the pod's namespace with similar names, the most similar first. Each
// is tried: ask explains the pod with its entry changed. An error is one of ask.
func (m *MissingClaim) Fixes(pod *corev1.Pod, s *inspect.Snapshot, ask func(*corev1.Pod) (*explain.Explanation, error)) ([]explain.Fix, error) {
	var names []string
	for _, c := range s.Objects().Claims {
		if !m.Template && c.Namespace == pod.Namespace {
			names = append(names, c.Name)
		}
	}
	for _, t := range s.Objects().Templates {
		if m.Template && t.Namespace == pod.Namespace {
			names = append(names, t.Name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return Difference(n, m.Name) > maxClaimDifference })
	slices.SortStableFunc(names, func(a, b string) int { return spell.Distance(a, m.Name) - spell.Distance(b, m.Name) })
	kind, field := "resourceclaim", "resourceClaimName"
	if m.Template {
		kind, field = "resourceclaimtemplate", "resourceClaimTemplateName"
	}
	var out []explain.Fix
	for _, name := range names[:min(len(names), maxNames)] {
		changed := pod.DeepCopy()
		entry := &changed.Spec.ResourceClaims[m.Entry]
		if m.Template {
			entry.ResourceClaimTemplateName = &name
		} else {
			entry.ResourceClaimName = &name
		}
		e, err := ask(changed)
		if err != nil {
			return nil, err
		}
		if e.Verdict != explain.Allocatable && e.Verdict != explain.Allocated || e.Nodes.Allocatable == 0 || e.Allocation == nil {
			continue
		}
		patch := []explain.PatchOperation{{Op: "replace", Path: fmt.Sprintf("/spec/resourceClaims/%d/%s", m.Entry, field), Value: name}}
		out = append(out, explain.Fix{
			Kind: explain.UseClaim, Node: e.Allocation.Node, Nodes: e.Nodes.Allocatable, Patch: patch,
			Changes: []explain.ObjectChange{{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Patch: patch}},
			Message: words.OneLine(fmt.Sprintf("name the %s %s instead of %s", kind, name, m.Name)),
		})
	}
	return out, nil
}
