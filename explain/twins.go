package explain

import (
	"slices"
	"strings"
)

// Twins are claims of a pod that are made from the same template. The spec of a claim cannot be changed, only that of
// the template, and then all of them are made anew; so they have their requirements in common, and those of the
// first stand for all.

// templateOf names the template from which the claim is made, or "".
func (q *question) templateOf(claim int) string {
	if claim >= len(q.templates) {
		return ""
	}
	return q.templates[claim]
}

// twins are the claims from the same template, the claim among them, ascending.
func (q *question) twins(claim int) []int {
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

// mergeTwins leaves only the requirements of the first of twins, and names the others there.
func (q *question) mergeTwins(atoms []atom) []atom {
	atoms = slices.DeleteFunc(atoms, func(a atom) bool {
		return a.edit.aboutClaim() && q.twins(a.edit.at.claim)[0] != a.edit.at.claim
	})
	for i := range atoms {
		if a := &atoms[i]; a.edit.aboutClaim() {
			a.Message += q.eachOf(a.edit.at.claim)
		}
	}
	return atoms
}

// withTwins makes the edits of the first of twins to the others too.
func (q *question) withTwins(edits []edit) []edit {
	out := slices.Clip(edits)
	for i := range edits {
		if !edits[i].aboutClaim() {
			continue
		}
		for _, twin := range q.twins(edits[i].at.claim) {
			if twin != edits[i].at.claim {
				e := edits[i]
				e.at.claim = twin
				out = append(out, e)
			}
		}
	}
	return out
}

// eachOf says, for one of twins, that its requirements are those of all.
func (q *question) eachOf(claim int) string {
	twins := q.twins(claim)
	if len(twins) == 1 {
		return ""
	}
	var names []string
	for _, i := range twins {
		names = append(names, q.claims[i].Name)
	}
	return " (for each of " + strings.Join(names, ", ") + ")"
}
