package explaintest

import (
	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Newest builds a cluster with the features of the newest release.
func Newest(o inspect.Objects) *allocator.Cluster {
	return allocator.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), allocator.Options{})
}
