package spelling

import (
	"cmp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

const (
	// Most is how different the name of a class may be for it to be meant by another.
	Most = 0.7
	// Margin is how much more different it may be than the class that is least different.
	Margin = 0.2
	// sameLabelDifference is how different names are at most whose first labels are equal, as gpu and
	// gpu.example.com.
	sameLabelDifference = 0.3
)

// Difference says how different two names are, from 0 for equal ones to 1. If they differ in the first
// label only, the rest does not count.
func Difference(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	firstA, restA, _ := strings.Cut(a, ".")
	firstB, restB, _ := strings.Cut(b, ".")
	if restA == restB {
		a, b = firstA, firstB
	}
	different := float64(spell.Distance(a, b)) / float64(max(len(a), len(b), 1))
	if firstA == firstB {
		return min(different, sameLabelDifference)
	}
	return different
}

// ClassesLike returns the names of all device classes, those first that are most similar to a name.
func ClassesLike(s *inspect.Snapshot, name string) []string {
	names := words.Each(s.Objects().Classes, func(c *resourcev1.DeviceClass) string { return c.Name })
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(Difference(a, name), Difference(b, name)), cmp.Compare(a, b))
	})
	return names
}
