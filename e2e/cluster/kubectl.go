package cluster

import (
	"path/filepath"
	"testing"
)

// BuildKubectl compiles the kubectl of the default version, unless that has been done, and returns where it
// is, for tests that need no cluster.
func BuildKubectl(t testing.TB) string {
	t.Helper()
	home, err := root()
	if err != nil {
		t.Fatal(err)
	}
	const kubectl = "k8s.io/kubernetes/cmd/kubectl"
	dir, err := build(home, Default, kubectl)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(kubectl))
}
