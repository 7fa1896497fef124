package explaintest

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// DemoCluster is the demo cluster with the features of the newest release.
func DemoCluster(t testing.TB) *scheduler.Cluster {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return scheduler.NewCluster(inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor))), scheduler.Options{Library: Expressions})
}

// Expressions are those that tests have compiled: hundreds of clusters have the same few.
var Expressions = selector.NewLibrary()

// NewCluster is a cluster of the objects with the features of the newest release, and with Expressions.
func NewCluster(o inspect.Objects) *scheduler.Cluster {
	return newCluster(o, scheduler.Options{Library: Expressions})
}

// FreshCluster is NewCluster with no expression compiled, for benchmarks.
func FreshCluster(o inspect.Objects) *scheduler.Cluster { return newCluster(o, scheduler.Options{}) }

func newCluster(o inspect.Objects, opts scheduler.Options) *scheduler.Cluster {
	return scheduler.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), opts)
}
