package rewording

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// wordingVariable is the environment variable that makes the test binary answer and end; testdata/reworded.go
// reads it.
const wordingVariable = "KUBECTL_DRA_REWORDING"

// TestMain lets this binary, compiled with reworded packages, answer.
func TestMain(m *testing.M) {
	if os.Getenv(wordingVariable) == "" {
		os.Exit(m.Run())
	}
	all, err := ask()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestRewording: however messages are worded, everything else stays as it is. marked puts marks around every
// literal, turned says it in other words in another order. A sentence may also leave out or add anything:
// same says the same everywhere, unique nothing twice.
func TestRewording(t *testing.T) {
	if !effort.Full() {
		t.Skipf("compiles everything that explains once more; %s=all does", effort.Variable)
	}
	binary := build(t)
	original, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range slices.Sorted(maps.Keys(original)) {
		for _, difference := range original[asked].LookedAt {
			t.Errorf("%s depends on texts, as %s", asked, difference)
		}
	}
	for wording, mostLeft := range map[string]int{"marked": 0, "turned": 0, "same": 5, "unique": 5} {
		t.Run(wording, func(t *testing.T) {
			reworded := run(t, binary, wording)
			if len(original) < 1000 || len(reworded) != len(original) {
				t.Fatalf("%d answers, reworded %d", len(original), len(reworded))
			}
			sameOutlines(t, original, reworded)
			otherWords(t, original, reworded, mostLeft)
		})
	}
}

// maxShown is the number of differences that are shown.
const maxShown = 8

func sameOutlines(t *testing.T, original, reworded answers) {
	t.Helper()
	differ := 0
	for _, asked := range slices.Sorted(maps.Keys(original)) {
		before, after := original[asked].Lines, reworded[asked].Lines
		if slices.Equal(before, after) {
			continue
		}
		if differ++; differ <= maxShown {
			t.Errorf("%s:\n%s", asked, firstDifferences(before, after))
		}
	}
	if differ > maxShown {
		t.Errorf("%d answers differ", differ)
	}
}

// sayNothing are texts that no rewording of what explains changes: the words of a printer, and a value
// without words.
var sayNothing = []string{"held by the copies counted", "cs"}

// reading is the value of a field as CEL writes it, which has no words either.
var reading = regexp.MustCompile(`^("[^"]*"|semver\("[^"]*"\)|true|false|-?[0-9][0-9A-Za-z.]*)$`)

// otherWords checks that the messages were in fact said otherwise, but for a part of them in percent: same
// and unique miss what is assigned together with an error.
func otherWords(t *testing.T, original, reworded answers, mostLeft int) {
	t.Helper()
	said, left := 0, map[string]bool{}
	count := 0
	for asked, before := range original {
		after := reworded[asked]
		if len(before.Prose) != len(after.Prose) {
			continue
		}
		for i, text := range before.Prose {
			if said++; text == after.Prose[i] && !slices.Contains(sayNothing, text) && !reading.MatchString(text) {
				left[text] = true
				count++
			}
		}
	}
	if said < 1000 || count*100 > said*mostLeft {
		t.Errorf("%d of %d texts were not reworded: %q", count, said, slices.Sorted(maps.Keys(left)))
	}
}

// firstDifferences shows the first lines that differ.
func firstDifferences(original, reworded []string) string {
	var out []string
	for i := range max(len(original), len(reworded)) {
		var was, is string
		if i < len(original) {
			was = original[i]
		}
		if i < len(reworded) {
			is = reworded[i]
		}
		if was != is {
			out = append(out, fmt.Sprintf("original %s\nreworded %s", was, is))
		}
		if len(out) == 3 {
			break
		}
	}
	return strings.Join(out, "\n")
}
