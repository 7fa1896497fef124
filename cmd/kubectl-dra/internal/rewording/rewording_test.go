package rewording

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	// wordingVariable is the environment variable that makes the test binary answer and end; testdata/reworded.go reads it.
	wordingVariable = "KUBECTL_DRA_REWORDING"
	// sampleVariable makes it answer only some questions.
	sampleVariable = "KUBECTL_DRA_REWORDING_SAMPLE"
)

// TestMain lets this binary, compiled with reworded packages, answer.
func TestMain(m *testing.M) {
	if os.Getenv(wordingVariable) == "" {
		os.Exit(m.Run())
	}
	all, err := ask(os.Getenv(sampleVariable) != "")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestRewording: however messages are worded, everything else stays as it is. marked puts marks around every literal,
// turned says it in other words in another order. A sentence may also leave out or add anything: same says the same
// everywhere, unique nothing twice.
func TestRewording(t *testing.T) {
	binary := build(t)
	original, err := ask(testing.Short())
	if err != nil {
		t.Fatal(err)
	}
	for _, wording := range []string{"marked", "turned", "same", "unique"} {
		t.Run(wording, func(t *testing.T) {
			reworded := run(t, binary, wording)
			if len(original) < 100 || len(reworded) != len(original) {
				t.Fatalf("%d answers, reworded %d", len(original), len(reworded))
			}
			compare(t, original, reworded)
		})
	}
}

// maxShown is the number of differences that are shown.
const maxShown = 8

func compare(t *testing.T, original, reworded answers) {
	t.Helper()
	differ, said, unchanged := 0, 0, map[string]int{}
	for _, asked := range slices.Sorted(maps.Keys(original)) {
		before, after := original[asked], reworded[asked]
		if !slices.Equal(before.Lines, after.Lines) {
			if differ++; differ <= maxShown {
				t.Errorf("%s:\n%s", asked, firstDifferences(before.Lines, after.Lines))
			}
			continue
		}
		for i, text := range before.Prose {
			said++
			if text == after.Prose[i] {
				unchanged[text]++
			}
		}
	}
	if differ > maxShown {
		t.Errorf("%d answers differ", differ)
	}
	t.Logf("%d texts, unchanged: %v", said, unchanged)
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
