package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// nearest returns the candidates that are nearest to a misspelt word, at most three, sorted.
func nearest(word string, candidates []string) []string {
	limit := max(1, min(3, len(word)/3))
	type match struct {
		name     string
		distance int
	}
	var matches []match
	for _, c := range candidates {
		if len(c) > len(word)+limit || len(c)+limit < len(word) {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d <= limit {
			matches = append(matches, match{c, d})
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, m := range matches {
		if m.distance == matches[0].distance && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	return names[:min(3, len(names))]
}

// didYouMean returns `; did you mean "a" or "b"?`, or "" when nothing is near.
func didYouMean(word string, candidates []string) string {
	names := nearest(word, candidates)
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to turn a
// into b (optimal string alignment).
func distance(a, b string) int {
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}
