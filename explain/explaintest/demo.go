package explaintest

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/demo"
)

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
