package clusters

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// fewest is how many scenarios there are at least: with fewer, they were not found.
const fewest = 100

// Demo is the demo cluster at its time.
func Demo(tb testing.TB) *inspect.Snapshot {
	tb.Helper()
	objects, err := demo.Objects()
	if err != nil {
		tb.Fatal(err)
	}
	return inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor)))
}

// Each calls check with the demo cluster and that of every scenario, sorted by their names, each in a test of
// its own.
func Each(t *testing.T, check func(t *testing.T, s *inspect.Snapshot)) {
	t.Helper()
	t.Run("demo", func(t *testing.T) { check(t, Demo(t)) })
	paths, err := filepath.Glob(filepath.Join(Root(t), "testdata", "scenarios", "*.txtar"))
	if err != nil || len(paths) < fewest {
		t.Fatalf("%d scenarios: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			s, err := scenario.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			check(t, s.Snapshot)
		})
	}
}

// Root is the folder of the module, above that of the test.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no folder above has a go.mod")
		}
		dir = parent
	}
}
