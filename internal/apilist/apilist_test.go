package apilist

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

var update = flag.Bool("update", false, "write next.txt anew")

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
}

// TestListIsCurrent: whoever changes what the library exports changes internal/apilist/next.txt too, where a
// reviewer sees it.
func TestListIsCurrent(t *testing.T) {
	now, err := exported("../..")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("next.txt", []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // a document is for all to read
			t.Fatal(err)
		}
	}
	file := linesOf(t, "next.txt")
	for _, line := range missing(file, now) {
		t.Errorf("no longer there: %s", line)
	}
	for _, line := range missing(now, file) {
		t.Errorf("not in internal/apilist/next.txt: %s", line)
	}
	if t.Failed() {
		t.Log("make generate writes internal/apilist/next.txt anew; CONTRIBUTING.md says what may change")
	}
}

// TestNothingReleasedIsGone compares with the newest release: what it has may only be gone if
// internal/apilist/except.txt says so.
func TestNothingReleasedIsGone(t *testing.T) {
	released := newest(t, ".")
	if released == "" {
		t.Log("there is no release yet")
		return
	}
	for _, line := range gone(linesOf(t, released), linesOf(t, "next.txt"), linesOf(t, "../../internal/apilist/except.txt")) {
		t.Errorf("%s has this, and it is gone: %s", filepath.Base(released), line)
	}
}

// newest is the list of the newest release, such as v0.2.0.txt.
func newest(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "v*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		return ""
	}
	return slices.MaxFunc(paths, func(a, b string) int {
		return semver.Compare(strings.TrimSuffix(filepath.Base(a), ".txt"), strings.TrimSuffix(filepath.Base(b), ".txt"))
	})
}

// gone are the lines of a release that are neither there now nor excepted.
func gone(released, now, except []string) []string {
	return missing(released, slices.Concat(now, except))
}

// missing are the lines of a list that are not in another one.
func missing(of, in []string) []string {
	there := map[string]bool{}
	for _, line := range in {
		there[line] = true
	}
	return slices.DeleteFunc(slices.Clone(of), func(line string) bool { return there[line] })
}

func TestGone(t *testing.T) {
	released := []string{"pkg a, func F()", "pkg a, func G()", "pkg a, func H(int)"}
	now := []string{"pkg a, func F()", "pkg a, func H(int64)", "pkg a, func New()"}
	if got := gone(released, now, []string{"pkg a, func G()"}); !slices.Equal(got, []string{"pkg a, func H(int)"}) {
		t.Errorf("%q", got)
	}
	dir := t.TempDir()
	for _, name := range []string{"v0.9.0.txt", "v0.10.0.txt", "next.txt", "except.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := filepath.Base(newest(t, dir)); got != "v0.10.0.txt" {
		t.Error(got)
	}
}

// TestList looks at a package for what is listed of each kind of thing.
func TestList(t *testing.T) {
	lines, err := exported("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"pkg inspect, func New(Objects, Config) *Snapshot",
		"pkg inspect, type NodeName string",
		"pkg inspect, method (*Snapshot) Time() time.Time",
		`pkg explain, const Allocated Verdict = "Allocated"`,
		"pkg explain, type Explanation struct, Verdict Verdict",
		"pkg explain, type Edit interface { Key() string }",
		"pkg explain/question, func Claim(context.Context, *scheduler.Cluster, inspect.ClaimRef, Options) (*explain.Explanation, error)",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if len(lines) < 500 {
		t.Errorf("only %d lines", len(lines))
	}
}
