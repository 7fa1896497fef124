package scores_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// TestSilentNodeAfterOthers: a node that does not say how much it has is a doubt, also where a scorer before
// knew of none.
func TestSilentNodeAfterOthers(t *testing.T) {
	node := func(name string, says bool) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if says {
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("8Gi")}
		}
		return n
	}
	doubts := func(c scores.Choice) int {
		n := 0
		for _, d := range c.Doubts {
			if d.Key == "allocatable" {
				n++
			}
		}
		return n
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}}
	fitting := []scores.Candidate{{Node: "n1"}, {Node: "n2"}}
	s := inspect.New(inspect.Objects{Nodes: []*corev1.Node{node("n1", true), node("n2", true)}}, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	x := filters.NewIndex(s, nil)
	before := scores.Prepare(x, pod, scores.Options{}, nil)
	if n := doubts(before.Choose(fitting)); n != 0 {
		t.Errorf("%d doubts of nodes that say what they have", n)
	}
	silent := filters.NewIndex(s.With(func(o *inspect.Objects) { o.Nodes[1] = node("n2", false) }), x)
	then := scores.Prepare(silent, pod, scores.Options{}, before)
	if doubts(then.Choose(fitting)) == 0 {
		t.Error("no doubt of a node that does not say what it has")
	}
	if n := doubts(scores.Prepare(x, pod, scores.Options{}, then).Choose(fitting)); n != 0 {
		t.Errorf("%d doubts once the node says it again", n)
	}
}
