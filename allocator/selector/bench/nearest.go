package bench

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// nearest returns the candidate that a misspelt word probably stands for, or "". Case does not count,
// and neither do the separators - and _.
func nearest(word string, candidates []string) string {
	plain := func(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)) }
	limit := spell.Limit(word)
	best := ""
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d, ok := spell.Within(plain(word), plain(c), limit); ok && c != word && (best == "" || d < limit) {
			best, limit = c, d
		}
	}
	if best != "" {
		return best
	}
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if len(word) >= 4 && (strings.HasPrefix(plain(c), plain(word)) || strings.HasSuffix(plain(c), plain(word))) {
			return c
		}
	}
	return ""
}
