package remedy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// each is a change of an object of the subject, made to the objects of all: claims are told by their place in
// the pods.
func (b *builder) each(c explain.ObjectChange) []explain.ObjectChange {
	out := []explain.ObjectChange{c}
	place := slices.Index(b.namesOf(b.subject, c.Kind), c.Name)
	for _, subject := range b.alike {
		if names := b.namesOf(subject, c.Kind); place >= 0 && place < len(names) {
			own := c
			own.Name = names[place]
			out = append(out, own)
		}
	}
	return out
}

// namesOf are the names of a subject's objects of a kind: its own, or those of the claims of a pod.
func (b *builder) namesOf(subject explain.Subject, kind string) []string {
	pod, ok := b.s.Pod(inspect.PodRef{Namespace: subject.Namespace, Name: subject.Name})
	if subject.Kind == kind || subject.Kind != "Pod" || !ok {
		return []string{subject.Name}
	}
	names := make([]string, len(pod.Spec.ResourceClaims))
	for i := range names {
		names[i], _ = inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
	}
	return names
}

// eachHas reports whether a change is one of an object that each of several subjects has for itself, and that
// can be written as the server has it. In a pod with matchLabelKeys it has changed selectors.
func eachHas(s *inspect.Snapshot, c explain.ObjectChange) bool {
	pod, ok := s.Pod(inspect.PodRef{Namespace: c.Namespace, Name: c.Name})
	if c.Kind != "Pod" || !ok {
		return c.Kind == "ResourceClaim" && !c.Creates
	}
	spec, err := json.Marshal(pod.Spec)
	return err == nil && (ControllerOf(pod) != nil || !strings.Contains(string(spec), "atchLabelKeys"))
}

// changeEach writes a loop that changes one object after the other, without asking for the fix again: once
// some are placed, that of others may be another one.
func (b *builder) changeEach(c explain.ObjectChange, names []string) {
	b.replaced([]explain.ObjectChange{c})
	patch, err := json.Marshal(c.Patch)
	b.refused = b.refused || err != nil
	kind := strings.ToLower(c.Kind)
	variable := strings.TrimPrefix(kind, "resource")
	b.add("for " + variable + " in " + b.command(names...) + "; do " +
		b.command("kubectl", "get", kind) + ` "$` + variable + `" ` + b.command(append([]string{"-n", c.Namespace, "-o", "json"}, b.flags...)...) + " | " +
		b.command("kubectl", "patch", "--local", "-f", "-", "--type=json", "-p", string(patch), "-o", "json") + " | " +
		b.kubectl("replace", "--force", "-f", "-") + "; done")
}
