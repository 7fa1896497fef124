package whatif

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Claims of a pod that are made from the same template, or that are the same claim, which a pod may name more
// than once. The spec of a claim cannot be changed, only that of the template, and then all of them are made
// anew; so they have their requirements in common, and those of the first stand for all.

// TemplateOf names the template from which the claim is made, or "".
func (q *Question) TemplateOf(claim int) string {
	if claim >= len(q.Templates) {
		return ""
	}
	return q.Templates[claim]
}

// sameTemplate lists the claims from the same template, the claim among them, ascending. A claim without one
// is listed as often as the pod names it.
func (q *Question) sameTemplate(claim int) []int {
	template, ref := q.TemplateOf(claim), inspect.RefOf(q.Claims[claim])
	var out []int
	for i, c := range q.Claims {
		if i == claim || q.TemplateOf(i) == template && (template != "" || inspect.RefOf(c) == ref) {
			out = append(out, i)
		}
	}
	return out
}

// FirstOfTemplate reports whether the claim is the first of those from its template.
func (q *Question) FirstOfTemplate(claim int) bool { return q.sameTemplate(claim)[0] == claim }

// forSameTemplate makes the edits of the first of the claims from a template to the others too.
func (q *Question) forSameTemplate(edits []Edit) []Edit {
	out := slices.Clip(edits)
	for _, e := range edits {
		c, ok := e.(ClaimEdit)
		if !ok {
			continue
		}
		for _, other := range q.sameTemplate(c.Target().Claim) {
			if other != c.Target().Claim {
				out = append(out, c.Of(other))
			}
		}
	}
	return out
}

// EachOf says, for the first of several claims from a template, that its requirements are those of all.
func (q *Question) EachOf(claim int) string {
	same := q.sameTemplate(claim)
	if len(same) == 1 || q.TemplateOf(claim) == "" {
		return ""
	}
	names := words.Each(same, func(i int) string { return q.Claims[i].Name })
	return " (for each of " + strings.Join(names, ", ") + ")"
}

// Generated reports whether a claim of the question is the one that the scheduler makes for the extended
// resources of the pod. Nobody can write into it; the number of devices follows from the containers.
func (q *Question) Generated(claim int) bool {
	c := q.Claims[claim]
	return q.Subject.Kind == "Pod" && c.UID == "" && c.Name == q.Subject.Name+ExtendedSuffix
}

// ExtendedSuffix ends the name that stands for the claim for extended resources, which has none yet.
const ExtendedSuffix = "-extended-resources"
