package get

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// all calls check with the clusters of clusters.Each, with those of every other scenario that has objects,
// and with each of them when a driver is down, which publishes nothing any more though claims still hold its
// devices, and when one of its pools is: but for the full run only the demo cluster and every sixth of the
// others.
func all(t *testing.T, check func(t *testing.T, s *inspect.Snapshot)) {
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
	clusters.Each(t, each)
	for _, folder := range []string{"pods", "running", "several"} {
		paths, err := filepath.Glob(filepath.Join(clusters.Root(t), "testdata", folder, "*.txtar"))
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
