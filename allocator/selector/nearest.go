package selector

import (
	"slices"
	"strings"
)

// nearest returns the candidate that a misspelt word probably stands for, or "". Case does not count,
// and neither do the separators - and _.
func nearest(word string, candidates []string) string {
	plain := func(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)) }
	limit := max(1, min(3, len(word)/3))
	best := ""
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance([]rune(plain(word)), []rune(plain(c)), limit); d <= limit && c != word && (best == "" || d < limit) {
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

// distance is the number of characters to insert, delete, replace or swap with their neighbour to turn
// a into b, or more than limit when it is more than that.
func distance(a, b []rune, limit int) int {
	if len(a) > len(b)+limit || len(b) > len(a)+limit {
		return limit + 1
	}
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}
