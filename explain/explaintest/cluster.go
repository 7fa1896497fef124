package explaintest

import (
	"testing"

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
	return scheduler.NewCluster(inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor))), scheduler.Options{})
}

// NewCluster is a cluster of the objects with the features of the newest release.
func NewCluster(o inspect.Objects) *scheduler.Cluster {
	return scheduler.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
}
