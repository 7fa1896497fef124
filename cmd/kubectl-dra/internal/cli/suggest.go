package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// didYouMean returns `; did you mean "a" or "b"?`, with at most three names, or "" when nothing is near.
func didYouMean(word string, candidates []string) string {
	names := spell.Nearest(word, candidates)
	if len(names) == 0 {
		return ""
	}
	names = names[:min(3, len(names))]
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}
