package fix_test

import (
	"context"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestUseNode asks about one node, and then for a pod that may use only some nodes, where another node would
// do.
func TestUseNode(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: "ml", Name: "train-1"}, question.Options{Node: "gpu-a-01"})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "UseNode gpu-b-03 1")
	pod := podWith("train-1")
	pod.Spec.NodeSelector = map[string]string{"topology.example.com/rack": "a"}
	e, err = question.PodObject(context.Background(), cluster, pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "RelaxSelector gpu-b-04 2 remove /spec/nodeSelector/topology.example.com~1rack")
}
