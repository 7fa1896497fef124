package e2e

import (
	"regexp"
	"testing"
)

var (
	ages = regexp.MustCompile(`\b([0-9]+(ms|[hms]))+\b`)
	gaps = regexp.MustCompile(` {2,}`)
)

// ageless replaces durations, and the space that they took, by what is the same in every run.
func ageless(text string) string {
	return gaps.ReplaceAllString(ages.ReplaceAllString(text, "AGE"), "  ")
}

func TestAgeless(t *testing.T) {
	for text, want := range map[string]string{
		"n1  2  2m6s": "n1  2  AGE", "a  59s   b": "a  AGE  b", "3m": "AGE", "in 12ms": "in AGE", "1h2m": "AGE", "n1 m2 5G": "n1 m2 5G",
	} {
		if got := ageless(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
