package explaintest

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// DemoCluster is the demo cluster with the features of the newest release.
func DemoCluster(t testing.TB) *allocator.Cluster {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return allocator.NewCluster(inspect.New(objects, inspect.Config{
		Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health(),
	}), allocator.Options{})
}

// NewCluster is a cluster of the objects with the features of the newest release.
func NewCluster(o inspect.Objects) *allocator.Cluster {
	return allocator.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), allocator.Options{})
}
