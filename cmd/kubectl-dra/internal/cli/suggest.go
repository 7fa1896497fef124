package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// didYouMean returns `; did you mean "a" or "b"?`, with at most three names, or "" when nothing is near.
func didYouMean(word string, candidates []string) string {
	names := spell.Nearest(word, candidates)
	if len(names) == 0 {
		names = beginningWith(word, candidates)
	}
	if len(names) == 0 {
		return ""
	}
	names = names[:min(3, len(names))]
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// beginningWith returns the candidates that begin with a word of three letters or more, as the names that a controller
// makes of one do; the shortest first.
func beginningWith(word string, candidates []string) []string {
	if len(word) < 3 {
		return nil
	}
	found := map[string]bool{}
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(word)) {
			found[c] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
}
