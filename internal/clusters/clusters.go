package clusters

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
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
	return inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Health: demo.Health(), Features: inspect.DefaultFeatures(inspect.NewestMinor)})
}

// Each calls check with the demo cluster and that of every scenario, sorted by their names, each in a test of
// its own.
func Each(t *testing.T, check func(t *testing.T, s *inspect.Snapshot)) {
	t.Helper()
	t.Run("demo", func(t *testing.T) { check(t, Demo(t)) })
	paths, err := filepath.Glob(filepath.Join(root(t), "testdata", "scenarios", "*.txtar"))
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

// All calls check with the clusters of Each, with those of every other scenario that has objects, and with
// each of them when a driver is down, which publishes nothing any more though claims still hold its devices,
// and when one of its pools is: but for the full run only the demo cluster and every sixth of the others.
func All(t *testing.T, check func(t *testing.T, s *inspect.Snapshot)) {
	t.Helper()
	n := 0
	each := func(t *testing.T, s *inspect.Snapshot) {
		t.Helper()
		n++
		sampled := n%effort.InFull(1, 6) == 0
		if sampled || n == 1 {
			check(t, s)
		}
		if !sampled {
			return
		}
		seen := map[string]bool{}
		for _, slice := range s.Objects().Slices {
			driver, pool := slice.Spec.Driver, inspect.PoolOf(slice)
			if !seen[driver] {
				t.Run("without "+driver, func(t *testing.T) {
					check(t, without(s, func(other *resourcev1.ResourceSlice) bool { return other.Spec.Driver == driver }))
				})
				t.Run("without "+pool.String(), func(t *testing.T) {
					check(t, without(s, func(other *resourcev1.ResourceSlice) bool { return inspect.PoolOf(other) == pool }))
				})
			}
			seen[driver] = true
		}
	}
	Each(t, each)
	for _, folder := range []string{"pods", "running", "several"} {
		paths, err := filepath.Glob(filepath.Join(root(t), "testdata", folder, "*.txtar"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d scenarios: %v", folder, len(paths), err)
		}
		for _, path := range paths {
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { each(t, objectsOf(t, path)) })
		}
	}
}

// objectsOf is the cluster of a scenario of any kind.
func objectsOf(tb testing.TB, path string) *inspect.Snapshot {
	tb.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var objects inspect.Objects
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	for _, f := range archive.Files {
		switch f.Name {
		case "cluster.yaml":
			result, err := manifest.ReadBytes(path, f.Data, manifest.Options{})
			if err != nil {
				tb.Fatal(err)
			}
			objects = result.Objects
		case "features":
			gates, err := inspect.ParseFeatures(strings.Join(strings.Fields(string(f.Data)), ","))
			if err != nil {
				tb.Fatal(err)
			}
			features = features.With(gates)
		}
	}
	return inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Features: features})
}

// without is a cluster whose slices are read and some of which are gone.
func without(s *inspect.Snapshot, gone func(*resourcev1.ResourceSlice) bool) *inspect.Snapshot {
	objects := *s.Objects()
	objects.Slices = slices.DeleteFunc(slices.Clone(objects.Slices), gone)
	return inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Health: demo.Health(), Features: s.Features()})
}

// root is the folder of the module, above that of the test.
func root(tb testing.TB) string {
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
