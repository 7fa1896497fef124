package explain

import (
	"slices"
	"strings"
)

// Claims of a pod that are made from the same template. The spec of a claim cannot be changed, only that of the
// template, and then all of them are made anew; so they have their requirements in common, and those of the first
// stand for all.

// templateOf names the template from which the claim is made, or "".
func (q *question) templateOf(claim int) string {
	if claim >= len(q.templates) {
		return ""
	}
	return q.templates[claim]
}

// sameTemplate lists the claims from the same template, the claim among them, ascending.
func (q *question) sameTemplate(claim int) []int {
	template := q.templateOf(claim)
	if template == "" {
		return []int{claim}
	}
	var out []int
	for i, t := range q.templates {
		if t == template {
			out = append(out, i)
		}
	}
	return out
}

// firstOfTemplate reports whether the claim is the first of those from its template.
func (q *question) firstOfTemplate(claim int) bool { return q.sameTemplate(claim)[0] == claim }

// forSameTemplate makes the edits of the first of the claims from a template to the others too.
func (q *question) forSameTemplate(edits []edit) []edit {
	out := slices.Clip(edits)
	for _, e := range edits {
		c, ok := e.(claimEdit)
		if !ok {
			continue
		}
		for _, other := range q.sameTemplate(c.target().claim) {
			if other != c.target().claim {
				out = append(out, c.of(other))
			}
		}
	}
	return out
}

// eachOf says, for the first of several claims from a template, that its requirements are those of all.
func (q *question) eachOf(claim int) string {
	same := q.sameTemplate(claim)
	if len(same) == 1 {
		return ""
	}
	var names []string
	for _, i := range same {
		names = append(names, q.claims[i].Name)
	}
	return " (for each of " + strings.Join(names, ", ") + ")"
}

// generated reports whether a claim of the question is the one that the scheduler makes for the extended
// resources of the pod. Nobody can write into it; the number of devices follows from the containers.
func (q *question) generated(claim int) bool {
	c := q.claims[claim]
	return q.subject.Kind == "Pod" && c.UID == "" && c.Name == q.subject.Name+extendedSuffix
}

// extendedSuffix ends the name that stands for the claim for extended resources, which has none yet.
const extendedSuffix = "-extended-resources"
