package licences

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestDependenciesAreTold: docs/dependencies.md says of each module that go.mod requires directly what it is
// for, and of no other. What is said to be for tests is not compiled into the program.
func TestDependenciesAreTold(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range mod.Require {
		if !r.Indirect {
			want = append(want, r.Mod.Path)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, tests, found := strings.Cut(string(page), "## For tests and tools only")
	if !found {
		t.Fatal("the page does not say what is for tests only")
	}
	tests, _, found = strings.Cut(tests, "## Looked at, and not taken")
	if !found {
		t.Fatal("the page does not say what was not taken")
	}
	forTests := told(tests)
	all := append(told(program), forTests...)
	slices.Sort(all)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	licences, err := os.ReadFile(filepath.Join(root, fileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range want {
		compiled := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(path) + ` v`).Match(licences)
		if compiled == slices.Contains(forTests, path) {
			t.Errorf("%s: compiled into the program: %v; told as for tests: %v", path, compiled, !compiled)
		}
	}
}

// told are the modules in the first columns of tables.
func told(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			out = append(out, m[1])
		}
	}
	return out
}
