package fix

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

const (
	// alike is how different names may be for one to be meant for the other.
	alike = 0.7
	// lessAlike is how much more different than the one that is most alike.
	lessAlike = 0.2
)

// sameLabel is how different names are that have only the first label in common, as gpu and gpu.example.com.
const sameLabel = 0.3

// likeName says how different two names are, from 0 to 1: by their first labels when the rest is the same.
func likeName(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	firstA, restA, _ := strings.Cut(a, ".")
	firstB, restB, _ := strings.Cut(b, ".")
	if restA == restB {
		a, b = firstA, firstB
	}
	different := float64(spell.Distance(a, b)) / float64(max(len(a), len(b), 1))
	if firstA == firstB {
		return min(different, sameLabel)
	}
	return different
}
