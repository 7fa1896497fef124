package checkup_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

const driversPath = "../../testdata/drivers"

// driver reads the objects of a real driver.
func driver(t *testing.T, name string) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.Read(context.Background(), []string{filepath.Join(driversPath, name)}, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	used := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(result.Objects) {
		used[gate] = true
	}
	return inspect.New(result.Objects, inspect.Config{
		Revision: 1, Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor).With(used), Health: result.Health,
	})
}

func drivers(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(driversPath)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestDriversGolden compares what is found in the objects of real drivers, as they document them, with what
// was found and looked into before.
func TestDriversGolden(t *testing.T) {
	var b strings.Builder
	quiet := 0
	for _, name := range drivers(t) {
		report, err := checkup.Run(context.Background(), driver(t, name), checkup.Options{Severity: checkup.Note})
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("## " + name + "\n" + found(report))
		if !slices.ContainsFunc(report.Findings, func(f *checkup.Finding) bool { return f.Code != "Stuck" && f.Severity != checkup.Note }) {
			quiet++ // what examples ask for is often not there
		}
	}
	path := "testdata/drivers.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("found\n%s", b.String())
	}
	if quiet < 5 {
		t.Errorf("of only %d drivers nothing is said", quiet)
	}
}
