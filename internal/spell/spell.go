// Package spell finds the word that a misspelt one probably stands for.
package spell

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Distance is the number of characters to insert, delete, replace or swap with their neighbour to turn a into
// b (optimal string alignment).
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		above[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			change := 1
			if x[i] == y[j] {
				change = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}

// Within returns the Distance if it is not more than a limit. Words of very different lengths are not
// compared.
func Within(a, b string, limit int) (distance int, ok bool) {
	if d := utf8.RuneCountInString(a) - utf8.RuneCountInString(b); d > limit || -d > limit {
		return 0, false
	}
	distance = Distance(a, b)
	return distance, distance <= limit
}

// Limit is how many changes a misspelt word may need: a third of its length, but at least one and at most
// three.
func Limit(word string) int { return max(1, min(3, len(word)/3)) }

// Nearest returns those of the candidates that are nearest to a misspelt word and within its Limit, sorted.
// Case does not count.
func Nearest(word string, candidates []string) []string {
	type match struct {
		name     string
		distance int
	}
	limit := Limit(word)
	var matches []match
	for _, c := range candidates {
		if d, ok := Within(strings.ToLower(word), strings.ToLower(c), limit); ok {
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
	return names
}

// Loosely reports whether a text contains a word, or, for words of three characters and more, whether it
// has the characters of the word in their order and near to each other.
func Loosely(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	if len(word) < 3 {
		return false
	}
	for start := strings.IndexByte(text, word[0]); start >= 0; {
		at, end := 0, min(len(text), start+2*len(word)+2)
		for i := start; i < end && at < len(word); i++ {
			if text[i] == word[at] {
				at++
			}
		}
		if at == len(word) {
			return true
		}
		next := strings.IndexByte(text[start+1:], word[0])
		if next < 0 {
			return false
		}
		start += next + 1
	}
	return false
}
