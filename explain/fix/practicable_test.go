package fix_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// TestPracticable asks about a pod for which changes were once proposed that ended pods for nothing, did more
// than was needed, were the same twice, or could not be carried out, and wants these fixes and no others:
// kind, node, number of nodes, pods that end.
func TestPracticable(t *testing.T) {
	tests := []struct {
		file string
		want []string
	}{
		// Without run-5, n1 takes the pod; n2 still has the port taken by run-3, which is in nobody's way on
		// n1.
		{"bystander", []string{"MovePod n1 1 [default/run-5]"}},
		// run-5 on n1 keeps the pod away from the whole rack, and n1 is too small.
		{"rack", []string{"MovePod n0 1 [default/run-5]"}},
		// The volume serves one pod in the whole cluster, and n1 is too small.
		{"one-pod-volume", []string{"MovePod n0 1 [default/run-1]"}},
		// On n2 only the second term is in the way; n1 comes first, where both are.
		{"two-terms", []string{"DropConstraint n2 1 []"}},
		// n0 also lacks the label of the pod affinity. n1 has it.
		{"part-of-another", []string{"RelaxSelector n1 1 []"}},
		// One of the nodes has a device plugin, the other a driver.
		{"both-kinds-of-nodes", []string{"RelaxSelector n1 2 []"}},
		// When holder ends, the garbage collector deletes the claim, which the pod needs.
		{"owned-claim", []string{"ReduceRequest n1 1 []"}},
		// An init container asks for nothing, so what the container asks for is all that the pod needs.
		{"init-container", []string{"ReduceCount n0 1 []", "AddDevices n0 1 []"}},
		// The node takes 2 pods and has 3. They use a claim that nobody has reserved: to end one of them ends
		// no other.
		{"full-node", []string{"MovePod n0 1 [default/run-1 default/run-2]", "AddNode  1 []"}},
		// The pod is made anew, and with it its claim, which has a device of n0 now.
		{"own-devices", []string{"RelaxSelector n0 2 []"}},
		// The same, but nothing makes the claim again.
		{"own-devices-template-gone", nil},
		// Another constraint says already that the pod would rather be spread over racks.
		{"second-wish", nil},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			file := filepath.Join("testdata", "practicable", tt.file+".yaml")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read, err := manifest.ReadBytes(file, data, manifest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			e, err := question.Pod(context.Background(), explaintest.NewCluster(read.Objects), inspect.PodRef{Namespace: "default", Name: "asked"}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range e.Fixes {
				f := &e.Fixes[i]
				got = append(got, fmt.Sprintf("%s %s %d %v", f.Kind, f.Node, f.Nodes, f.Pods))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fixes (-want +got):\n%s", diff)
			}
		})
	}
}
