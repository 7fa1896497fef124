package scheduler

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestFiltersAreBuiltOnce: all questions about a cluster share one index, also those with another limit, and
// a cluster like it begins with that index, but says what is true of its own snapshot.
func TestFiltersAreBuiltOnce(t *testing.T) {
	of := func(names ...string) *inspect.Snapshot {
		var o inspect.Objects
		for _, name := range names {
			o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	}
	c := NewCluster(of("a"), Options{})
	index := c.Filters()
	if c.Filters() != index || c.WithStepLimit(7).Filters() != index {
		t.Error("the index was built again")
	}
	next := c.filters.next()
	if next.before != c.Filters() {
		t.Error("a cluster like it does not begin with its index")
	}
	if again := next.next(); again.before != c.Filters() {
		t.Error("an index that was never asked for is lost to the clusters after it")
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	like := NewCluster(of("a", "b"), Options{Like: c})
	if n := len(like.Filters().Prepare(pod).Snapshot().Nodes()); n != 2 {
		t.Errorf("it knows %d nodes", n)
	}
}
